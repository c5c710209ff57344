"""Which format and which encoding a client gets: ``Accept`` and ``Accept-Encoding`` (RFC 9110, section 12.5)."""

import re
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Format", "choose_format", "wants_gzip"]

CLASSIC = "text/plain; version=0.0.4; charset=utf-8"
_OPENMETRICS = "application/openmetrics-text"
_OPENMETRICS_VERSIONS = ("1.0.0", "0.0.1")
_CLASSIC_VERSIONS = ("0.0.4", "1.0.0", "")  # 1.0.0 differs in the escaping of names only, and ours need none


class Format(NamedTuple):
    """A format of the exposition and the ``Content-Type`` that names it."""

    openmetrics: bool
    content_type: str


class _Range(NamedTuple):
    name: str
    parameters: dict[str, str]
    quality: float


def _ranges(header: str) -> list[_Range]:
    """Takes a header apart; what cannot be read is left out. Quoted commas do not occur in these headers."""
    found = []
    for element in header.split(","):
        name, *rest = (part.strip() for part in element.split(";"))
        parameters = dict(_parameter(part) for part in rest if part)
        quality = _quality(parameters.pop("q", "1"))
        if name and quality is not None:
            found.append(_Range(name.lower(), parameters, quality))
    return found


def _parameter(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip().lower(), value.strip().strip('"')


def _quality(text: str) -> float | None:
    if re.fullmatch(r"0(\.[0-9]*)?|1(\.0*)?|\.[0-9]+", text, re.ASCII) is None:
        return None
    return float(text)


@lru_cache(maxsize=256)
def choose_format(accept: str) -> Format:
    """Chooses the format of the exposition; never refuses, classic text is the answer to everything unknown.

    OpenMetrics is sent only to a client that names it, and then when it is liked at least as well as classic text.
    Media types of other formats (protobuf) are ignored.
    """
    openmetrics: dict[str, float] = {}
    classic: dict[int, float] = {}
    for name, parameters, quality in _ranges(accept):
        if name == _OPENMETRICS:
            version = parameters.get("version", _OPENMETRICS_VERSIONS[0])
            openmetrics[version] = max(quality, openmetrics.get(version, 0.0))
        elif name == "text/plain" and parameters.get("version", "") in _CLASSIC_VERSIONS:
            classic[2] = max(quality, classic.get(2, 0.0))
        elif name in {"text/*", "*/*"}:
            specificity = int(name == "text/*")
            classic[specificity] = max(quality, classic.get(specificity, 0.0))
    liking = classic[max(classic)] if classic else 0.0
    for version in sorted(_OPENMETRICS_VERSIONS, key=lambda version: -openmetrics.get(version, 0.0)):
        quality = openmetrics.get(version, 0.0)
        if quality > 0.0 and quality >= liking:
            return Format(True, f"{_OPENMETRICS}; version={version}; charset=utf-8")
    return Format(False, CLASSIC)


@lru_cache(maxsize=256)
def wants_gzip(accept_encoding: str) -> bool:
    """Whether the client takes gzip and does not like the plain form better; ``q=0`` forbids."""
    qualities = {name: quality for name, _, quality in _ranges(accept_encoding)}
    gzip = qualities.get("gzip", qualities.get("x-gzip", qualities.get("*", 0.0)))
    return gzip > 0.0 and gzip >= qualities.get("identity", 0.0)
