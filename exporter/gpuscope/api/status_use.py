"""Who holds a GPU or MIG instance, and whether it works, as HTML for the status page."""

from collections import Counter
from html import escape

from gpuscope.sampling.snapshot import Snapshot

__all__ = ["told", "use_cell"]

_HOLDERS_SHOWN = 3
_STATES = {  # why a device is unhealthy stands in the column of states
    "busy": ("pill ok", "busy"),
    "idle_allocated": ("pill warn", "idle"),
    "unallocated": ("soft", "free"),
    "unknown": ("soft", "unknown"),
}


def told(snapshot: Snapshot) -> bool:
    """Whether anything is known of holders and states, so that the page has a column for them."""
    allocation = snapshot.allocation
    return bool(snapshot.allocation_states or allocation.pods or allocation.jobs)


def use_cell(snapshot: Snapshot, uuid: str) -> str:
    """State and holders of a device; empty for a GPU in MIG mode that nobody holds whole."""
    look, word = _STATES.get(snapshot.allocation_states.get(uuid, ""), ("", ""))
    holders = _holders(snapshot, uuid)
    lines = [
        escape(name) + (f' <span class="soft">×{shares}</span>' if shares > 1 else "")
        for name, shares in holders[:_HOLDERS_SHOWN]
    ]
    if len(holders) > _HOLDERS_SHOWN:
        lines.append(f'<a href="/api/v1/gpus">and {len(holders) - _HOLDERS_SHOWN} more</a>')
    if not holders and uuid in snapshot.allocation.in_use:
        lines.append('<span class="soft">a process of no pod or job</span>')
    if not word and not lines:
        return ""
    state = f'<span class="{look}">{word}</span>' if word else ""
    return f'<div class="use">{state}<div>{"<br>".join(lines)}</div></div>'


def _holders(snapshot: Snapshot, uuid: str) -> list[tuple[str, int]]:
    """Pods, with the number of shares that each has, and jobs."""
    pods = Counter(f"{hold.holder.namespace}/{hold.holder.pod}" for hold in snapshot.allocation.pods.get(uuid, ()))
    jobs = snapshot.allocation.jobs.get(uuid, ())
    return [*pods.items(), *((f"job {job.job_id}" + (f" ({job.user})" if job.user else ""), 1) for job in jobs)]
