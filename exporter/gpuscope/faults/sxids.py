"""The SXID catalogue: what is publicly known of errors of NVSwitches."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from gpuscope.errors import ConfigError
from gpuscope.faults.table import choice, code_number, read_rows

__all__ = ["ACTIONS", "COLUMNS", "SEVERITIES", "SxidCatalogue", "SxidEntry"]

COLUMNS = ("code", "meaning", "severity", "action", "source", "date", "note")
SEVERITIES = ("nonfatal", "fatal", "always_fatal", "unknown")
ACTIONS = ("check_mechanicals", "contact_support", "ignore", "reboot_node", "reset_fabric")


@dataclass(frozen=True, slots=True)
class SxidEntry:
    """One row.

    ``severity`` is what NVIDIA's guide says of the code: ``nonfatal``, ``fatal`` for the port and its GPUs,
    ``always_fatal`` for the whole fabric, or ``unknown``. The driver's own line says fatal or not for the single
    case, and counts. ``reset_fabric`` is a reset of all NVSwitches and GPUs of the node.
    """

    code: int
    meaning: str = "NVSwitch error that is not in the catalogue"
    severity: str = "unknown"
    action: str = "contact_support"
    source: str = ""
    date: str = ""
    note: str = ""


class SxidCatalogue:
    """SXIDs by code; a code without a row is of unknown severity and never leads to an automatic action."""

    def __init__(self, entries: Iterable[SxidEntry]) -> None:
        self._entries = {entry.code: entry for entry in entries}

    @classmethod
    def load(cls) -> "SxidCatalogue":
        """Reads the shipped catalogue."""
        text = files("gpuscope.faults").joinpath("sxids.csv").read_text(encoding="utf-8")
        entries: dict[int, SxidEntry] = {}
        for place, row in read_rows("sxids.csv", text, COLUMNS):
            code = code_number(place, row["code"])
            if code in entries:
                raise ConfigError(f"{place}: code: {code} stands twice")
            entries[code] = SxidEntry(
                code=code,
                meaning=row["meaning"],
                severity=choice(place, "severity", row["severity"], SEVERITIES),
                action=choice(place, "action", row["action"], ACTIONS),
                source=row["source"],
                date=row["date"],
                note=row["note"],
            )
        return cls(entries.values())

    def entry(self, code: int) -> SxidEntry:
        """The row of a code."""
        return self._entries.get(code) or SxidEntry(code)

    def rows(self) -> tuple[SxidEntry, ...]:
        """All rows by code."""
        return tuple(self._entries[code] for code in sorted(self._entries))
