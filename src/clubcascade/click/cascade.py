"""The cascade model: the first attractive item is clicked, and the look ends there."""

from __future__ import annotations

from collections.abc import Sequence

from clubcascade.click.dcm import DCM


class Cascade(DCM):
    """Cascade model: the dependent click model in which every click ends the look.

    Parameters
    ----------
    discounts
        What a click is worth at each position, in [0, 1] and never rising; positions beyond the
        end have the last one's. By default all are 1.

    References
    ----------
    Craswell, Zoeter, Taylor and Ramsey, "An experimental comparison of click position-bias
    models", WSDM 2008.

    Examples
    --------
    >>> import numpy as np
    >>> Cascade().sample(np.array([0.0, 1.0, 1.0]), np.random.default_rng(1))
    Feedback(examined=2, clicks=(1,))
    >>> Cascade().value(np.array([0.5, 0.5]))
    0.75
    >>> Cascade(discounts=[1.0, 0.5]).value(np.array([0.5, 0.5]))
    0.625
    """

    def __init__(self, *, discounts: Sequence[float] | None = None) -> None:
        super().__init__(stop=1.0, discounts=discounts)

    def __repr__(self) -> str:
        return f"Cascade({self._discounts_shown().removeprefix(', ')})"
