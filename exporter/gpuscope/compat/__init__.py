"""For those who come from another exporter: its names beside ours, and pods as labels of device series."""

from gpuscope.compat.owner import NOBODY, Owner, Owners
from gpuscope.compat.renderer import Renderer

__all__ = ["NOBODY", "Owner", "Owners", "Renderer"]
