"""The settings in force as a file that ``--config`` would take, with the origin of each behind it."""

import json
from typing import Any

from gpuscope.config.load import Loaded
from gpuscope.config.option import Option, Type

__all__ = ["effective"]

_INDENT = "  "


def effective(loaded: Loaded) -> str:
    """YAML with one line for each setting; what is not a default says where it came from.

    Output::

        web:
          listen-address: ["127.0.0.1:9836"]  # --web.listen-address
          telemetry-path: "/metrics"
    """
    keys = {option.key for option in loaded.options}
    lines: list[str] = []
    open_sections: tuple[str, ...] = ()
    for option in loaded.options:
        # `simulate` is a setting and a section: its own value stands in the section as `scenario`.
        is_section = any(key.startswith(f"{option.key}.") for key in keys)
        *sections, name = [*option.key.split("."), "scenario"] if is_section else option.key.split(".")
        for depth, section in enumerate(sections):
            if open_sections[: depth + 1] != tuple(sections[: depth + 1]):
                lines.append(f"{_INDENT * depth}{section}:")
        open_sections = tuple(sections)
        origin = f"  # {loaded.origins[option.key]}" if option.key in loaded.origins else ""
        value = _yaml(option, loaded.settings[option.key])
        lines.append(f"{_INDENT * len(sections)}{name}: {value}{origin}")
    return "\n".join(lines) + "\n"


def _yaml(option: Option, value: Any) -> str:
    if option.type is Type.LIST:
        return json.dumps(list(value), ensure_ascii=False)
    if option.type in {Type.TEXT, Type.FILE, Type.CHOICE}:
        return json.dumps(value, ensure_ascii=False)
    return option.format(value)
