"""The running recommender: durable feedback, named models; HTTP in ``app``."""

from clubcascade.service.decision import Decision, Outcome
from clubcascade.service.recommender import Recommender

__all__ = ["Decision", "Outcome", "Recommender"]
