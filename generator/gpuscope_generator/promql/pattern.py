"""Regular expressions as Prometheus reads them: RE2, which knows less than Python does."""

from __future__ import annotations

import re

__all__ = ["check_pattern"]

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_FLAGS = re.compile(r"\(\?[imsU]*(?:-[imsU]+)?([:)])")
_REPEATED = re.compile(r"\{(\d+)(?:,(\d*))?\}", re.ASCII)
_MOST = 1000
_UNKNOWN = {
    r"\(\?<?[=!]": "looks ahead or behind",
    r"\(\?>": "has an atomic group",
    r"\(\?P=": "refers back to a group",
    r"\(\?\(": "has a condition",
    r"\(\?#": "has a comment",
    r"\(\?<": "names a group without P",
    r"[*+?}]\+": "has a possessive repetition",
}
_GO_ONLY = "pPQECzaftnrvxABbdDsSwW0"


def check_pattern(text: str) -> None:
    """Nothing where Prometheus takes a text for a regular expression.

    Raises:
        ValueError: it does not, and why.
    """
    for letter in _ESCAPED.findall(text):
        if letter in "123456789":
            raise ValueError(f"not a regular expression of Prometheus: {text!r}: refers back to a group")
        if letter.isalpha() and letter not in _GO_ONLY:
            raise ValueError(f"not a regular expression of Prometheus: {text!r}: no escape \\{letter}")
    bare = _CLASS.sub("x", _ESCAPED.sub("x", text) if "[" not in text else text)
    bare = _FLAGS.sub(lambda found: "(" if found[1] == ":" else "", _ESCAPED.sub("x", bare))
    for pattern, reason in _UNKNOWN.items():
        if re.search(pattern, bare):
            raise ValueError(f"not a regular expression of Prometheus: {text!r}: {reason}")
    if any(int(count or 0) > _MOST for pair in _REPEATED.findall(bare) for count in pair):
        raise ValueError(f"not a regular expression of Prometheus: {text!r}: repeats more than {_MOST} times")
    try:
        re.compile(bare)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {text!r}: {error}") from error
