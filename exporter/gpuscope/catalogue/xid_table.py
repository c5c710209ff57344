"""What each XID means: the table that ships, for the agent that acts on it and for the boards that show it."""

import csv
import io
from importlib.resources import files

__all__ = ["WITNESS", "XID_FILE", "xid_rows", "xid_text"]

WITNESS = 79
"""The code that is always counted from 0 on: where it is, errors are counted."""
XID_FILE = "xids.csv"


def xid_text() -> str:
    """The shipped table as CSV with a header."""
    return files("gpuscope.catalogue").joinpath(XID_FILE).read_text(encoding="utf-8")


def xid_rows() -> tuple[dict[str, str], ...]:
    """Its rows by column: code, meaning, class, action and so on."""
    return tuple(csv.DictReader(io.StringIO(xid_text(), newline="")))
