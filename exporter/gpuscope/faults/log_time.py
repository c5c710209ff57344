"""When a line of a system log was written, from the forms in which syslog daemons and dmesg stamp it."""

import re
import time
from datetime import datetime

__all__ = ["line_time"]

_ISO = re.compile(
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_SYSLOG = re.compile(r"^([A-Z][a-z]{2}) +([0-9]{1,2}) ([0-9]{2}):([0-9]{2}):([0-9]{2})(?=[ .])")
_DMESG_T = re.compile(r"^\[[A-Z][a-z]{2} ([A-Z][a-z]{2}) +([0-9]{1,2}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([0-9]{4})\]")
_SINCE_BOOT = re.compile(r"\[ *([0-9]{1,12}\.[0-9]{1,9})\]")
_PRIORITY = re.compile(r"^<[0-9]{1,3}>")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY_S = 86_400.0
_HEAD = 160


def line_time(line: str, boot_time: float, now: float) -> float | None:
    """Unix time of a log line; ``None`` when it bears no time. Never in the future, never raises.

    Args:
        line: a line of syslog (RFC 3339 or ``Nov 30 05:52:52``), or of dmesg (``[  12.345]`` or ``dmesg -T``).
        boot_time: unix time of the boot, for seconds since boot; 0 when unknown.
        now: unix time.
    """
    head = _PRIORITY.sub("", line[:_HEAD].lstrip(), count=1)
    try:
        when = _stamp(head, boot_time, now)
    except (ValueError, OverflowError, OSError):
        return None
    return None if when is None or when < 0 else min(when, now)


def _stamp(head: str, boot_time: float, now: float) -> float | None:
    if found := _ISO.match(head):
        return datetime.fromisoformat(found[0].replace(",", ".")).astimezone().timestamp()
    if found := _DMESG_T.match(head):
        return _local(int(found[6]), found[1], found[2], found[3], found[4], found[5])
    if found := _SYSLOG.match(head):
        year = time.localtime(now).tm_year
        when = _local(year, *found.groups())
        # The form has no year: a line of December that is read in January.
        return when if when <= now + _DAY_S else _local(year - 1, *found.groups())
    if boot_time and (found := _SINCE_BOOT.search(head)):
        return boot_time + float(found[1])
    return None


def _local(year: int, month: str, day: str, hour: str, minute: str, second: str) -> float:
    number = _MONTHS.index(month) + 1
    return time.mktime((year, number, int(day), int(hour), int(minute), int(second), 0, 0, -1))
