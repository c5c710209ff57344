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

from gpuscope.errors import ConfigError
from gpuscope.workloads.observation import JobKey
from gpuscope.workloads.record import JobRecord, read_record, write_record

__all__ = ["Labels", "Store"]

log = logging.getLogger(__name__)

Labels = tuple[str, ...]

_VERSION = 2
_TABLES = """
CREATE TABLE IF NOT EXISTS counters (
    name TEXT, labels TEXT, value REAL NOT NULL, PRIMARY KEY (name, labels)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
    key TEXT PRIMARY KEY, record TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sources (
    name TEXT PRIMARY KEY, first_look REAL NOT NULL, last_look REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS identity (
    one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, claimed INTEGER NOT NULL DEFAULT 0
);
INSERT OR IGNORE INTO identity (one, id) VALUES (1, lower(hex(randomblob(8))));
"""


class Store:
    """The file.

    Args:
        path: of the SQLite file; ``None`` keeps everything in memory.

    Raises:
        ConfigError: the file cannot be used, belongs to a later release, or is no SQLite file.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        try:
            self._file = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False, timeout=10)
            (version,) = self._file.execute("PRAGMA user_version").fetchone()
            if version > _VERSION:
                raise ConfigError(f"--state-file {path}: was written by a later release (format {version})")
            if path is not None:
                self._file.execute("PRAGMA journal_mode=WAL")
                self._file.execute("PRAGMA synchronous=NORMAL")
            self._file.executescript(_TABLES)
            if version == 1:
                self._know_submissions()
            self._file.execute(f"PRAGMA user_version={_VERSION}")
        except sqlite3.Error as error:
            raise ConfigError(f"--state-file {path}: {error}") from error

    def close(self) -> None:
        """Ends it; what was written stays."""
        self._file.close()

    @property
    def identity(self) -> str:
        """A word that no other memory has, and that stays with this one."""
        (found,) = self._file.execute("SELECT id FROM identity").fetchone()
        return str(found)

    @property
    def claimed(self) -> bool:
        """Whether its identity was shown to others before."""
        (found,) = self._file.execute("SELECT claimed FROM identity").fetchone()
        return bool(found)

    def claim(self, *, anew: bool) -> None:
        """Notes that its identity is shown to others.

        Args:
            anew: forgets everything else first, whole or not at all.

        Raises:
            ConfigError: the file cannot be written.
        """
        try:
            with self._whole():
                for table in ("counters", "jobs", "sources") if anew else ():
                    self._file.execute(f"DELETE FROM {table}")  # noqa: S608
                self._file.execute("UPDATE identity SET claimed = 1")
        except sqlite3.Error as error:
            raise ConfigError(f"--state-file {self._path}: {error}") from error

    def counters(self) -> dict[str, dict[Labels, float]]:
        """Name -> labels -> value."""
        found: dict[str, dict[Labels, float]] = {}
        for name, labels, value in self._file.execute("SELECT name, labels, value FROM counters"):
            found.setdefault(name, {})[tuple(json.loads(labels))] = value
        return found

    def jobs(self) -> dict[JobKey, JobRecord]:
        """All jobs; one that cannot be read is dropped and logged."""
        found: dict[JobKey, JobRecord] = {}
        for key, text in self._file.execute("SELECT key, record FROM jobs"):
            try:
                record = read_record(text)
            except ValueError as error:
                log.warning("job %s in the state file cannot be read: %s", key, error)
                continue
            found[record.key] = record
        return found

    def sources(self) -> dict[str, tuple[float, float]]:
        """Name of a source -> unix times of the first and of the last look."""
        rows = self._file.execute("SELECT name, first_look, last_look FROM sources")
        return {name: (first, last) for name, first, last in rows}

    def write(
        self,
        counters: Mapping[tuple[str, Labels], float],
        jobs: Iterable[JobRecord],
        gone: Iterable[JobKey],
        source: tuple[str, float, float],
    ) -> None:
        """Writes what one look changed, whole or not at all.

        Args:
            counters: (name, labels) -> new value.
            jobs: records that are new or changed.
            gone: jobs to forget.
            source: its name, and the unix times of its first and last look.
        """
        with self._whole():
            self._file.executemany(
                "INSERT INTO counters VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                ((name, json.dumps(labels), value) for (name, labels), value in counters.items()),
            )
            self._file.executemany(
                "INSERT INTO jobs VALUES (?, ?) ON CONFLICT DO UPDATE SET record = excluded.record",
                ((json.dumps(record.key), write_record(record)) for record in jobs),
            )
            self._file.executemany("DELETE FROM jobs WHERE key = ?", ((json.dumps(key),) for key in gone))
            self._file.execute(
                "INSERT INTO sources VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET last_look = excluded.last_look", source
            )

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._file.execute("ROLLBACK")
            raise
        self._file.execute("COMMIT")

    def _know_submissions(self) -> None:
        """Format 1 knew a job of Slurm by its id alone; what it was submitted at stands in its record."""
        with self._whole():
            for key, text in self._file.execute("SELECT key, record FROM jobs").fetchall():
                try:
                    fields = json.loads(text)
                    scheduler, namespace, uid = fields["key"]
                    submitted = int(fields["created"]) if scheduler == "slurm" else 0
                except (ValueError, TypeError, KeyError):
                    continue  # ``jobs`` drops it with a word
                fields["key"] = [scheduler, namespace, uid, submitted]
                self._file.execute("DELETE FROM jobs WHERE key = ?", (key,))
                self._file.execute(
                    "INSERT INTO jobs VALUES (?, ?)",
                    (json.dumps(fields["key"]), json.dumps(fields, separators=(",", ":"))),
                )
            self._file.execute(f"PRAGMA user_version={_VERSION}")
