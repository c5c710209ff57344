"""The Slurm jobs of a scenario.

::

    jobs:
      - {id: 4711, user: mei, account: vision, gpus: [0, 1], activity: training, begin: 0, end: 1800, every: 2000}
      - {id: 4720, user: otto, mig: [2/0], shared: true}
      - {id: 4730, user: mei, gpus: [2], end: 600, every: 700, attempts: 3}
"""

import re
from dataclasses import dataclass
from zlib import crc32

from gpuscope.simulate.document import Document
from gpuscope.simulate.holding import (
    HOLD_KEYS,
    SPAN_KEYS,
    Hold,
    Slot,
    Span,
    read_activity,
    read_slots,
    read_span,
    read_word,
)

__all__ = ["ID_STEP", "JobPlan", "job_plans"]

ID_STEP = 1000
"""How much greater the id of a job that comes again is each time."""

_KEYS = ("id", "user", "account", "partition", "shared", "attempts", *HOLD_KEYS, *SPAN_KEYS)
_USER = re.compile(r"[a-z_][-a-z0-9_.]{0,31}")
_WORD = re.compile(r"[A-Za-z0-9_][-A-Za-z0-9_.]{0,63}")
_MAX_JOBS = 200
_MAX_ID = 4_000_000_000
_MAX_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class JobPlan:
    """A job; one that comes again has an id that is ``ID_STEP`` greater each time, or each time after its attempts.

    Attributes:
        activity: what it does, ``None`` for what the device's own ``job`` says.
        job_name: jobs of one name share their phases.
        shared: whether others may have the same devices.
        attempts: so many times in a row are attempts of one job, which Slurm requeued: they have one id.
    """

    id: int
    user: str
    slots: tuple[Slot, ...]
    span: Span
    activity: str | None = None
    job_name: str | None = None
    account: str = ""
    partition: str = ""
    shared: bool = False
    attempts: int = 1

    @property
    def name(self) -> str:
        """What its user called it."""
        return self.job_name or f"job-{self.id}"

    @property
    def user_id(self) -> int:
        """The user's number, the same for the same name."""
        return 1000 + crc32(self.user.encode()) % 50_000

    def id_of(self, number: int) -> int:
        """Its id at the n-th time that it comes, from 0."""
        return self.id + number // self.attempts * ID_STEP


def job_plans(document: Document, raw: object) -> list[tuple[JobPlan, Hold]]:
    """Reads the ``jobs`` of a scenario.

    Returns:
        Each job, and what it holds.

    Raises:
        ConfigError: not such a list; names file, line and key.
    """
    found: list[tuple[JobPlan, Hold]] = []
    entries = document.sequence(("jobs",), raw, "jobs")
    if len(entries) > _MAX_JOBS:
        raise document.fail(("jobs",), f"{len(entries)} jobs; a machine has at most {_MAX_JOBS}")
    for number, entry in enumerate(entries):
        path = ("jobs", number)
        document.mapping(path, entry, _KEYS)
        identity = document.whole((*path, "id"), entry.get("id"), 1, _MAX_ID)
        span = read_span(document, path, entry)
        for other, _ in found:
            again = bool(span.every or other.span.every)
            if other.id == identity or (again and (other.id - identity) % ID_STEP == 0):
                raise document.fail(
                    (*path, "id"), f"{identity} collides with job {other.id}, now or when it comes again"
                )
        user = read_word(document, (*path, "user"), entry.get("user"), _USER, "a user's name")
        account, partition = (
            read_word(document, (*path, key), entry[key], _WORD, "one word") if key in entry else ""
            for key in ("account", "partition")
        )
        slots = read_slots(document, path, entry)
        if not slots:
            raise document.fail(path, "a job needs gpus or mig")
        shared = document.flag((*path, "shared"), entry.get("shared", False))
        attempts = document.whole((*path, "attempts"), entry.get("attempts", 1), 1, _MAX_ATTEMPTS)
        if attempts > 1 and not span.every:
            raise document.fail((*path, "attempts"), "needs every: a job that does not come again has one attempt")
        activity, job_name = read_activity(document, path, entry)
        held = tuple(slot for slot, _ in slots)
        job = JobPlan(identity, user, held, span, activity, job_name, account, partition, shared, attempts)
        groups = dict.fromkeys(held, "jobs") if shared else {}
        found.append((job, Hold(f"job {identity}", slots, span, document, (*path, "id"), groups)))
    return found
