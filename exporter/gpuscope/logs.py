"""Log lines on stderr, as logfmt or JSON."""

import json
import logging
import sys
import time

__all__ = ["setup"]

_REPEAT_S = 60.0


class _Quiet(logging.Filter):
    """Lets a message through that differs from those of the last minute; a hanging driver repeats itself."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        now = time.monotonic()
        text = record.getMessage()
        if now - self._seen.get(text, -_REPEAT_S) < _REPEAT_S:
            return False
        if len(self._seen) > 1000:
            self._seen.clear()
        self._seen[text] = now
        return True


def _facts(record: logging.LogRecord, formatter: logging.Formatter) -> dict[str, str]:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
    facts = {
        "ts": stamp,
        "level": record.levelname.lower(),
        "logger": record.name.removeprefix("gpuscope."),
        "msg": record.getMessage(),
    }
    if record.exc_info:
        facts["exception"] = formatter.formatException(record.exc_info)
    return facts


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_facts(record, self), ensure_ascii=False)


class _Logfmt(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return " ".join(f"{key}={self._value(value)}" for key, value in _facts(record, self).items())

    @staticmethod
    def _value(text: str) -> str:
        plain = text and all(character.isprintable() and character not in ' "=' for character in text)
        return text if plain else json.dumps(text, ensure_ascii=False)


def setup(level: str = "info", form: str = "logfmt") -> None:
    """Sends all log messages to stderr.

    Args:
        level: least important level: debug, info, warning or error.
        form: ``logfmt`` or ``json``.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Logfmt())
    handler.addFilter(_Quiet())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
