"""Counters and latencies, as Prometheus reads them."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """What happened since the start. One event loop writes; anyone may read."""

    def __init__(self) -> None:
        self.requests: dict[tuple[str, int], int] = defaultdict(int)
        self.outcomes: dict[tuple[str, str], int] = defaultdict(int)
        self.lists: dict[str, int] = defaultdict(int)
        self._counts: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._sums: dict[str, float] = defaultdict(float)

    def took(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests[endpoint, status] += 1
        self._counts[endpoint][bisect_left(BUCKETS, seconds)] += 1
        self._sums[endpoint] += seconds

    def quantile(self, endpoint: str, share: float) -> float | None:
        """Return a bound that ``share`` of the requests kept, None if there were none.

        >>> metrics = Metrics()
        >>> for _ in range(99):
        ...     metrics.took("recommend", 200, 0.0007)
        >>> metrics.took("recommend", 200, 0.2)
        >>> metrics.quantile("recommend", 0.5), metrics.quantile("recommend", 0.999)
        (0.001, 0.25)
        """
        counts = self._counts.get(endpoint)
        if not counts:
            return None
        left = share * sum(counts)
        for bound, count in zip((*BUCKETS, 2 * BUCKETS[-1]), counts, strict=True):
            left -= count
            if left <= 0:
                return bound
        return None

    def text(
        self,
        gauges: Iterable[tuple[str, str, dict[str, str], float]],
        sees: Callable[[str], bool] = lambda _: True,
    ) -> str:
        """Return everything in Prometheus' text format.

        Parameters
        ----------
        gauges
            (name, help, labels, value) each.
        sees
            Whether a model may be told of.
        """
        lines: list[str] = []
        _head(lines, "clubcascade_requests_total", "counter", "Requests by endpoint and status.")
        for (endpoint, status), count in sorted(self.requests.items()):
            labels = _labels({"endpoint": endpoint, "status": str(status)})
            lines.append(f"clubcascade_requests_total{labels} {count}")
        _head(lines, "clubcascade_feedback_total", "counter", "Feedback by model and outcome.")
        for (model, outcome), count in sorted(self.outcomes.items()):
            if not sees(model):
                continue
            labels = _labels({"model": model, "outcome": outcome})
            lines.append(f"clubcascade_feedback_total{labels} {count}")
        _head(lines, "clubcascade_request_seconds", "histogram", "Time of requests by endpoint.")
        for endpoint, counts in sorted(self._counts.items()):
            total = 0
            for bound, count in zip((*BUCKETS, "+Inf"), counts, strict=True):
                total += count
                labels = _labels({"endpoint": endpoint, "le": str(bound)})
                lines.append(f"clubcascade_request_seconds_bucket{labels} {total}")
            labels = _labels({"endpoint": endpoint})
            lines.append(f"clubcascade_request_seconds_sum{labels} {self._sums[endpoint]:.6f}")
            lines.append(f"clubcascade_request_seconds_count{labels} {total}")
        known: set[str] = set()
        for name, about, values, value in gauges:
            if name not in known:
                _head(lines, name, "gauge", about)
                known.add(name)
            lines.append(f"{name}{_labels(values)} {value:g}")
        return "\n".join(lines) + "\n"


def _head(lines: list[str], name: str, kind: str, about: str) -> None:
    lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]


def _labels(values: dict[str, str]) -> str:
    quoted = (
        key + '="' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        for key, value in values.items()
    )
    return "{" + ",".join(quoted) + "}" if values else ""
