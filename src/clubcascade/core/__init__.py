"""The types of the problem: feedback, catalogue, policy, environment. NumPy only."""

from clubcascade.core.arrays import Floats, Ints, Words
from clubcascade.core.catalog import Catalog, Items, Shown, Slate, check_slate, shown_rows
from clubcascade.core.environment import Environment
from clubcascade.core.feedback import Feedback, observed, observed_many
from clubcascade.core.policy import Policy
from clubcascade.core.state import array_of, fill, generator_of, read_state

__all__ = [
    "Catalog",
    "Environment",
    "Feedback",
    "Floats",
    "Ints",
    "Items",
    "Policy",
    "Shown",
    "Slate",
    "Words",
    "array_of",
    "check_slate",
    "fill",
    "generator_of",
    "observed",
    "observed_many",
    "read_state",
    "shown_rows",
]
