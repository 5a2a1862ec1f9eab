"""A service with a simulated audience: what a newcomer sees come alive in a minute."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np

from clubcascade.core import Floats
from clubcascade.service.arguments import DEFAULT_MODEL
from clubcascade.service.recommender import Recommender

TASTES = (("jazz", "blues"), ("metal", "folk"), ("opera", "choir"), ("disco", "tango"))
"""What the groups of listeners like."""
SHARES = (0.4, 0.3, 0.2, 0.1)
"""How large the groups are: what the largest likes is popular."""
GENRES = tuple(genre for taste in TASTES for genre in taste)
FIRST_WORDS = "Amber Far Early Low Golden Hidden Last Midnight Quiet Silver Slow Velvet".split()
LAST_WORDS = (
    "Avenue Bridge Cloud Echo Garden Harbour Lantern Mirror Moon Night Rain River Road Shadow "
    "Summer Train Winter"
).split()
"""What titles are made of."""
N_ITEMS, N_FEATURES, K = 200, 12, 4
LIKED, OTHERS = 0.08, 0.008
"""Probability of a click on a song that is examined: of a genre that is liked, of another."""
FIRST, MOST = 160, 1_000
"""Listeners at the start, and in the end."""
ARRIVES = 100
"""Visits between two newcomers, on average."""
EXPERIMENT = "songs"
ARMS = {"popular": ("popular", 2.0), "learned": (DEFAULT_MODEL, 3.0)}
"""Two listeners in five get the popular list, for comparison."""
PLAYERS = 4
"""Streams of visits at the same time."""


class Audience:
    """Listeners in groups of taste; they examine a list from the top, and click or do not.

    A song's vector has a constant, its genre, and three moods. Listeners like two genres, and are
    drawn to moods each in their own way.

    Parameters
    ----------
    seed
        Seed of who comes and what they click; songs and tastes are always the same.
    """

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self.listeners = FIRST
        genres = np.arange(N_ITEMS) % len(GENRES)
        moods = np.clip(np.random.default_rng(7).normal(0.0, 0.2, (N_ITEMS, 3)), -0.29, 0.29)
        self.features: Floats = np.hstack(
            [np.full((N_ITEMS, 1), 0.5), 0.7 * np.eye(len(GENRES))[genres], moods]
        )
        self.names = [f"song {n + 1}" for n in range(N_ITEMS)]
        titles = [f"{first} {last}" for first in FIRST_WORDS for last in LAST_WORDS]
        order = np.random.default_rng(7).permutation(len(titles))
        self.about = [
            {"title": titles[n], "genre": GENRES[g]} for n, g in zip(order, genres, strict=False)
        ]
        self._row = {name: row for row, name in enumerate(self.names)}

    def visit(self) -> str:
        """Return who comes next; now and then it is somebody new."""
        if self.listeners < MOST and self._rng.random() < 1.0 / ARRIVES:
            self.listeners += 1
            return f"listener {self.listeners}"
        return f"listener {self._rng.integers(self.listeners) + 1}"

    def taste(self, listener: str) -> tuple[str, ...]:
        """Return the genres that a listener likes."""
        return TASTES[self._drawn(listener)[0]]

    def chances(self, listener: str) -> Floats:
        """Return the probability of a click on each song, if a listener examines it."""
        group, moods = self._drawn(listener)
        liked = np.isin(GENRES, TASTES[group])
        weights = np.hstack([2.0 * OTHERS, (LIKED - OTHERS) / 0.7 * liked, moods])
        chances: Floats = np.clip(self.features @ weights, 0.0, 1.0)
        return chances

    def click(self, listener: str, items: tuple[Any, ...]) -> int | None:
        """Let a listener examine a list; return the first click."""
        chances = self.chances(listener)[[self._row[name] for name in items]]
        (clicked,) = np.nonzero(self._rng.random(len(items)) < chances)
        return int(clicked[0]) if len(clicked) else None

    @staticmethod
    def _drawn(listener: str) -> tuple[int, Floats]:
        rng = np.random.default_rng([7, int(listener.split()[1])])
        return int(rng.choice(len(TASTES), p=SHARES)), rng.normal(0.0, 0.02, 3)


def stock(shop: Recommender, audience: Audience) -> None:
    """Register the songs, and begin the experiment: what is learned against the popular list."""
    shop.create_model("popular", "popular")
    about = audience.about
    for model, _ in ARMS.values():
        shop.register_items(audience.names, audience.features, metadata=about, model=model)
    shop.create_experiment(EXPERIMENT, ARMS)


async def play(
    url: str, key: str | None, audience: Audience, rate: float, done: Callable[[], bool]
) -> None:
    """Send visits and clicks over HTTP until it is enough; some clicks come late, some never."""
    from clubcascade.service.client import AsyncClient, ServiceError  # noqa: PLC0415 - an extra

    rng = np.random.default_rng()
    later: list[tuple[str, int | None]] = []
    async with AsyncClient(url, key, model=EXPERIMENT, retries=1) as client:
        while not done():
            try:
                listener = audience.visit()
                decision = await client.recommend(listener, K)
                answer = (decision.id, audience.click(listener, decision.items))
                luck = rng.random()
                if luck < 0.03:
                    pass  # the listener left; nobody knows
                elif luck < 0.2:
                    later.append(answer)
                else:
                    await client.feedback(*answer)
                if len(later) > 20:
                    rng.shuffle(later)
                    await client.feedback_many(later)
                    later.clear()
            except ServiceError:
                if done():
                    return
                await asyncio.sleep(0.2)
            await asyncio.sleep(rng.exponential(1.0 / rate))
