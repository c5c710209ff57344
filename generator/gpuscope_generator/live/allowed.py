"""Panels that may be empty, each with its reason, by the profile of a cluster."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from gpuscope.errors import ConfigError
from gpuscope_generator.lines import nearest, read_yaml

__all__ = ["EVERY_PROFILE", "load_allowed"]

EVERY_PROFILE = "all"
"""What stands under this name holds for every profile."""


def load_allowed(file: Path, profile: str, known: Collection[str]) -> dict[str, str]:
    """Reads a file such as::

        all:
          cluster/firing_alerts: No alert fires in a healthy cluster.
        slurm:
          inference/*: Slurm runs no model servers here.

    Args:
        file: YAML: profile, then ``board/panel``, ``board/variable:NAME`` or ``board/*``, then the reason.
        profile: which one holds, besides ``all``.
        known: every ``board/panel`` and ``board/variable:NAME`` that exists.

    Returns:
        Reasons by ``board/panel``, with ``*`` spelled out.

    Raises:
        ConfigError: file, line and key of what is wrong.
    """
    root = read_yaml("--allow-empty", file)
    profiles = root.mapping("")
    found: dict[str, str] = {}
    if profile not in (EVERY_PROFILE, *profiles):
        names = ", ".join(profiles) or "none"
        raise ConfigError(f"--profile {profile}: not in {file}, which has {names}")
    for name, entry in profiles.items():
        for key, reason in entry.mapping(name).items():
            board, _, panel = key.partition("/")
            matches = [one for one in known if one == key or (panel == "*" and one.startswith(f"{board}/"))]
            if not matches:
                raise reason.error(f"{name}.{key}", f"no such panel{nearest(key, known)}")
            text = reason.text(f"{name}.{key}")
            if not text.strip():
                raise reason.error(f"{name}.{key}", "wants a reason")
            if name in (EVERY_PROFILE, profile):
                found |= dict.fromkeys(matches, text)
    return found
