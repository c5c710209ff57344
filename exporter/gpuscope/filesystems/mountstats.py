"""What the NFS client counts for each mount, ``/proc/<pid>/mountstats``.

::

    device server:/export mounted on /home with fstype nfs4 statvers=1.1
            bytes:  <read> <written> <direct read> <direct written> <from server> <to server> <pages> <pages>
            per-op statistics
                    READ: <operations> <transmissions> <timeouts> <sent> <received> <queue ms> <rtt ms> <execute ms>
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from gpuscope.filesystems.mountinfo import unescape

__all__ = ["NfsOperation", "NfsStats", "parse_mountstats"]

_DEVICE = re.compile(rb"device (\S*) mounted on (\S+) with fstype (nfs4?)(?: .*)?")
_OPERATION = re.compile(rb"([A-Z][A-Z0-9_]*):((?: [0-9]{1,20}){8,9})")
_WHOLE = re.compile(rb"[0-9]{1,20}")
_BYTES = 4


@dataclass(frozen=True, slots=True)
class NfsOperation:
    """One kind of request: how many were made, sent, and timed out; and seconds from the call to the answer."""

    count: int
    transmissions: int
    timeouts: int
    seconds: float


@dataclass(slots=True)
class NfsStats:
    """Counters of one NFS mount; bytes are ``None`` where their line could not be read."""

    read_bytes: int | None = None
    write_bytes: int | None = None
    operations: dict[str, NfsOperation] = field(default_factory=dict)


def parse_mountstats(content: bytes, bad: Callable[[str], None]) -> dict[bytes, NfsStats]:
    """Counters by raw mount point.

    Args:
        content: the file.
        bad: called with ``garbage`` or ``truncated`` for each line that should tell something and does not.
    """
    found: dict[bytes, NfsStats] = {}
    current: NfsStats | None = None
    in_operations = False
    lines = content.split(b"\n")
    for place, raw in enumerate(lines):
        line = raw.strip()
        if not line:
            in_operations = False
            continue
        if place == len(lines) - 1:
            bad("truncated")
            break
        if line.startswith(b"device "):
            match = _DEVICE.fullmatch(line)
            current, in_operations = (NfsStats(), False) if match else (None, False)
            if match and current is not None:
                found[unescape(match[2])] = current
        elif current is None:
            continue
        elif line == b"per-op statistics":
            in_operations = True
        elif line.startswith(b"bytes:"):
            numbers = line.removeprefix(b"bytes:").split()
            if len(numbers) < _BYTES or not all(_WHOLE.fullmatch(number) for number in numbers):
                bad("garbage")
                continue
            current.read_bytes = int(numbers[0]) + int(numbers[2])
            current.write_bytes = int(numbers[1]) + int(numbers[3])
        elif in_operations:
            match = _OPERATION.fullmatch(line)
            if match is None:
                bad("garbage")
                continue
            count, sent, timeouts, _, _, _, _, execute = (int(number) for number in match[2].split()[:8])
            current.operations[match[1].decode("ascii").lower()] = NfsOperation(count, sent, timeouts, execute / 1000)
    return found
