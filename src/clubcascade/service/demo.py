"""A service with a simulated audience: what a newcomer sees come alive in a minute."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np

from clubcascade.environments import Synthetic
from clubcascade.service.recommender import Recommender

GENRES = ("jazz", "folk", "metal", "opera", "disco", "tango", "blues", "choir")
N_USERS, N_CLUSTERS, N_ITEMS, N_FEATURES, K = 24, 4, 200, 8, 4
PLAYERS = 4
"""Streams of visits at the same time."""


class Audience:
    """Users in a few groups with tastes of their own; they look, and click what attracts them.

    Parameters
    ----------
    luck
        Seed of who comes and what they click; the tastes are always the same.
    """

    def __init__(self, luck: int = 0) -> None:
        self.world = Synthetic(
            n_users=N_USERS,
            n_clusters=N_CLUSTERS,
            n_items=N_ITEMS,
            n_features=N_FEATURES,
            gap="orthogonal",
            seed=7,
        )
        self.world.reset(luck)
        user, catalog = self.world.next_user()
        self.features: Any = np.asarray(getattr(catalog, "features", catalog))
        self.names = [f"{GENRES[n % len(GENRES)]} {n // len(GENRES) + 1}" for n in range(N_ITEMS)]
        self._row = {name: row for row, name in enumerate(self.names)}
        self._next = user

    def visit(self) -> str:
        """Return who comes next."""
        return f"listener {self._next}"

    def click(self, items: tuple[Any, ...]) -> int | None:
        """Let the user look at a list; return the first click."""
        ranking = np.array([self._row[name] for name in items])
        feedback = self.world.respond(self._next, ranking)
        self._next, _ = self.world.next_user()
        return feedback.clicks[0] if feedback.clicks else None


def stock(shop: Recommender, audience: Audience) -> None:
    """Register the audience's items."""
    shop.register_items(audience.names, audience.features)


async def play(
    url: str, key: str | None, audience: Audience, rate: float, done: Callable[[], bool]
) -> None:
    """Send visits and clicks over HTTP until it is enough; some clicks come late, some never."""
    from clubcascade.service.client import AsyncClient, ServiceError  # noqa: PLC0415 - an extra

    rng = np.random.default_rng()
    later: list[tuple[str, int | None]] = []
    async with AsyncClient(url, key, retries=1) as client:
        while not done():
            try:
                decision = await client.recommend(audience.visit(), K)
                answer = (decision.id, audience.click(decision.items))
                luck = rng.random()
                if luck < 0.03:
                    pass  # the user left; nobody knows
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
