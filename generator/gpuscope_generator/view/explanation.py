"""The text behind a panel's (i): every number on a board can be explained."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Explanation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a reader must know to use a panel.

    Attributes:
        shows: what the number is, in one or two sentences, with its definition.
        source: which exporters it may come from, and what must be switched on.
        good: what a healthy value looks like.
        do: what to do when it is not healthy, or where to look next.
    """

    shows: str
    source: str
    good: str
    do: str

    def __post_init__(self) -> None:
        for name in ("shows", "source", "good", "do"):
            text = getattr(self, name)
            if not text.strip() or text.strip()[-1] not in ".!?)`":
                raise ValueError(f"{name}: not a sentence: {text!r}")

    @property
    def text(self) -> str:
        """Markdown for the panel's description."""
        return f"{self.shows}\n\n**Source:** {self.source}\n\n**Good:** {self.good}\n\n**What to do:** {self.do}"
