"""The book's memory: counters and jobs in SQLite, so that a restart of the collector loses nothing.

Everything that one look changed is written in one transaction: after a crash the file holds the look before it or the
look itself, and the next look finds the rest, as sources always tell the whole present state.
"""

import contextlib
import json
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gpuscope.errors import ConfigError, StateError
from gpuscope.workloads.observation import JobKey
from gpuscope.workloads.plausible import LABEL_LENGTH, mended
from gpuscope.workloads.record import JobRecord, read_record, write_record
from gpuscope.workloads.store_format import StoreFormatError, prepare, whole

__all__ = ["Labels", "Store"]

log = logging.getLogger(__name__)

Labels = tuple[str, ...]


class Store:
    """The file.

    Args:
        path: of the SQLite file; ``None`` keeps everything in memory.

    Raises:
        ConfigError: the file cannot be used, is damaged, belongs to a later release or to something else, or is no
            SQLite file.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        with self._named():
            self._file = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False, timeout=10)
            try:
                prepare(self._file, kept=path is not None)
            except BaseException:
                self._file.close()
                raise
            self._inode = None if path is None else path.stat().st_ino

    def close(self) -> None:
        """Ends it; what was written stays."""
        self._file.close()

    @property
    def identity(self) -> str:
        """A word that no other memory has, and that stays with this one."""
        return str(self._read("SELECT id FROM identity")[0][0])

    @property
    def claimed(self) -> bool:
        """Whether its identity was shown to others before."""
        return bool(self._read("SELECT claimed FROM identity")[0][0])

    def claim(self, *, anew: bool) -> None:
        """Notes that its identity is shown to others.

        Args:
            anew: forgets everything else first, whole or not at all.

        Raises:
            ConfigError: the file cannot be written.
        """
        with self._named(), whole(self._file):
            for table in ("counters", "jobs", "sources") if anew else ():
                self._file.execute(f"DELETE FROM {table}")  # noqa: S608
            self._file.execute("UPDATE identity SET claimed = 1")

    def counters(self) -> dict[str, dict[Labels, float]]:
        """Name -> labels -> value; one that cannot be read is dropped and logged."""
        found: dict[str, dict[Labels, float]] = {}
        for name, labels, value in self._read("SELECT name, labels, value FROM counters"):
            try:
                # An earlier release wrote down what it was told.
                known = tuple(mended(str(label), LABEL_LENGTH) for label in json.loads(labels))
                values = found.setdefault(name, {})
                values[known] = max(float(value), values.get(known, 0.0))
            except (ValueError, TypeError) as error:
                log.warning("counter %s of %s in the state file cannot be read: %s", name, labels, error)
        return found

    def jobs(self) -> dict[JobKey, JobRecord]:
        """All jobs; one that cannot be read is dropped and logged."""
        found: dict[JobKey, JobRecord] = {}
        for key, text in self._read("SELECT key, record FROM jobs"):
            try:
                record = read_record(text)
            except ValueError as error:
                log.warning("job %s in the state file cannot be read: %s", key, error)
                continue
            found[record.key] = record
        return found

    def sources(self) -> dict[str, tuple[float, float]]:
        """Name of a source -> unix times of the first and of the last look."""
        rows = self._read("SELECT name, first_look, last_look FROM sources")
        return {name: (first, last) for name, first, last in rows}

    def write(
        self,
        counters: Mapping[tuple[str, Labels], float],
        jobs: Iterable[JobRecord],
        gone: Iterable[JobKey],
        sources: Iterable[tuple[str, float, float]],
    ) -> None:
        """Writes what changed, whole or not at all.

        Args:
            counters: (name, labels) -> new value.
            jobs: records that are new or changed.
            gone: jobs to forget.
            sources: of each its name, and the unix times of its first and last look.

        Raises:
            StateError: it could not be written; the file is as it was.
        """
        try:
            self._write(counters, jobs, gone, sources)
        except (sqlite3.Error, OSError) as error:
            raise StateError(f"--state-file {self._path}: {error}") from error

    def _write(
        self,
        counters: Mapping[tuple[str, Labels], float],
        jobs: Iterable[JobRecord],
        gone: Iterable[JobKey],
        sources: Iterable[tuple[str, float, float]],
    ) -> None:
        if self._path is not None and self._path.stat().st_ino != self._inode:
            raise OSError("was replaced by another file")
        with whole(self._file):
            self._file.executemany(
                "INSERT INTO counters VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                ((name, json.dumps(labels), value) for (name, labels), value in counters.items()),
            )
            self._file.executemany(
                "INSERT INTO jobs VALUES (?, ?) ON CONFLICT DO UPDATE SET record = excluded.record",
                ((json.dumps(record.key), write_record(record)) for record in jobs),
            )
            self._file.executemany("DELETE FROM jobs WHERE key = ?", ((json.dumps(key),) for key in gone))
            self._file.executemany(
                "INSERT INTO sources VALUES (?, ?, ?) "
                "ON CONFLICT DO UPDATE SET first_look = excluded.first_look, last_look = excluded.last_look",
                sources,
            )

    def _read(self, query: str) -> list[tuple[Any, ...]]:
        with self._named():
            return self._file.execute(query).fetchall()

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Names the flag and the file in every error."""
        try:
            yield
        except (sqlite3.Error, OSError, StoreFormatError) as error:
            raise ConfigError(f"--state-file {self._path}: {error}") from error
