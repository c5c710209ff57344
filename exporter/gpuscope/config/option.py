"""One setting of the agent: its names, its kind of value, and what it refuses."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gpuscope.config.duration import format_duration, parse_duration

__all__ = ["Option", "Type"]

_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?")
_SWITCH = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


class Type(StrEnum):
    """Kinds of values."""

    TEXT = "text"
    FILE = "file"
    LIST = "list"
    DURATION = "duration"
    NUMBER = "number"
    WHOLE = "whole number"
    SWITCH = "true or false"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Option:
    """One setting.

    Attributes:
        key: name with dots, as in the flag and, nested, in the file.
        type: kind of value.
        default: value when nobody sets it; a duration in seconds.
        help: what it does, in full sentences.
        choices: allowed words of a choice; of a file the words that are no path.
        low: smallest number or duration.
        high: largest number or duration.
        reload: whether a reload puts a new value in force.
    """

    key: str
    type: Type
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 30 * 86_400.0
    reload: bool = False

    @property
    def flag(self) -> str:
        """The command-line flag."""
        return f"--{self.key}"

    @property
    def variable(self) -> str:
        """The environment variable."""
        return "GPUSCOPE_" + self.key.upper().replace(".", "_").replace("-", "_")

    def parse(self, raw: Any) -> Any:
        """Turns a text (flag, environment) or a value of the file into the setting's value.

        Args:
            raw: a text, a truth value, ``None``, or a list of these.

        Raises:
            ValueError: the value does not fit; the message says why, and leaves the place to the caller.
        """
        if self.type is Type.LIST:
            return self._list(raw)
        if self.type is Type.SWITCH:
            return self._switch(raw)
        if not isinstance(raw, str):
            raise ValueError(f"must be one {self.type}, not {_kind(raw)}")  # noqa: TRY004 one kind for callers
        match self.type:
            case Type.DURATION:
                return self._bounded(parse_duration(raw), raw)
            case Type.WHOLE | Type.NUMBER:
                return self._number(raw)
            case Type.CHOICE:
                if raw not in self.choices:
                    raise ValueError(f"{raw!r} is not one of {', '.join(self.choices)}")
        if not raw.isprintable():
            raise ValueError(f"{raw!r} contains characters that cannot be printed")
        return raw

    def format(self, value: Any) -> str:
        """A value as one would write it behind the flag."""
        match self.type:
            case Type.DURATION:
                return format_duration(value)
            case Type.LIST:
                return ",".join(value)
            case Type.SWITCH:
                return "true" if value else "false"
            case Type.NUMBER:
                return f"{value:.9f}".rstrip("0").rstrip(".")
        return str(value)

    def _list(self, raw: Any) -> tuple[str, ...]:
        parts = raw.split(",") if isinstance(raw, str) else raw
        if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
            raise ValueError(f"must be a list of texts, not {_kind(raw)}")
        found = tuple(part.strip() for part in parts if part.strip())
        if not found and self.default:
            raise ValueError("the list is empty")
        return found

    @staticmethod
    def _switch(raw: Any) -> bool:
        if isinstance(raw, bool):
            return raw
        if not isinstance(raw, str) or raw.lower() not in _SWITCH:
            raise ValueError(f"{raw!r} is neither true nor false" if isinstance(raw, str) else "must be true or false")
        return _SWITCH[raw.lower()]

    def _number(self, raw: str) -> float | int:
        whole = self.type is Type.WHOLE
        if not (_WHOLE if whole else _NUMBER).fullmatch(raw):
            raise ValueError(f"{raw!r} is not a {self.type}")
        value = int(raw) if whole else float(raw)
        self._bounded(value, raw)
        return value

    def _bounded(self, value: float, raw: str) -> float:
        if not self.low <= value <= self.high:
            written = format_duration if self.type is Type.DURATION else "{:g}".format
            raise ValueError(f"{raw!r} is out of range: {written(self.low)} to {written(self.high)}")
        return value


def _kind(raw: Any) -> str:
    if raw is None:
        return "nothing"
    if isinstance(raw, bool):
        return "true or false"
    return "a list" if isinstance(raw, list | tuple) else "a mapping"
