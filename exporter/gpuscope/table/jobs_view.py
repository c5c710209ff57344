"""Draws the table of jobs, in a width between 80 and 200 columns."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpuscope.table.cell import cut, printable
from gpuscope.table.jobs import JobRow, JobsLook
from gpuscope.table.live import Page, Screenful

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

__all__ = ["job_table", "jobs_screenful", "jobs_summary", "shown"]

ENDED_S, ENDED_MOST = 600.0, 12
"""Jobs that ended within so many seconds are shown, and of these so many at most."""

_LEFT_FROM, _QUEUE_FROM, _WIDE_FROM, _USER_FROM = 80, 94, 110, 130
_PROGRESS = 14
"""Columns that progress takes, where a job tells it."""
_UNKNOWN = "·"
_STYLES = {
    "stalled": "bold red", "recovering": "yellow", "unknown": "red", "training": "green", "checkpointing": "green",
    "initializing": "cyan", "pulling": "cyan", "scheduling": "cyan", "suspended": "magenta", "queued": "",
}  # fmt: skip
"""In the order of the table: what needs somebody first."""
_BAD_ENDS = frozenset({"failed", "interrupted", "timed_out"})
_RUNNING = frozenset({"training", "checkpointing", "initializing"})
_UID_LETTERS = 8


def shown(jobs: Sequence[JobRow]) -> list[JobRow]:
    """Jobs in the order of the table: those that live, then those that ended lately, the last one first."""
    order = list(_STYLES)
    alive = [job for job in jobs if not job.outcome]
    alive.sort(key=lambda job: (order.index(job.state) if job.state in order else -1, -(job.seconds or 0.0)))
    ended = [job for job in jobs if job.outcome and job.seconds is not None and job.seconds <= ENDED_S]
    return alive + sorted(ended, key=lambda job: job.seconds or 0.0)[:ENDED_MOST]


def job_table(jobs: Sequence[JobRow], *, title: str = "", width: int = 120) -> "RenderableType":
    """The table of these jobs; narrow terminals lose the columns that matter least."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False, collapse_padding=True)
    progress = any(job.progress is not None for job in jobs)
    room = width - (_PROGRESS if progress else 0)
    wide, left = room >= _WIDE_FROM, progress and room >= _LEFT_FROM
    # rich takes room from columns that may wrap before it takes any from the others: numbers stay whole.
    table.add_column("State", no_wrap=True)
    table.add_column("Workload", min_width=10)
    if wide:
        table.add_column("Job", no_wrap=True)
    table.add_column("Team", min_width=4)
    if room >= _QUEUE_FROM:
        table.add_column("Queue", min_width=5)
    if room >= _USER_FROM:
        table.add_column("User", min_width=6)
    table.add_column("GPUs", justify="right", no_wrap=True)
    table.add_column("For", justify="right", no_wrap=True)
    table.add_column("Restarts" if wide else "Rst", justify="right", no_wrap=True)
    table.add_column("Last fault", min_width=8)
    if progress:
        table.add_column("Done", justify="right", no_wrap=True)
    if left:
        table.add_column("Left", justify="right", no_wrap=True)
    for job in jobs:
        name = f"{job.namespace}/{job.workload}" if job.namespace else job.workload
        cells: list[str | Text] = [
            _state(job),
            cut(name or _UNKNOWN),
            *([cut(job.job_id if job.scheduler == "slurm" else job.job_id[:_UID_LETTERS])] if wide else []),
            cut(job.team or _UNKNOWN),
            *([cut(job.queue or _UNKNOWN)] if room >= _QUEUE_FROM else []),
            *([cut(job.user or _UNKNOWN)] if room >= _USER_FROM else []),
            _UNKNOWN if job.gpus is None else str(job.gpus),
            f"{_span(job.seconds)} ago" if job.outcome else _span(job.seconds),
            str(job.restarts or ""),
            cut(job.fault.replace("_", " "), style="" if job.outcome else "yellow"),
        ]
        if progress:
            cells.append("" if job.progress is None else f"{100 * job.progress:.0f}%")
        if left:
            cells.append("" if job.remaining_s is None else _span(job.remaining_s))
        table.add_row(*cells, style="dim" if job.outcome else "")
    return table


def jobs_summary(jobs: Sequence[JobRow]) -> str:
    """One line: jobs that live by what they do, and how those of the last 24 hours ended."""
    alive = Counter(
        "running" if job.state in _RUNNING else "starting" if job.state in {"pulling", "scheduling"} else job.state
        for job in jobs
        if not job.outcome
    )
    ended = Counter(job.outcome for job in jobs if job.outcome)
    gpus = sum(job.gpus or 0 for job in jobs if job.state in _RUNNING)
    words = [f"{alive.pop('running', 0)} running on {gpus} GPUs", f"{alive.pop('queued', 0)} queued"]
    words += [f"{count} {state}" for state, count in sorted(alive.items())]
    ends = [f"{ended.pop(word, 0)} {word}" for word in ("succeeded", "failed")]
    ends += [f"{count} {word.replace('_', ' ')}" for word, count in sorted(ended.items())]
    return printable(f"{', '.join(words)}; in 24 h {', '.join(ends)}")


def jobs_screenful(look: JobsLook, width: int, height: int) -> Screenful:
    """The pages of the jobs.

    Args:
        look: what the collector says.
        width: of the terminal.
        height: rows that have room on a page.
    """
    rows, summary = shown(look.jobs), jobs_summary(look.jobs)
    cuts = [rows[first : first + height] for first in range(0, len(rows), height)] or [[]]
    return Screenful([Page(job_table(page, width=width), summary) for page in cuts], look.problem)


def _state(job: JobRow) -> "Text":
    if job.outcome:
        return cut(job.outcome.replace("_", " "), style="red" if job.outcome in _BAD_ENDS else "")
    return cut(job.state or _UNKNOWN, style=_STYLES.get(job.state, "red"))


def _span(seconds: float | None) -> str:
    """A time in at most six letters: ``45s``, ``12m05s``, ``3h05m``, ``2d04h``."""
    if seconds is None:
        return _UNKNOWN
    minutes, rest = divmod(int(seconds), 60)
    if minutes == 0:
        return f"{rest}s"
    hours, minutes = divmod(minutes, 60)
    if hours == 0:
        return f"{minutes}m{rest:02}s"
    days, hours = divmod(hours, 24)
    return f"{days}d{hours:02}h" if days else f"{hours}h{minutes:02}m"
