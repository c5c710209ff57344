"""Format of the state file: its tables, how older ones are taken along, and what is no such file."""

import contextlib
import json
import sqlite3
from collections.abc import Iterator

__all__ = ["StoreFormatError", "prepare", "whole"]

_VERSION = 2
_COLUMNS = {
    "counters": ("name", "labels", "value"),
    "jobs": ("key", "record"),
    "sources": ("name", "first_look", "last_look"),
    "identity": ("one", "id", "claimed"),
}
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


class StoreFormatError(Exception):
    """The file is damaged, or none of this program."""


def prepare(file: sqlite3.Connection, *, kept: bool) -> None:
    """Checks a file, and brings it to the present format.

    Args:
        file: in autocommit mode.
        kept: whether it is on a disk.

    Raises:
        StoreFormatError: it is damaged, of a later release, or of something else. Nothing in it was changed then.
        sqlite3.Error: it cannot be used.
    """
    (version,) = file.execute("PRAGMA user_version").fetchone()
    if version > _VERSION:
        raise StoreFormatError(f"was written by a later release (format {version})")
    found = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    foreign = found and not found <= _COLUMNS.keys()
    for name in sorted(found & _COLUMNS.keys()):
        columns = tuple(row[1] for row in file.execute(f"PRAGMA table_info({name})"))
        foreign = foreign or columns != _COLUMNS[name]
    if foreign:
        raise StoreFormatError("is an SQLite file of something else")
    if kept and found:
        (told, *_), *_ = file.execute("PRAGMA quick_check(1)").fetchall()
        if told != "ok":
            raise StoreFormatError(f"is damaged: {' '.join(str(told).split())}")
    if kept:
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("PRAGMA synchronous=NORMAL")
    file.executescript(_TABLES)
    if version == 1:
        _know_submissions(file)
    file.execute(f"PRAGMA user_version={_VERSION}")


@contextlib.contextmanager
def whole(file: sqlite3.Connection) -> Iterator[None]:
    """A transaction: what is written in it is written whole or not at all."""
    file.execute("BEGIN IMMEDIATE")
    try:
        yield
        file.execute("COMMIT")
    except BaseException:
        # A commit that failed for want of space has ended the transaction already, one that was held up has not.
        with contextlib.suppress(sqlite3.Error):
            file.execute("ROLLBACK")
        raise


def _know_submissions(file: sqlite3.Connection) -> None:
    """Format 1 knew a job of Slurm by its id alone; what it was submitted at stands in its record."""
    with whole(file):
        for key, text in file.execute("SELECT key, record FROM jobs").fetchall():
            try:
                fields = json.loads(text)
                scheduler, namespace, uid = fields["key"]
                submitted = int(fields["created"]) if scheduler == "slurm" else 0
            except (ValueError, TypeError, KeyError, OverflowError):
                continue  # whoever reads it drops it with a word
            fields["key"] = [scheduler, namespace, uid, submitted]
            file.execute("DELETE FROM jobs WHERE key = ?", (key,))
            file.execute(
                "INSERT INTO jobs VALUES (?, ?)",
                (json.dumps(fields["key"]), json.dumps(fields, separators=(",", ":"))),
            )
        file.execute(f"PRAGMA user_version={_VERSION}")
