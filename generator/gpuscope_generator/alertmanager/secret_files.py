"""The files that hold secrets: which ones a configuration reads, and whether they are there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gpuscope.errors import ConfigError
from gpuscope_generator.alertmanager.model import Alertmanager

__all__ = ["check_secret_files", "secret_files"]

_FILES = ("api_url_file", "token_file", "routing_key_file", "url_file")
_ADDRESSES = ("api_url_file", "url_file")


def secret_files(settings: Alertmanager) -> Iterator[tuple[str, Path]]:
    """Key and path of each file, in the order of the settings."""
    for name, receiver in settings.receivers.items():
        for field in _FILES:
            if path := getattr(receiver, field, ""):
                yield f"alertmanager.receivers.{name}.{field}", Path(path)
    if settings.smtp is not None and settings.smtp.auth_password_file:
        yield "alertmanager.smtp.auth_password_file", Path(settings.smtp.auth_password_file)


def check_secret_files(settings: Alertmanager, file: str) -> int:
    """Reads them all, on the machine where Alertmanager runs.

    Args:
        settings: that name them.
        file: of the settings, for messages.

    Returns:
        How many there are.

    Raises:
        ConfigError: one is missing, empty, cannot be read, or holds no address where it must; the key is named.
    """
    count = 0
    for key, path in secret_files(settings):
        place = f"{file}: {key}: {path}"
        if not path.exists():
            raise ConfigError(f"{place}: no such file")
        if not path.is_file():
            raise ConfigError(f"{place}: is not a regular file")
        try:
            text = path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ConfigError(f"{place}: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{place}: not UTF-8 text") from error
        if not text:
            raise ConfigError(f"{place}: is empty")
        if len(text.split()) > 1:
            raise ConfigError(f"{place}: holds more than one word")
        if key.endswith(_ADDRESSES) and not text.startswith(("http://", "https://")):
            raise ConfigError(f"{place}: holds no address that begins with https://")
        count += 1
    return count
