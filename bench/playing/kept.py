"""What fired in stories, kept as data: tests of what is made of alerts take the real ones from there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from playing.timeline import Firing

__all__ = ["kept", "without_numbers"]

_MEASURED = ("description", "measured")
_NUMBER = re.compile(r"\d+(\.\d+)?")


def kept(found: Mapping[str, Sequence[Firing]]) -> str:
    """Labels and annotations of each alert when it began, by story, as JSON."""
    told = {
        story: {json.dumps(one.labels, sort_keys=True) + one.name: _alert(one) for one in reversed(firing)}
        for story, firing in found.items()
        if story and firing
    }
    document = {story: [alerts[key] for key in sorted(alerts)] for story, alerts in sorted(told.items())}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def without_numbers(text: str) -> dict[str, Any]:
    """What was kept, without the numbers that were measured: a thread that comes a moment later measures another."""
    document: dict[str, Any] = json.loads(text)
    for alerts in document.values():
        for one in alerts:
            for name in _MEASURED:
                if name in one["annotations"]:
                    one["annotations"][name] = _NUMBER.sub("0", one["annotations"][name])
    return document


def _alert(one: Firing) -> dict[str, Any]:
    return {"labels": {"alertname": one.name, **one.labels}, "annotations": dict(one.texts)}
