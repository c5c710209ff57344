"""The door to Jsonnet: settings in the way of monitoring mixins, ``_config+:: {…}``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpuscope.errors import ConfigError

__all__ = ["evaluate", "evaluate_config"]

_PLACE = re.compile(r"(?P<file>[^\s:]+):\(?(?P<line>\d+)[:)]")
_WRAPPER = "settings-of-the-generator"
_CONFIG = """
local given = import %(file)s;
local whole = { _config:: %(defaults)s } + given;
assert std.isObject(given) : 'an object is wanted, not ' + std.type(given);
if std.objectHasAll(given, '_config') then whole._config else given
"""


def evaluate(name: str, text: str, folder: Path) -> str:
    """The JSON that a Jsonnet text gives.

    Args:
        name: of the text, for messages.
        text: to evaluate.
        folder: what relative imports begin at.

    Raises:
        ConfigError: Jsonnet is not installed, or does not like the text; file and line are named.
    """
    try:
        import _jsonnet
    except ImportError as error:
        raise ConfigError(f"{name}: Jsonnet is not installed: pip install 'gpuscope[generator]'") from error

    try:
        found: str = _jsonnet.evaluate_snippet(_WRAPPER, text, jpathdir=[str(folder)])
    except RuntimeError as error:
        raise ConfigError(_message(name, str(error))) from error
    return found


def evaluate_config(file: Path, defaults: Mapping[str, Any]) -> str:
    """The settings of a Jsonnet file as JSON: its ``_config``, or the whole object where it has none.

    Args:
        file: to evaluate; it may import what lies beside it.
        defaults: what ``super`` and ``$._config`` read in it.

    Raises:
        ConfigError: see ``evaluate``.
    """
    path = str(file.resolve())
    return evaluate(str(file), _CONFIG % {"file": json.dumps(path), "defaults": json.dumps(defaults)}, file.parent)


def _message(name: str, told: str) -> str:
    """One line of Jsonnet's several: the reason, at the first place in a file that people wrote."""
    head, *trace = told.splitlines()
    reason = re.sub(r"^(STATIC|RUNTIME) ERROR: ", "", head)
    place = _PLACE.match(reason)
    if place:
        reason = reason[place.end() :].lstrip("0123456789:-() ")
    places = [place, *(_PLACE.search(line) for line in trace)]
    written = next((one for one in places if one and one["file"] not in (_WRAPPER, "std.jsonnet")), None)
    if written is None:
        return f"{name}: not valid Jsonnet: {reason}"
    shown = name if Path(written["file"]) in (Path(name), Path(name).resolve()) else written["file"]
    return f"{shown}:{written['line']}: not valid Jsonnet: {reason}"
