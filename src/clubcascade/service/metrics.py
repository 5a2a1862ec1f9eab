"""Counters and latencies, as Prometheus reads them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from types import SimpleNamespace

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

Gauge = tuple[str, str, dict[str, str], float]
"""Name, help, labels and value."""


class Metrics:
    """What happened since the start of this process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "clubcascade_requests",
            "Requests by endpoint and status.",
            ["endpoint", "status"],
            registry=self._registry,
        )
        self._feedback = Counter(
            "clubcascade_feedback",
            "Feedback by model and outcome.",
            ["model", "outcome"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "clubcascade_request_seconds",
            "Time of requests by endpoint.",
            ["endpoint"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self.outcomes: dict[tuple[str, str], int] = defaultdict(int)

    def took(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request."""
        child = self._children.get((endpoint, status))
        if child is None:
            counter = self._requests.labels(endpoint, status)
            child = counter, self._seconds.labels(endpoint)
            self._children[endpoint, status] = child
        child[0].inc()
        child[1].observe(seconds)

    def answered(self, model: str, outcome: str) -> None:
        """Count a piece of feedback."""
        self.outcomes[model, outcome] += 1
        self._feedback.labels(model, outcome).inc()

    def quantile(self, endpoint: str, share: float) -> float | None:
        """Return a bound that ``share`` of the requests kept, None if there were none.

        >>> metrics = Metrics()
        >>> for _ in range(99):
        ...     metrics.took("recommend", 200, 0.0007)
        >>> metrics.took("recommend", 200, 0.2)
        >>> metrics.quantile("recommend", 0.5), metrics.quantile("recommend", 0.999)
        (0.001, 0.25)
        """
        buckets = [
            (float(sample.labels["le"]), sample.value)
            for metric in self._seconds.collect()
            for sample in metric.samples
            if sample.name.endswith("_bucket") and sample.labels["endpoint"] == endpoint
        ]
        if not buckets:
            return None
        bound = next(bound for bound, count in buckets if count >= share * buckets[-1][1])
        return min(bound, 2 * BUCKETS[-1])

    def text(self, gauges: Iterable[Gauge], sees: Callable[[str], bool] = lambda _: True) -> str:
        """Return everything in Prometheus' text format.

        Parameters
        ----------
        gauges
            What is so now.
        sees
            Whether a model may be told of.
        """
        families: dict[str, Metric] = {}
        for name, about, labels, value in gauges:
            family = families.setdefault(name, GaugeMetricFamily(name, about, labels=list(labels)))
            family.add_sample(name, labels, float(value))
        told = [*self._registry.collect(), *families.values()]
        for metric in told:
            metric.samples = [
                sample
                for sample in metric.samples
                if ("model" not in sample.labels or sees(sample.labels["model"]))
                and not sample.name.endswith("_created")
            ]
        return generate_latest(SimpleNamespace(collect=lambda: told)).decode()
