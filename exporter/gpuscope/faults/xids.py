"""The XID catalogue: one CSV that ships, and a file of the user's that overrides single rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpuscope.catalogue.xid_table import WITNESS, XID_FILE, xid_text
from gpuscope.errors import ConfigError
from gpuscope.faults.table import choice, code_number, decode, flag, read_rows

__all__ = ["ACTIONS", "CLASSES", "COLUMNS", "XidCatalogue", "XidEntry"]

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


@dataclass(frozen=True, slots=True)
class XidEntry:
    """One row: what a code means and what to do by default.

    ``recovery`` says that the driver reports a recovery action with it (XID 154); ``critical`` that its counter is
    published as 0 from the start.
    """

    code: int
    meaning: str = "not in the catalogue"
    fault_class: str = "unknown"
    action: str = "contact_support"
    recovery: bool = False
    critical: bool = False
    source: str = ""
    date: str = ""
    note: str = ""


class XidCatalogue:
    """XIDs by code; a code without a row is of class ``unknown`` and never leads to an automatic action."""

    def __init__(self, entries: Iterable[XidEntry]) -> None:
        self._entries = {entry.code: entry for entry in entries}
        self._critical = tuple(sorted(entry.code for entry in self._entries.values() if entry.critical))

    @classmethod
    def load(cls, override: Path | None = None) -> "XidCatalogue":
        """Reads the shipped catalogue and, over it, the user's file.

        Args:
            override: CSV with the column ``code`` and any of the others; a row changes or adds its code, and an empty
                cell leaves what ships.

        Raises:
            ConfigError: a bad file; names file, line and column.
        """
        entries = _parse(XID_FILE, xid_text(), {})
        if override is not None:
            entries |= _parse(str(override), decode(override), entries)
        return cls(entries.values())

    def entry(self, code: int) -> XidEntry:
        """The row of a code."""
        return self._entries.get(code) or XidEntry(code)

    def rows(self) -> tuple[XidEntry, ...]:
        """All rows by code."""
        return tuple(self._entries[code] for code in sorted(self._entries))

    @property
    def critical_codes(self) -> tuple[int, ...]:
        """Codes whose counters are 0 from the start, in ascending order."""
        return self._critical


def _parse(name: str, text: str, known: Mapping[int, XidEntry]) -> dict[int, XidEntry]:
    found: dict[int, XidEntry] = {}
    for place, row in read_rows(name, text, COLUMNS):
        code = code_number(place, row["code"])
        if code in found:
            raise ConfigError(f"{place}: code: {code} stands twice")
        base = known.get(code) or XidEntry(code)
        critical = flag(place, "critical", row.get("critical") or str(base.critical))
        if code == WITNESS and not critical:
            raise ConfigError(f"{place}: critical: {code} must be true: by its 0 the rules see that errors are counted")
        found[code] = XidEntry(
            code=code,
            meaning=row.get("meaning") or base.meaning,
            fault_class=choice(place, "class", row.get("class") or base.fault_class, CLASSES),
            action=choice(place, "action", row.get("action") or base.action, ACTIONS),
            recovery=flag(place, "recovery", row.get("recovery") or str(base.recovery)),
            critical=critical,
            source=row.get("source") or base.source,
            date=row.get("date") or base.date,
            note=row.get("note") or base.note,
        )
    return found
