"""Trees of files as a Linux machine has them, with a Lustre client of several releases, and answers of mounts."""

import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpuscope.catalogue.metric import Sample
from gpuscope.filesystems.mountinfo import Mount
from gpuscope.filesystems.source import FilesystemSource
from gpuscope.filesystems.statfs import Capacity

DATA = Path(__file__).parent / "data"
CLIENT = "ffff88105db50000"
ROOT = "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
LUSTRE = "60 27 0:60 / /lustre01 rw,noatime - lustre 10.0.0.1@o2ib:10.0.0.2@o2ib:/lustre01 rw,flock,lazystatfs\n"
_LLITE = {"llite_stats": "llite/lustre01-{c}/stats", "read_ahead_stats": "llite/lustre01-{c}/read_ahead_stats"}
_TARGETS = {
    "osc_rpc_stats": "osc/lustre01-OST0000-osc-{c}/rpc_stats",
    "osc_import": "osc/lustre01-OST0000-osc-{c}/import",
    "mdc_rpc_stats": "mdc/lustre01-MDT0000-mdc-{c}/rpc_stats",
    "mdc_import": "mdc/lustre01-MDT0000-mdc-{c}/import",
}
_STATES = ("osc/lustre01-OST0000-osc-{c}/state", "mdc/lustre01-MDT0000-mdc-{c}/state")
# release -> folders of: llite's statistics, targets, version, LNet
LAYOUTS = {
    "2.10": ("proc/fs/lustre", "proc/fs/lustre", "proc/fs/lustre/version", "proc/sys/lnet/stats"),
    "2.12": ("sys/kernel/debug/lustre", "proc/fs/lustre", "sys/fs/lustre/version", "sys/kernel/debug/lnet/stats"),
    "2.15": ("sys/kernel/debug/lustre", "proc/fs/lustre", "sys/fs/lustre/version", "sys/kernel/debug/lnet/stats"),
}


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@dataclass
class Tree:
    """``root/proc`` and ``root/sys``; ``mounts`` writes the table of mounts."""

    root: Path

    @property
    def proc(self) -> Path:
        return self.root / "proc"

    @property
    def sys(self) -> Path:
        return self.root / "sys"

    def mounts(self, *lines: str | bytes) -> None:
        raw = [line if isinstance(line, bytes) else line.encode() for line in lines]
        put(self.proc / "1/mountinfo", ROOT.encode() + b"".join(raw))

    def lustre(self, release: str) -> "Tree":
        """Puts a client of a release into the tree, its files where that release has them."""
        llite, targets, version, lnet = LAYOUTS[release]
        data = DATA / release
        for name, path in _LLITE.items():
            self._copy(data / name, f"{llite}/{path}")
        for name, path in _TARGETS.items():
            self._copy(data / name, f"{targets}/{path}")
        for path in _STATES:
            self._copy(data / "state", f"{targets}/{path}")
        self._copy(data / "version", version)
        self._copy(data / "lnet_stats", lnet)
        if "debug" in llite:  # some parameters of the same instance are in sysfs
            put(self.sys / f"fs/lustre/llite/lustre01-{CLIENT}/kbytesfree", "1\n")
        self.mounts(LUSTRE)
        return self

    def _copy(self, source: Path, path: str) -> None:
        target = self.root / path.format(c=CLIENT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    one = Tree(tmp_path / "host")
    one.mounts()
    one.sys.mkdir()
    return one


def series(samples: Iterable[Sample], name: str, **labels: str) -> dict[tuple[str, ...], float]:
    """Label values -> value of all series of a metric that carry these labels; a series twice is an error."""
    found: dict[tuple[str, ...], float] = {}
    for sample in samples:
        own = dict(zip(sample.metric.labels, sample.labels, strict=True))
        if sample.metric.name == f"gpuscope_{name}" and all(own.get(key) == value for key, value in labels.items()):
            assert sample.labels not in found, sample
            found[sample.labels] = sample.value
    return found


def value(samples: Iterable[Sample], name: str, **labels: str) -> float | None:
    found = series(samples, name, **labels)
    assert len(found) <= 1, found
    return next(iter(found.values()), None)


GOOD = Capacity(size=1000 << 30, free=400 << 30, available=350 << 30, files=1_000_000, files_free=600_000)


@dataclass
class Answers:
    """Stands for the mounts: answers, errors, or hangs, by path. ``release`` lets the calls that hang return."""

    results: dict[bytes, Capacity | Exception | None] = field(default_factory=dict)
    hidden: set[bytes] = field(default_factory=set)
    calls: dict[bytes, int] = field(default_factory=dict)
    release: threading.Event = field(default_factory=threading.Event)

    def see(self, mounts: Iterable[Mount]) -> Mapping[bytes, bytes | None]:
        return {one.mountpoint: None if one.mountpoint in self.hidden else one.mountpoint for one in mounts}

    def ask(self, path: bytes) -> Capacity:
        self.calls[path] = self.calls.get(path, 0) + 1
        result = self.results.get(path, GOOD)
        if result is None:
            self.release.wait(60)
            return GOOD
        if isinstance(result, Exception):
            raise result
        return result


@pytest.fixture
def answers() -> Iterator[Answers]:
    one = Answers()
    yield one
    one.release.set()


Watching = Callable[..., FilesystemSource]


@pytest.fixture
def watching(tree: Tree, answers: Answers) -> Iterator[Watching]:
    """Starts a source on the tree, with short intervals; ends it with the test."""
    started: list[FilesystemSource] = []

    def start(*arguments: object, timeout_s: float = 30.0, interval_s: float = 0.05) -> FilesystemSource:
        source = FilesystemSource(
            tree.proc,
            *arguments,  # type: ignore[arg-type]
            timeout_s=timeout_s,
            interval_s=interval_s,
            prober=answers,
        )
        started.append(source)
        source.start()
        return source

    yield start
    answers.release.set()
    for one in started:
        one.stop()


def eventually(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)


@pytest.fixture(name="eventually")
def eventually_fixture() -> Callable[[Callable[[], object], str], None]:
    return eventually


@pytest.fixture(name="value")
def value_fixture() -> Callable[..., float | None]:
    return value


@pytest.fixture(name="series")
def series_fixture() -> Callable[..., dict[tuple[str, ...], float]]:
    return series


@pytest.fixture(name="put")
def put_fixture() -> Callable[[Path, str | bytes], Path]:
    return put
