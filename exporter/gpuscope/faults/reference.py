"""The tables of fault codes in ``docs/faults.md``."""

from gpuscope.document import markdown_table, replace_part
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
    return markdown_table(
        ("XID", "Meaning", "Class", "Default action", "154 follows", "0 from the start", "Note"), rows
    )


def sxid_table() -> str:
    """A Markdown table of the SXID catalogue."""
    rows = [
        (str(row.code), row.meaning, f"`{row.severity}`", f"`{row.action}`", row.note)
        for row in SxidCatalogue.load().rows()
    ]
    return markdown_table(("SXID", "Meaning", "Severity", "Default action", "Note"), rows)


def update(document: str) -> str:
    """The document with fresh tables between its markers.

    Raises:
        ValueError: the document lacks a marker.
    """
    for name, table in (("xids", xid_table()), ("sxids", sxid_table())):
        document = replace_part(document, *MARKERS[name], table)
    return document
