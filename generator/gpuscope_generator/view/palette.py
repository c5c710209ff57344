"""Colors that people with any color vision can tell apart: the palette of Okabe and Ito."""

from __future__ import annotations

__all__ = ["BAD", "DIM", "IDLE", "INFO", "NEUTRAL", "OK", "SERIES", "TEXT", "VIOLET", "WARN"]

OK = "#009E73"
WARN = "#E69F00"
BAD = "#D55E00"
INFO = "#0072B2"
IDLE = "#999999"
DIM = "#6F6F6F"
NEUTRAL = "#56B4E9"
VIOLET = "#CC79A7"
TEXT = "text"

SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
"""For lines that stand for nothing good or bad, in this order."""
