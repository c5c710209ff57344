"""Log lines on stderr, as logfmt or JSON."""

import json
import logging
import sys
import threading
import time

__all__ = ["setup"]

_REPEAT_S = 60.0
_REMEMBERED = 1000


class _Quiet(logging.Filter):
    """Lets the same warning through once a minute, with the number of those held back: a sick driver repeats itself."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        text = record.getMessage()
        since, held = self._seen.get(text, (float("-inf"), 0))
        now = time.monotonic()
        if now - since < _REPEAT_S:
            self._seen[text] = (since, held + 1)
            return False
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        self._seen[text] = (now, 0)
        record.repeated = held
        return True


def _facts(record: logging.LogRecord, formatter: logging.Formatter) -> dict[str, str | int]:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
    facts: dict[str, str | int] = {
        "ts": stamp,
        "level": record.levelname.lower(),
        "logger": record.name.removeprefix("gpuscope."),
        "msg": record.getMessage(),
    }
    repeated = getattr(record, "repeated", 0)
    if repeated:
        facts["repeated"] = repeated
    if record.exc_info:
        facts["exception"] = formatter.formatException(record.exc_info)
    return facts


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_facts(record, self), ensure_ascii=False)


class _Logfmt(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return " ".join(f"{key}={self._value(str(value))}" for key, value in _facts(record, self).items())

    @staticmethod
    def _value(text: str) -> str:
        plain = text and all(character.isprintable() and character not in ' "=\\' for character in text)
        return text if plain else json.dumps(text, ensure_ascii=False)


def setup(level: str = "info", form: str = "logfmt") -> None:
    """Sends all messages to stderr, one line each: UTC time to the millisecond, level, logger, message.

    A warning or error that repeats within a minute is held back; the next one says how many were.

    Args:
        level: least important level: debug, info, warning or error.
        form: ``logfmt`` or ``json``.
    """
    root = logging.getLogger()
    handler = logging.StreamHandler(sys.stderr)
    quiet = [kept for old in root.handlers for kept in old.filters if isinstance(kept, _Quiet)]
    handler.addFilter(quiet[0] if quiet else _Quiet())
    handler.setFormatter(_Json() if form == "json" else _Logfmt())
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    threading.excepthook = _thread_died


def _thread_died(died: threading.ExceptHookArgs) -> None:
    name = died.thread.name if died.thread else "?"
    error = (died.exc_type, died.exc_value or died.exc_type(), died.exc_traceback)
    logging.getLogger(__name__).error("thread %s ended by an error", name, exc_info=error)
