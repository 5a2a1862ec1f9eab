"""Let a policy serve an environment's users and write down how it does."""

from clubcascade.simulation.agreement import adjusted_rand_index
from clubcascade.simulation.rounds import simulate
from clubcascade.simulation.trace import Trace

__all__ = ["Trace", "adjusted_rand_index", "simulate"]
