"""Generated tables inside pages that people write, each between two comments::

<!-- table: collectors; made by `gpuscope-generator tables`, do not edit -->
<!-- end of table -->
"""

import re
from collections.abc import Callable, Mapping

from gpuscope.catalogue import SUBJECTS
from gpuscope_generator.markdown import code, table
from gpuscope_generator.reference import description, flag, state
from gpuscope_generator.setting_reference import settings_table

__all__ = ["TABLES", "fill"]

_BEGIN = re.compile(r"<!-- table: (?P<name>[^;>]+?)(?:;[^>]*)? -->")
_END = "<!-- end of table -->"
_NOTE = "<!-- table: {name}; made by `gpuscope-generator tables`, do not edit -->"


def collectors() -> str:
    """Every collector: its flag, whether it is on by default, what it publishes."""
    rows = []
    for subject, metrics in SUBJECTS.items():
        switch = "" if state(subject) == "always on" else code(flag(subject))
        title, _ = description(subject)
        rows.append((f"[{subject}](docs/metrics.md#{subject})", str(len(metrics)), state(subject), switch, title))
    return table(("Collector", "Metrics", "By default", "Flag", "About"), rows)


TABLES: Mapping[str, Callable[[], str]] = {"collectors": collectors, "settings": settings_table}
"""Every table that a page can ask for."""


def fill(document: str) -> str:
    """The document with fresh tables between its comments; all else is kept as it is.

    Raises:
        ValueError: no table, an unknown table, or one without its end; the message names the line.
    """
    done: list[str] = []
    lines = iter(enumerate(document.splitlines(keepends=True), 1))
    for number, line in lines:
        begin = _BEGIN.fullmatch(line.strip())
        if begin is None:
            if line.strip() == _END:
                raise ValueError(f"line {number}: an end without a table")
            done.append(line)
            continue
        name = begin["name"]
        if name not in TABLES:
            raise ValueError(f"line {number}: no table {name!r}; there are {', '.join(TABLES)}")
        for _, skipped in lines:
            if skipped.strip() == _END:
                break
            if _BEGIN.fullmatch(skipped.strip()):
                raise ValueError(f"line {number}: table {name!r} has no {_END}")
        else:
            raise ValueError(f"line {number}: table {name!r} has no {_END}")
        done.append(f"{_NOTE.format(name=name)}\n{TABLES[name]()}\n{_END}\n")
    if not any(line.startswith("<!-- table: ") for line in done):
        raise ValueError("no table in it: <!-- table: NAME --> and <!-- end of table -->")
    return "".join(done)
