"""Click models: what a user does with a list, and what the list is worth."""

from clubcascade.click.base import ClickModel
from clubcascade.click.cascade import Cascade
from clubcascade.click.dcm import DCM

__all__ = ["DCM", "Cascade", "ClickModel"]
