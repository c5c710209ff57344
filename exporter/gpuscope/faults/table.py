"""Reads the CSV files of fault codes; every error names file, line and column."""

import csv
import io
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gpuscope.errors import ConfigError

__all__ = ["choice", "code_number", "decode", "flag", "read_rows"]

_BOOLEANS = {"true": True, "false": False}
_MAX_CODE = 99_999
_MAX_BYTES = 4 << 20


def decode(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark.

    Raises:
        ConfigError: it cannot be read, or a line of it is not UTF-8.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ConfigError(f"{path}: cannot be read: Is not a regular file")
        if found.st_size > _MAX_BYTES:
            raise ConfigError(f"{path}: is larger than {_MAX_BYTES >> 20} MiB")
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text (byte 0x{data[error.start]:02x})") from error


def read_rows(name: str, text: str, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Place (``file:line``) and cells of each row; blank lines are left out, cells are stripped.

    Args:
        name: the file, for messages.
        text: CSV with a header.
        columns: the columns that there may be; the first one must be there.

    Raises:
        ConfigError: an unknown, missing or repeated column, a row of another width, or no CSV at all.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [cell.strip() for cell in next(reader, [])]
        for column in header:
            if column not in columns:
                raise ConfigError(f"{name}:1: {column or 'empty name'}: unknown column; known: {', '.join(columns)}")
            if header.count(column) > 1:
                raise ConfigError(f"{name}:1: {column}: the column stands twice")
        if columns[0] not in header:
            raise ConfigError(f"{name}:1: {columns[0]}: the column is missing")
        for cells in reader:
            place = f"{name}:{reader.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                column = header[len(cells)] if len(cells) < len(header) else header[-1]
                raise ConfigError(f"{place}: {column}: {len(cells)} cells where the header has {len(header)}")
            yield place, dict(zip(header, (cell.strip() for cell in cells), strict=True))
    except csv.Error as error:
        raise ConfigError(f"{name}:{reader.line_num}: not CSV: {error}") from error


def code_number(place: str, text: str) -> int:
    """The cell ``code`` as a number.

    Raises:
        ConfigError: it is none.
    """
    if (
        not text.isascii()
        or not text.isdigit()
        or not 0 < int(text[:6]) <= _MAX_CODE
        or len(text) > len(str(_MAX_CODE))
    ):
        raise ConfigError(f"{place}: code: {text[:40]!r} is not a whole number from 1 to {_MAX_CODE}")
    return int(text)


def choice(place: str, column: str, value: str, allowed: Sequence[str]) -> str:
    """A cell that takes one of some words.

    Raises:
        ConfigError: another word.
    """
    if value not in allowed:
        raise ConfigError(f"{place}: {column}: {value[:40]!r} is not one of {', '.join(allowed)}")
    return value


def flag(place: str, column: str, value: str) -> bool:
    """A cell that is ``true`` or ``false``.

    Raises:
        ConfigError: it is neither.
    """
    if value.lower() not in _BOOLEANS:
        raise ConfigError(f"{place}: {column}: {value[:40]!r} is neither true nor false")
    return _BOOLEANS[value.lower()]
