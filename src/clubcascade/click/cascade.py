"""The cascade model: the first attractive item is clicked, and the look ends there."""

from __future__ import annotations

from clubcascade.click.dcm import DCM


class Cascade(DCM):
    """Cascade model: the dependent click model in which every click ends the look.

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
    """

    def __init__(self) -> None:
        super().__init__(stop=1.0)

    def __repr__(self) -> str:
        return "Cascade()"
