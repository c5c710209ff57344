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

_BETWEEN = 2
_NEEDED = ("state", "workload", "gpus", "for", "restarts")
_OPTIONAL = ("fault", "done", "where", "job", "team", "left", "user", "queue")
"""The columns of which narrow terminals lose some, what matters most first."""
_COLUMNS = {
    "state": ("State", 14), "workload": ("Workload", 18), "job": ("Job", 24), "team": ("Team", 10),
    "queue": ("Queue", 8), "user": ("User", 8), "gpus": ("GPUs", 9), "for": ("For", 10), "restarts": ("Rst", 6),
    "fault": ("Last fault", 12), "done": ("Done", 4), "left": ("Left", 6), "where": ("Nodes / why", 16),
}  # fmt: skip
"""In the order of the table: heading, and the width with which a column is content."""
_GROWING = ("workload", "where", "fault", "team", "queue", "user")
"""Who takes what room is left."""
_RIGHT = frozenset({"gpus", "for", "restarts", "done", "left"})
_UNKNOWN = "·"
_STYLES = {
    "stalled": "bold red", "recovering": "yellow", "unknown": "red", "training": "green", "checkpointing": "green",
    "initializing": "cyan", "pulling": "cyan", "scheduling": "cyan", "suspended": "magenta", "queued": "",
}  # fmt: skip
"""In the order of the table: what needs somebody first."""
_BAD_ENDS = frozenset({"failed", "interrupted", "timed_out"})
_RUNNING = frozenset({"training", "checkpointing", "initializing"})
_UID_LETTERS = 8
_NODES = 2


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
    rows = [_cells(job) for job in jobs]
    shows = _fitting(rows, width)
    for name, columns in shows.items():
        heading, _ = _COLUMNS[name]
        table.add_column(heading, justify="right" if name in _RIGHT else "left", no_wrap=True, width=columns)
    for job, cells in zip(jobs, rows, strict=True):
        table.add_row(*(cells[name] for name in shows), style="dim" if job.outcome else "")
    return table


def _cells(job: JobRow) -> dict[str, "Text"]:
    name = f"{job.namespace}/{job.workload}" if job.namespace else job.workload
    return {
        "state": _state(job),
        "workload": cut(name or _UNKNOWN),
        "job": cut(job.job_id if job.scheduler == "slurm" else job.job_id[:_UID_LETTERS]),
        "team": cut(job.team or _UNKNOWN),
        "queue": cut(job.queue or _UNKNOWN),
        "user": cut(job.user or _UNKNOWN),
        "gpus": cut(_UNKNOWN if job.gpus is None else str(job.gpus)),
        "for": cut(f"{_span(job.seconds)} ago" if job.outcome else _span(job.seconds)),
        "restarts": cut(str(job.restarts or "")),
        "fault": cut(job.fault.replace("_", " "), style="" if job.outcome else "yellow"),
        "done": cut("" if job.progress is None else f"{100 * job.progress:.0f}%"),
        "left": cut("" if job.remaining_s is None else _span(job.remaining_s)),
        "where": _where(job),
    }


def _fitting(rows: Sequence[dict[str, "Text"]], width: int) -> dict[str, int]:
    """The columns that have room and their widths, in the order of the table; one that no job fills has none."""
    natural = {
        name: max(len(heading), *(row[name].cell_len for row in rows), 0) for name, (heading, _) in _COLUMNS.items()
    }
    wants = {name: min(natural[name], content) for name, (_, content) in _COLUMNS.items()}
    found = set(_NEEDED)
    room = width - sum(wants[name] + _BETWEEN for name in _NEEDED)
    for name in _OPTIONAL:
        filled = name not in {"fault", "done", "left", "where"} or any(row[name].plain for row in rows)
        if filled and wants[name] + _BETWEEN <= room:
            found.add(name)
            room -= wants[name] + _BETWEEN
    for name in (one for one in _GROWING if one in found):
        more = max(0, min(natural[name] - wants[name], room))
        wants[name] += more
        room -= more
    return {name: columns for name, columns in wants.items() if name in found}


def _where(job: JobRow) -> "Text":
    if job.outcome:
        return cut("")
    more = f" +{len(job.nodes) - _NODES}" if len(job.nodes) > _NODES else ""
    return cut(job.why or " ".join(job.nodes[:_NODES]) + more, style="yellow" if job.why else "")


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
