"""The users' graph: its start, its components, and what happens when edges are cut."""

from clubcascade.graph.start import Complete, ErdosRenyi, Start
from clubcascade.graph.user_graph import UserGraph

__all__ = ["Complete", "ErdosRenyi", "Start", "UserGraph"]
