"""The graph over a policy's users, to look at."""

from __future__ import annotations

from collections.abc import Hashable

from clubcascade.graph import UserGraph


class ClubGraph:
    """The users' graph in the users' own ids."""

    def __init__(self, graph: UserGraph, users: list[Hashable]) -> None:
        self._graph = graph
        self._users = users

    def edges(self) -> list[tuple[Hashable, Hashable]]:
        """Return every edge once."""
        return [(self._users[i], self._users[other]) for i, other in self._graph.edges()]

    def links_of_newcomer(self) -> list[Hashable]:
        """Return the users that the next user to join will be linked with."""
        return [self._users[i] for i in self._graph.links_of_newcomer()]
