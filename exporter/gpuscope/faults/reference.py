"""The tables of fault codes in ``docs/faults.md``."""

from collections.abc import Iterable, Sequence

from gpuscope.faults.sxids import SxidCatalogue
from gpuscope.faults.xids import XidCatalogue

__all__ = ["MARKERS", "sxid_table", "update", "xid_table"]

MARKERS = {
    "xids": ("<!-- xids: made by `gpuscope xids --update`, do not edit -->", "<!-- /xids -->"),
    "sxids": ("<!-- sxids: made by `gpuscope xids --update`, do not edit -->", "<!-- /sxids -->"),
}


def xid_table() -> str:
    """A Markdown table of the shipped XID catalogue."""
    rows = [
        (
            str(row.code),
            row.meaning,
            f"`{row.fault_class}`",
            f"`{row.action}`",
            "yes" if row.recovery else "",
            "yes" if row.critical else "",
            row.note,
        )
        for row in XidCatalogue.load().rows()
    ]
    return _table(("XID", "Meaning", "Class", "Default action", "154 follows", "0 from the start", "Note"), rows)


def sxid_table() -> str:
    """A Markdown table of the SXID catalogue."""
    rows = [
        (str(row.code), row.meaning, f"`{row.severity}`", f"`{row.action}`", row.note)
        for row in SxidCatalogue.load().rows()
    ]
    return _table(("SXID", "Meaning", "Severity", "Default action", "Note"), rows)


def update(document: str) -> str:
    """The document with fresh tables between its markers.

    Raises:
        ValueError: the document lacks a marker.
    """
    for name, table in (("xids", xid_table()), ("sxids", sxid_table())):
        begin, end = MARKERS[name]
        before, found, rest = document.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"no lines {begin} and {end}")
        document = f"{before}{begin}\n{table}{end}{after}"
    return document


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n" for cells in lines)
