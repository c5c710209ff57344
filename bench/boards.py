"""What the boards cost on a large cluster: time and samples read by each query of the first paint.

The recorded series that the open rows of a board read are written as blocks of a day, once for one node with eight
GPUs and once for many nodes; both are served by a real Prometheus, and every query is asked as Grafana asks it.
Raw series are in no block: no query of an open row names one. A query whose rows are nodes or workloads reads one sample
for each of them, so that it grows with the cluster, as its answer does; all others must not.

    python bench/boards.py [--nodes 1250] [--hours 24] [--step 60] [--board cluster --board task]
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import requests
from blocks import LARGE, SMALL, write_blocks
from started import free_port, running, wait_for

from gpuscope_generator.dashboards import boards
from gpuscope_generator.grafana import board_json
from gpuscope_generator.promql import Series
from gpuscope_generator.promql.filling import Filling, filled, step
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, LabelValues

PROGRAMS = Path(__file__).parent.parent / ".cache" / "programs" / "usr" / "bin"
LIMIT_S = 1.0
LIMIT_RATIO = 10.0
RANGE_S = 21_600
"""Six hours: what a board shows when it opens."""
POINTS = 1000
MIN_STEP_S = 30.0


@dataclass(frozen=True)
class Asked:
    """One request of a board that opens.

    Attributes:
        key: of the panel, with the number of the query; or of the variable.
        path: below ``/api/v1``.
        query: expression, or selector of a variable.
        rows: what the answer has a row for, or the reader may choose from; empty for an overview.
    """

    key: str
    path: str
    query: str
    rows: str = ""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """A Prometheus on the blocks in a folder, which it leaves as they are; gives its address."""
    port = free_port()
    config, log = folder / "empty.yml", folder / "prometheus.log"
    config.write_text("global: {}\n")
    command = [PROGRAMS / "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}"]
    command += ["--storage.tsdb.retention.time=10y", f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    command += ["--storage.tsdb.min-block-duration=2h", "--storage.tsdb.max-block-duration=2h"]
    with running(command, log) as process:
        wait_for(f"http://127.0.0.1:{port}/-/ready", process, log)
        yield f"http://127.0.0.1:{port}"


def _rows(series: tuple[Series, ...]) -> str:
    for label in ("node", "workload"):
        if any(label in one.labels for one in series):
            return f"{label}s"
    return ""


def asked(board: Board) -> Iterator[Asked]:
    """What a board asks before anybody opens a row."""
    for variable in board.variables:
        if isinstance(variable, LabelValues):
            path = f"label/{variable.values_of}/values"
            yield Asked(f"${variable.name}", path, variable.selector.text, "a choice")
    shown = [panel for row in board.rows if not row.collapsed for panel in row.panels]
    written = [panel for panel in board_json(board, Settings())["panels"] if panel["type"] != "row"]
    for one, panel in zip(shown, written, strict=True):
        for query, target in zip(one.queries, panel.get("targets", []), strict=True):
            path = "query" if target["instant"] else "query_range"
            yield Asked(f"{one.key}.{target['refId']}", path, target["expr"], _rows(query.expression.series))


def read_by(board: Board) -> dict[str, Series]:
    """The recorded series that the open rows and the variables read."""
    expressions = [q.expression for row in board.rows if not row.collapsed for p in row.panels for q in p.queries]
    expressions += [variable.selector for variable in board.variables if isinstance(variable, LabelValues)]
    return {series.name: series for expression in expressions for series in expression.series}


def ask(url: str, one: Asked, filling: Filling, end: int) -> tuple[float, int, int]:
    """Best of three times in seconds, samples read, and what came back: series, or values."""
    text = filled(one.query, filling)
    data: dict[str, Any] = {"query": text, "stats": "all"}
    if one.path == "query":
        data |= {"time": end}
    elif one.path == "query_range":
        data |= {"start": end - RANGE_S, "end": end, "step": step(RANGE_S, POINTS, MIN_STEP_S)}
    else:
        data = {"match[]": text, "start": end - RANGE_S, "end": end}
    times = []
    for _ in range(3):
        began = time.perf_counter()
        if one.path.startswith("query"):
            answer = requests.post(f"{url}/api/v1/{one.path}", data=data, timeout=120).json()
        else:
            answer = requests.get(f"{url}/api/v1/{one.path}", params=data, timeout=120).json()
        times.append(time.perf_counter() - began)
        if answer["status"] != "success":
            raise SystemExit(f"{one.key}: {text}\n{answer['error']}")
    found = answer["data"]
    if isinstance(found, list):
        return min(times), 0, len(found)
    return min(times), int(found["stats"]["samples"]["totalQueryableSamples"]), len(found["result"])


def _compared(board: Board, urls: list[str], filling: Filling, end: int) -> int:
    """Prints a line for each request of a board; how many break the budget."""
    broken = 0
    for one in asked(board):
        small_s, small_n, _ = ask(urls[0], one, filling, end)
        large_s, large_n, found = ask(urls[1], one, filling, end)
        ratio = large_n / max(small_n, 1)
        over = large_s > LIMIT_S or (not one.rows and ratio > LIMIT_RATIO)
        broken += over
        print(
            f"{board.noun.value + '/' + one.key:32} {small_s * 1e3:6.1f} ms {large_s * 1e3:7.1f} ms {small_n:9,} "
            f"{large_n:11,} {ratio:7.1f} {found:6,}  {one.rows}{'  OVER' if over else ''}"
        )
    return broken


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=LARGE.nodes, help="nodes of the large cluster, of eight GPUs each")
    parser.add_argument("--workloads", type=int, default=LARGE.workloads, help="workloads of the large cluster")
    parser.add_argument("--hours", type=float, default=24, help="length of the blocks")
    parser.add_argument("--step", type=int, default=60, help="seconds between two samples")
    parser.add_argument("--board", action="append", help="board to ask; cluster and task where not given")
    return parser.parse_args()


def main() -> int:
    """Builds both stores, asks every query, prints a table; 1 when an overview query breaks the budget."""
    options = _options()
    wanted = options.board or ["cluster", "task"]
    chosen = [board for board in boards(Settings()) if board.noun.value in wanted]
    read: dict[str, Series] = {}
    for board in chosen:
        read |= read_by(board)
    large = replace(LARGE, nodes=options.nodes, workloads=options.workloads)
    end = int(time.time()) // 7200 * 7200
    span = range(end - int(options.hours * 3600), end, options.step)
    variables = [variable for board in chosen for variable in board.variables if isinstance(variable, LabelValues)]
    values = {variable.name: variable.all_value for variable in variables}
    filling = Filling(values=values | {"aggregate_by": "workload", "datasource": "bench"})
    with tempfile.TemporaryDirectory(prefix="gpuscope-boards-") as name, contextlib.ExitStack() as stack:
        urls = []
        for label, size in (("small", SMALL), ("large", large)):
            folder = Path(name) / label
            folder.mkdir()
            began = time.monotonic()
            count, samples = write_blocks(PROGRAMS / "promtool", folder, list(read.values()), size, span)
            took = time.monotonic() - began
            print(
                f"{label}: {size.nodes:,} nodes, {count:,} series of {len(read)} names, {samples:,} samples; {took:.0f} s"
            )
            urls.append(stack.enter_context(served(folder)))
        print(
            f"{'board/request':32} {'small':>9} {'large':>10} {'samples':>9} {'samples':>11} {'ratio':>7} {'found':>6}  rows"
        )
        broken = sum(_compared(board, urls, filling, end - options.step) for board in chosen)
    print(f"at most {LIMIT_S:.0f} s, and {LIMIT_RATIO:.0f} times the samples without rows: {broken or 'none'} over")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
