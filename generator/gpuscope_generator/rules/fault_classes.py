"""Which XIDs are what: the classes of the table that the agent itself acts on, as conditions on the label ``xid``."""

from __future__ import annotations

from gpuscope.catalogue.xid_table import xid_rows
from gpuscope_generator.promql import Matcher

__all__ = ["APPLICATION", "INFRASTRUCTURE", "UNKNOWN", "fault_classes", "of_class"]

APPLICATION = "app"
"""What a program did wrong; the GPU is well."""
INFRASTRUCTURE = (
    "gpu_fw",
    "mem_contained",
    "mem_remap_failed",
    "mem_uncontained",
    "mem_uncorrectable",
    "nvlink",
    "off_bus",
    "power",
)
"""What the machine did. Rows that are remapped in time, and teardown after another fault, are none of it."""
UNKNOWN = "unknown"
"""Codes of that class, and codes without a row: nothing may act on them by itself."""
_HARMLESS = "ignore"


def fault_classes() -> tuple[str, ...]:
    """Every class that has a code, ``unknown`` among them."""
    return tuple(sorted({row["class"] for row in xid_rows()} | {UNKNOWN}))


def of_class(name: str) -> Matcher:
    """The condition that an XID is of a class.

    Codes of a class of the infrastructure about which there is nothing to do are left out: XID 162 says that power
    smoothing works again.

    Args:
        name: of the class, as ``gpuscope xids`` spells it.

    Raises:
        ValueError: no code has this class.
    """
    rows = xid_rows()
    if name == UNKNOWN:
        explained = [row["code"] for row in rows if row["class"] != UNKNOWN]
        return Matcher("xid", "!~", "|".join(explained))
    codes = [row["code"] for row in rows if row["class"] == name and not _is_harmless(row)]
    if not codes:
        raise ValueError(f"no XID is of class {name!r}: {', '.join(fault_classes())}")
    return Matcher("xid", "=~", "|".join(codes))


def _is_harmless(row: dict[str, str]) -> bool:
    return row["class"] in INFRASTRUCTURE and row["action"] == _HARMLESS
