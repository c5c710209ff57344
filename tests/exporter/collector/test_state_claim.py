"""A memory is led with as long as nobody else can have counted since."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuscope.catalogue import training as m
from gpuscope.collector.state_claim import StateClaim
from gpuscope.errors import ConfigError
from gpuscope.workloads.observation import JobKey
from gpuscope.workloads.store import Store


@pytest.fixture
def used(tmp_path: Path) -> Iterator[Path]:
    """A state file that counted something."""
    file = tmp_path / "state"
    store = Store(file)
    store.write(
        {(m.FORGOTTEN.name, ("slurm", "", "a", "b", "job")): 1.0}, (), (JobKey("slurm", "", "1"),), [("slurm", 1, 2)]
    )
    store.close()
    return file


def kept(file: Path) -> bool:
    store = Store(file)
    try:
        return bool(store.counters()) and bool(store.sources())
    finally:
        store.close()


def test_memory_that_was_counted_with_last_goes_on(used: Path) -> None:
    claim = StateClaim(used)
    first = claim(None)  # as of a collector that was alone until now
    assert claim(first) == StateClaim(used)(first) == first
    assert kept(used)


@pytest.mark.parametrize("before", ["another", "", None], ids=["another one", "nobody said", "Lease was deleted"])
def test_memory_that_others_may_have_overtaken_begins_anew(used: Path, before: str | None, caplog) -> None:
    claim = StateClaim(used)
    own = claim(None)
    assert claim(before) == own
    assert not kept(used)
    assert caplog.text.count("begin anew") == 1
    claim(before)
    assert caplog.text.count("begin anew") == 1, "nothing is left to forget"


def test_memories_differ(tmp_path: Path) -> None:
    claims = [StateClaim(tmp_path / "a"), StateClaim(tmp_path / "b"), StateClaim(None), StateClaim(None)]
    assert len({claim("another") for claim in claims}) == 4


def test_file_that_cannot_be_used_is_named(used: Path) -> None:
    used.write_bytes(b"no database at all, but long enough to be looked at" * 40)
    with pytest.raises(ConfigError, match=str(used)):
        StateClaim(used)("another")
