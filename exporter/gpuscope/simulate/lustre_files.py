"""The files of a simulated Lustre client, where release 2.15 has them and in its formats."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Traffic", "lnet_stats", "target_files", "write_llite"]

_PAGE = 4096
_RPC = 1 << 20
_CALL = 4 << 20
_METADATA = {"open": 90, "close": 60, "getattr": 130, "setattr": 210, "readdir": 800, "unlink": 350, "statfs": 300}
_METADATA_SHARE = {
    "open": 3.0,
    "close": 3.0,
    "getattr": 9.0,
    "setattr": 0.4,
    "readdir": 0.2,
    "unlink": 0.1,
    "statfs": 0.07,
}


@dataclass(slots=True)
class Traffic:
    """What has gone through one mount since the machine was made: bytes, calls, and seconds of it."""

    read: float = 0.0
    written: float = 0.0
    seconds: float = 0.0
    read_rate: float = 0.0
    write_rate: float = 0.0

    def add(self, read: float, written: float, seconds: float) -> None:
        """Lets bytes flow."""
        self.read += read
        self.written += written
        self.seconds += seconds
        if seconds > 0:
            self.read_rate, self.write_rate = read / seconds, written / seconds

    @property
    def reads(self) -> float:
        """Calls of read()."""
        return self.read / _CALL

    @property
    def writes(self) -> float:
        """Calls of write()."""
        return self.written / _CALL


def write_llite(sysfs: Path, name: str, number: int, traffic: Traffic, now: float) -> None:
    """Writes ``stats`` and ``read_ahead_stats`` below debugfs, and the instance's folder in sysfs."""
    instance = f"{name}-{_client(number)}"
    folder = sysfs / "kernel/debug/lustre/llite" / instance
    folder.mkdir(parents=True, exist_ok=True)
    (sysfs / "fs/lustre/llite" / instance).mkdir(parents=True, exist_ok=True)
    pages = int(traffic.read) // _PAGE
    ahead = {"hits": pages - pages // 50, "misses": pages // 50, "zero_size_window": pages // 400}
    lines = [f"{key:<26}{value} samples [pages]\n" for key, value in ahead.items() if value]
    for leaf, body in (("stats", _stats(traffic)), ("read_ahead_stats", "".join(lines))):
        fresh = folder / f".{leaf}"
        fresh.write_text(_header(now, traffic) + body, encoding="ascii")
        fresh.replace(folder / leaf)


def target_files(name: str, targets: int, number: int, traffic: Traffic, now: float) -> Iterator[tuple[str, str]]:
    """Path below ``fs/lustre`` and content of the files of all targets."""
    client = _client(number)
    kinds = [("osc", f"OST{index:04x}") for index in range(targets)] + [("mdc", "MDT0000")]
    for kind, target in kinds:
        instance = f"{name}-{target}-{kind}-{client}"
        folder = f"{kind}/{instance}"
        share = 1 / targets if kind == "osc" else 0.0
        yield f"{folder}/rpc_stats", _rpc_stats(kind, share, traffic, now)
        yield f"{folder}/import", _import(instance, f"{name}-{target}_UUID")
        yield f"{folder}/state", f"current_state: FULL\nstate_history:\n - [ {int(now - traffic.seconds)}, FULL ]\n"


def lnet_stats(traffics: Sequence[Traffic]) -> str:
    """LNet's one line: requests go out, and data goes with them when it is written."""
    read, written = sum(one.read for one in traffics), sum(one.written for one in traffics)
    messages = int((read + written) / _RPC) * 2
    return f"0 64 0 {messages} {messages} 0 0 {int(written) + messages * 200} {int(read) + messages * 200} 0 0\n"


def _client(number: int) -> str:
    return f"ffff8a2c4e5f{0x1000 * (number + 1):04x}"


def _header(now: float, traffic: Traffic) -> str:
    times = {"snapshot_time": now, "start_time": now - traffic.seconds, "elapsed_time": traffic.seconds}
    return "".join(f"{key:<26}{value:.9f} secs.nsecs\n" for key, value in times.items())


def _stats(traffic: Traffic) -> str:
    lines = []
    for name, total, calls in (
        ("read", int(traffic.read), int(traffic.reads)),
        ("write", int(traffic.written), int(traffic.writes)),
    ):
        if calls:
            lines.append(f"{name + '_bytes':<26}{calls} samples [bytes] 4096 {_CALL} {total} {total * 4}\n")
            lines.append(f"{name:<26}{calls} samples [usecs] 12 30799 {calls * 1400} {calls * 2_000_000}\n")
    for name, micros in _METADATA.items():
        calls = int(traffic.seconds * _METADATA_SHARE[name])
        if calls:
            lines.append(f"{name:<26}{calls} samples [usecs] 1 {micros * 40} {calls * micros} {calls * micros**2}\n")
    return "".join(lines)


def _rpc_stats(kind: str, share: float, traffic: Traffic, now: float) -> str:
    reads, writes = int(traffic.read * share / _RPC), int(traffic.written * share / _RPC)
    flying = [min(8, int(rate * share / 60e6)) for rate in (traffic.read_rate, traffic.write_rate)]
    head = f"snapshot_time:            {now:.9f} secs.nsecs\n"
    if kind == "mdc":
        head += "modify_RPCs_in_flight:  0\n\n\t\t\tmodify\nrpcs in flight        rpcs   % cum %\n"
        head += "0:\t\t         0   0   0\n\n"
    head += f"read RPCs in flight:  {flying[0]}\nwrite RPCs in flight: {flying[1]}\n"
    head += f"pending write pages:  {flying[1] * 128}\npending read pages:   0\n\n"
    head += "\t\t\tread\t\t\twrite\npages per rpc         rpcs   % cum % |       rpcs   % cum %\n"
    rows = [(1, reads // 40, writes // 60), (64, reads // 20, writes // 30)]
    rows.append((256, reads - rows[0][1] - rows[1][1], writes - rows[0][2] - rows[1][2]))
    return head + "".join(
        f"{size}:\t\t{read:10} {0:3} {0:3}   | {write:10} {0:3} {0:3}\n" for size, read, write in rows
    )


def _import(instance: str, target: str) -> str:
    return (
        f"import:\n    name: {instance}\n    target: {target}\n    state: FULL\n"
        "    connect_flags: [ version, adaptive_timeouts, lru_resize, full20, jobstats ]\n"
        "    connection:\n       failover_nids: [ 10.0.0.11@tcp, 10.0.0.12@tcp ]\n"
        "       current_connection: 10.0.0.11@tcp\n       connection_attempts: 1\n       generation: 1\n"
        "    rpcs:\n       inflight: 0\n       unregistering: 0\n       timeouts: 0\n       avg_waittime: 354 usec\n"
    )
