"""JSON as text: what is short stands on one line, so that files are small and a change shows as few lines."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_text"]

_LINE = 110
"""A list or object that takes no more characters stands on one line."""


def json_text(value: Any, indent: int = 0) -> str:
    """A value as JSON, indented by one blank a level.

    Args:
        value: what `json.dumps` takes.
        indent: level of the value.
    """
    short = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or len(short) <= _LINE:
        return short
    inside, outside = "\n" + " " * (indent + 1), "\n" + " " * indent
    if isinstance(value, list):
        return f"[{inside}{f',{inside}'.join(json_text(one, indent + 1) for one in value)}{outside}]"
    parts = (f"{json.dumps(key, ensure_ascii=False)}: {json_text(one, indent + 1)}" for key, one in value.items())
    return f"{{{inside}{f',{inside}'.join(parts)}{outside}}}"
