"""What the demo shows: tables, and the checks of ``--once``."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuscope.demo.alerts import DemoAlerts, alert_checks
from gpuscope.demo.boards import Boards
from gpuscope.demo.checks import Check, board_checks, rule_checks, run_checks
from gpuscope.demo.children import Children
from gpuscope.demo.cluster import DemoCluster, cluster_checks
from gpuscope.demo.jobs import DemoJobs, job_checks
from gpuscope.demo.prometheus import Prometheus
from gpuscope.errors import SourceError
from gpuscope.table import NodeRows, read_rows
from gpuscope.table.alerts import alert_table, alerts_screenful, alerts_summary
from gpuscope.table.jobs_view import job_table, jobs_screenful, jobs_summary, shown
from gpuscope.table.live import Screenful, gpu_screenful, show
from gpuscope.table.view import gpu_table, summary

__all__ = ["Fleet", "show_live", "show_once"]

_SETTLE_S = 120.0
"""A fault comes after 20 s, its alert some rules later; on a busy machine all of it takes longer."""
_LOOK_S = 2.0
_PLAIN_LOOK_S = 15.0


@dataclass(slots=True)
class Fleet:
    """What runs.

    Attributes:
        agents: node -> ``host:port``.
        jobs: the collector.
        story: whether it is the default fleet.
        around: the exporters beside the agents, if there are any.
        boards: who shows the boards, if anybody does.
        alerts: who is told of alerts, if anybody is.
        faults: scenario by node, of those whose alerts are waited for.
    """

    prometheus: Prometheus
    agents: dict[str, str]
    jobs: DemoJobs
    story: bool
    around: DemoCluster | None = None
    boards: Boards | None = None
    alerts: DemoAlerts | None = None
    faults: dict[str, str] = field(default_factory=dict)

    def nodes(self) -> list[NodeRows]:
        """The rows of the table, as Prometheus knows them."""
        return read_rows(self.prometheus.table())

    def look(self) -> tuple[list[NodeRows], str]:
        """These rows, or none and why: on a busy machine Prometheus may take its time, and that ends nothing."""
        try:
            return self.nodes(), ""
        except SourceError as error:
            return [], str(error)


def show_once(
    screen: Any,
    children: Children,
    running: Fleet,
    tell: Callable[[str], None],
    picture: Path | None,
    after: float,
) -> None:
    """Waits until all checks hold, or for a while; prints the tables and the checks.

    Args:
        screen: a rich console.
        children: what must go on running.
        running: what is looked at.
        tell: called with progress.
        picture: where to save the table as SVG.
        after: seconds to wait first.

    Raises:
        SourceError: a check does not hold, or a program ended.
    """
    checks: list[Check] = []
    nodes: list[NodeRows] = []
    tell("waiting until counters have moved")
    time.sleep(after)
    end = time.monotonic() + _SETTLE_S
    while time.monotonic() < end:
        children.check()
        try:
            nodes = running.nodes()
            checks = _checks(running, nodes)
        except SourceError as error:
            # A busy machine may take its time to answer.
            checks = [Check("Prometheus and the collector answer", passed=False, seen=str(error))]
        if all(check.passed for check in checks):
            break
        time.sleep(1.0)
    look = running.jobs.look()
    screen.print(gpu_table(nodes, title="GPUs, read back through Prometheus", width=screen.width))
    screen.print(job_table(shown(look.jobs), title="Jobs of a simulated Slurm, by the collector", width=screen.width))
    _print_alerts(screen, running)
    for check in checks:
        screen.print(f"{'✓' if check.passed else '✗'} {check.text}: {check.seen}", style="" if check.passed else "red")
    screen.print(summary(nodes))
    screen.print(jobs_summary(look.jobs), markup=False)
    if running.alerts is not None:
        screen.print(alerts_summary(running.alerts.rows()), markup=False)
    if running.boards is not None:
        screen.print(f"boards: {running.boards.url}/ (drawn by {running.boards.by})", soft_wrap=True)
    if picture is not None:
        _save(picture, nodes)
    failed = [check.text for check in checks if not check.passed]
    if failed:
        raise SourceError(f"failed: {'; '.join(failed)}")


def _checks(running: Fleet, nodes: list[NodeRows]) -> list[Check]:
    checks = run_checks(nodes, len(running.agents), running.prometheus, story=running.story)
    checks += job_checks(running.jobs, running.prometheus)
    if running.around is not None:
        checks += cluster_checks(running.around, running.prometheus)
    checks += rule_checks(running.prometheus)
    if running.alerts is not None:
        checks += alert_checks(running.alerts, running.faults)
    if running.boards is not None:
        checks += board_checks(running.boards)
    return checks


def _print_alerts(screen: Any, running: Fleet) -> None:
    rows = running.alerts.rows() if running.alerts is not None else []
    if rows:
        title = "Alerts, as Alertmanager told them"
        screen.print(alert_table(rows, now=time.time(), title=title, width=screen.width))


def _save(picture: Path, nodes: list[NodeRows]) -> None:
    import io

    from rich.console import Console

    canvas = Console(record=True, width=112, file=io.StringIO(), force_terminal=True)
    canvas.print(gpu_table(nodes, width=112))
    canvas.print(summary(nodes))
    text = canvas.export_svg(title="gpuscope demo")
    # Pictures of a repository must not load fonts from elsewhere.
    text = re.sub(r"@font-face \{.*?\}", "", text, flags=re.DOTALL).replace("Fira Code", "monospace")
    picture.write_text(text, encoding="utf-8")


def show_live(screen: Any, children: Children, running: Fleet, duration: float | None) -> None:
    """Shows the tables until Ctrl-C, or for so many seconds; without a terminal now and then as plain text."""
    end = time.monotonic() + duration if duration else float("inf")
    if not screen.is_terminal:
        while time.monotonic() < end:
            children.check()
            nodes, trouble = running.look()
            look = running.jobs.look()
            screen.print(gpu_table(nodes, width=screen.width))
            screen.print(trouble or summary(nodes), markup=False)
            screen.print(job_table(shown(look.jobs), width=screen.width))
            screen.print(look.problem or jobs_summary(look.jobs), markup=False)
            _print_alerts(screen, running)
            time.sleep(min(_PLAIN_LOOK_S, max(0.0, end - time.monotonic())))
        return

    def look_at(height: int) -> Screenful:
        children.check()
        nodes, silent = running.look()
        gpus = gpu_screenful(nodes, screen.width, height)
        jobs = jobs_screenful(running.jobs.look(), screen.width, height)
        told = running.alerts.rows() if running.alerts is not None else []
        alerts = alerts_screenful(told, time.time(), screen.width, height)
        trouble = "; ".join(filter(None, (silent, gpus.trouble, jobs.trouble)))
        return Screenful([*gpus.pages, *alerts.pages, *jobs.pages], trouble)

    where = [f"{node} http://{address}/" for node, address in running.agents.items()]
    boards = f"boards {running.boards.url}/   " if running.boards else ""
    alerts = f"alertmanager {running.alerts.url}/   " if running.alerts else ""
    head = (
        f"{boards}{alerts}prometheus {running.prometheus.url}/   collector {running.jobs.url}/api/v1/jobs   "
        f"agents (status page, /metrics, /api/v1): {'  '.join(where)}"
    )
    show(screen, look_at, interval_s=_LOOK_S, head=head, foot="Ctrl-C stops everything", until=end)
