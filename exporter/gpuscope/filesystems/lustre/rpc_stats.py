"""What a target's ``rpc_stats`` tells: RPCs in flight, pages that wait, and how many pages RPCs carry.

::

    read RPCs in flight:  0
    pending write pages:  1244

                            read                    write
    pages per rpc         rpcs   % cum % |       rpcs   % cum %
    256:                     0   0   0   |     458648   2   3
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["RpcStats", "parse_rpc_stats"]

_LEVEL = re.compile(
    r"(?:(read|write) RPCs in flight|(modify)_RPCs_in_flight|pending (read|write) pages):\s*([0-9]{1,20})\s*"
)
_LIKE_LEVEL = re.compile(r"(read|write|modify)[ _]RPCs|pending ")
_COUNT = "([0-9]{1,20})"
_ROW = re.compile(rf"{_COUNT}:\s+{_COUNT}\s+[0-9]+\s+[0-9]+\s+\|\s+{_COUNT}\s+[0-9]+\s+[0-9]+\s*")


@dataclass(slots=True)
class RpcStats:
    """Attributes:
    in_flight: RPCs by type: ``read``, ``write``, ``modify``.
    pending: pages by direction.
    pages: number of RPCs by (direction, most pages of the class).
    """

    in_flight: dict[str, int] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    pages: dict[tuple[str, int], int] = field(default_factory=dict)


def parse_rpc_stats(text: str, bad: Callable[[str], None]) -> RpcStats:
    """Reads the file; the histograms of offsets, latencies and RPCs in flight are passed over.

    Args:
        text: the file.
        bad: called with ``garbage`` or ``truncated`` for each line that should tell something and does not.
    """
    stats = RpcStats()
    in_pages = False
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if not line.strip():
            in_pages = False
            continue
        if place == len(lines) - 1:
            bad("truncated")
            break
        level = _LEVEL.fullmatch(line)
        if level:
            kind, value = level[1] or level[2], int(level[4])
            if kind:
                stats.in_flight[kind] = value
            else:
                stats.pending[level[3]] = value
        elif line.startswith("pages per rpc"):
            in_pages = True
        elif in_pages:
            row = _ROW.fullmatch(line)
            if row is None:
                bad("garbage")
                continue
            stats.pages["read", int(row[1])] = int(row[2])
            stats.pages["write", int(row[1])] = int(row[3])
        elif _LIKE_LEVEL.match(line):
            bad("garbage")
    return stats
