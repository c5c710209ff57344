"""The XID catalogue: one CSV that ships, and a file of the user's that overrides single rows."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from gpuscope.errors import ConfigError

__all__ = ["ACTIONS", "CLASSES", "XidCatalogue", "XidEntry"]

COLUMNS = ("code", "meaning", "class", "action", "recovery", "critical", "source", "date", "note")
CLASSES = (
    "app", "config", "gpu_fw", "info", "mem_contained", "mem_corrected", "mem_remap", "mem_remap_failed",
    "mem_uncontained", "mem_uncorrectable", "nvlink", "off_bus", "power", "recovery", "security", "teardown",
    "unknown", "vm",
)  # fmt: skip
ACTIONS = (
    "check_mechanicals", "contact_support", "drain", "drain_and_reset", "follow_154", "ignore", "reboot_node",
    "reset_gpu", "restart_app", "restart_vm", "update_software",
)  # fmt: skip
_BOOLEANS = {"true": True, "false": False}
_MAX_CODE = 9999


@dataclass(frozen=True, slots=True)
class XidEntry:
    """One row: what a code means and what to do by default.

    ``recovery`` says that the driver reports a recovery action with it (XID 154); ``critical`` that its counter is
    published as 0 from the start.
    """

    code: int
    meaning: str
    fault_class: str
    action: str
    recovery: bool
    critical: bool
    source: str
    date: str
    note: str


class XidCatalogue:
    """XIDs by code; a code without a row is of class ``unknown`` and never leads to an automatic action."""

    def __init__(self, entries: Iterable[XidEntry]) -> None:
        self._entries = {entry.code: entry for entry in entries}

    @classmethod
    def load(cls, override: Path | None = None) -> "XidCatalogue":
        """Reads the shipped catalogue and, over it, the user's file.

        Args:
            override: CSV with the column ``code`` and any of the others; a row changes or adds its code.

        Raises:
            ConfigError: a bad file; names file, line and column.
        """
        shipped = files("gpuscope.faults").joinpath("xids.csv").read_text(encoding="utf-8")
        entries = _parse("xids.csv", shipped.splitlines(), {})
        if override is not None:
            try:
                text = override.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(f"{override}: cannot be read: {error}") from error
            entries |= _parse(str(override), text.splitlines(), entries)
        return cls(entries.values())

    def entry(self, code: int) -> XidEntry:
        """The row of a code."""
        return self._entries.get(code) or XidEntry(
            code, "not in the catalogue", "unknown", "contact_support", False, False, "", "", ""
        )

    def rows(self) -> tuple[XidEntry, ...]:
        """All rows by code."""
        return tuple(self._entries[code] for code in sorted(self._entries))

    @property
    def critical_codes(self) -> tuple[int, ...]:
        """Codes whose counters are 0 from the start."""
        return tuple(entry.code for entry in self.rows() if entry.critical)


def _parse(name: str, lines: list[str], known: Mapping[int, XidEntry]) -> dict[int, XidEntry]:
    reader = csv.reader(lines)
    header = next(reader, [])
    for column in header:
        if column not in COLUMNS:
            raise ConfigError(f"{name}:1: {column}: unknown column; known: {', '.join(COLUMNS)}")
    if "code" not in header or len(set(header)) != len(header):
        raise ConfigError(f"{name}:1: code: the header must have every column once, and code among them")
    found: dict[int, XidEntry] = {}
    for values in reader:
        if not values:
            continue
        place = f"{name}:{reader.line_num}"
        if len(values) != len(header):
            raise ConfigError(f"{place}: {len(values)} columns where the header has {len(header)}")
        row = dict(zip(header, (value.strip() for value in values), strict=True))
        entry = _entry(place, row, known)
        if entry.code in found:
            raise ConfigError(f"{place}: code: {entry.code} stands twice")
        found[entry.code] = entry
    return found


def _entry(place: str, row: Mapping[str, str], known: Mapping[int, XidEntry]) -> XidEntry:
    if not row["code"].isascii() or not row["code"].isdigit() or not 0 < int(row["code"]) <= _MAX_CODE:
        raise ConfigError(f"{place}: code: {row['code']!r} is not a whole number from 1 to {_MAX_CODE}")
    code = int(row["code"])
    base = known.get(code) or XidEntry(code, "", "unknown", "contact_support", False, False, "", "", "")
    for column, allowed in (("class", CLASSES), ("action", ACTIONS)):
        if column in row and row[column] not in allowed:
            raise ConfigError(f"{place}: {column}: {row[column]!r} is not one of {', '.join(allowed)}")
    flags = {}
    for column in ("recovery", "critical"):
        value = row.get(column, str(getattr(base, column)).lower())
        if value not in _BOOLEANS:
            raise ConfigError(f"{place}: {column}: {value!r} is neither true nor false")
        flags[column] = _BOOLEANS[value]
    return XidEntry(
        code=code,
        meaning=row.get("meaning", base.meaning),
        fault_class=row.get("class", base.fault_class),
        action=row.get("action", base.action),
        source=row.get("source", base.source),
        date=row.get("date", base.date),
        note=row.get("note", base.note),
        **flags,
    )
