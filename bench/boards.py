"""What the boards cost on a large cluster: time and samples read by each query of the first paint.

The recorded series that the open rows of a board read are written as blocks of a day, once for one node with eight
GPUs and once for many nodes; both are served by a real Prometheus, and every query is asked as Grafana asks it.
A query that lists nodes, or goes over the workloads that the reader may choose from, reads one sample for each of them;
all others must not grow with the cluster.

    python bench/boards.py [--nodes 1250] [--hours 24] [--step 60] [--board cluster --board task]
"""

import argparse
import contextlib
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import requests
from started import free_port, running, wait_for

from gpuscope_generator.dashboards import boards
from gpuscope_generator.grafana import board_json
from gpuscope_generator.promql import Series
from gpuscope_generator.promql.filling import Filling, filled, step
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, LabelValues, Table

PROGRAMS = Path(__file__).parent.parent / ".cache" / "programs" / "usr" / "bin"
FEW = {
    "state": (
        "expected",
        "present",
        "healthy",
        "allocatable",
        "allocated",
        "idle",
        "missing",
        "total",
        "ready",
        "free",
    ),
    "phase": ("Running", "Pending", "Failed", "Succeeded"),
    "what": ("compute", "sm", "tensor", "memory_bandwidth"),
    "source": ("gpuscope", "dcgm", "kubernetes"),
    "xid": ("79", "94", "31"),
    "class": ("saturated",),
}
LIMIT_S = 1.0
LIMIT_RATIO = 10.0


@dataclass(frozen=True)
class Size:
    """How large a cluster is."""

    nodes: int
    workloads: int


SMALL = Size(nodes=1, workloads=1)


def label_sets(series: Series, size: Size) -> Iterator[dict[str, str]]:
    """Every label set of a recorded series in a cluster of that size."""
    labels = series.labels
    rows: list[dict[str, str]] = [{}]
    if "workload" in labels:
        rows = [
            {
                "namespace": f"team-{w % 40}",
                "workload_kind": "Job",
                "workload": f"train-{w}",
                "team": f"team-{w % 40}",
                "queue": "h100",
            }
            for w in range(size.workloads)
        ]
    elif "node" in labels:
        rows = [{"node": f"gpu-{n}"} for n in range(size.nodes)]
        if "uuid" in labels:
            rows = [row | {"gpu": str(g), "uuid": f"GPU-{row['node']}-{g}"} for row in rows for g in range(8)]
    for row in rows:
        known = [{"cluster": "bench"} | {label: value for label, value in row.items() if label in labels}]
        for label in labels:
            if label not in known[0]:
                known = [one | {label: value} for one in known for value in FEW.get(label, (f"some-{label}",))]
        yield from known


def write_openmetrics(file: Path, read: list[Series], size: Size, start: int, args: argparse.Namespace) -> int:
    """One line a sample; returns how many."""
    times = range(start, start + int(args.hours * 3600), args.step)
    # A few courses of values, written out once: the text of a day is many gigabytes otherwise spent on formatting.
    endings = [[f"{phase + math.sin(t / 3600 + phase):.2f} {t}\n" for t in times] for phase in range(1, 8)]
    written = 0
    with file.open("w") as out:
        for series in read:
            out.write(f"# TYPE {series.name} gauge\n")
            for index, labels in enumerate(label_sets(series, size)):
                inner = ",".join(f'{label}="{value}"' for label, value in labels.items())
                head = f"{series.name}{{{inner}}} "
                out.writelines(head + ending for ending in endings[index % len(endings)])
                written += len(times)
        out.write("# EOF\n")
    return written


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """A Prometheus on the blocks in a folder; gives its address."""
    port = free_port()
    config, log = folder / "empty.yml", folder / "prometheus.log"
    config.write_text("global: {}\n")
    command = [PROGRAMS / "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}"]
    command += ["--storage.tsdb.retention.time=10y", f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    with running(command, log) as process:
        wait_for(f"http://127.0.0.1:{port}/-/ready", process, log)
        yield f"http://127.0.0.1:{port}"


def opened(board: Board) -> list[tuple[str, bool, str, bool, float]]:
    """(panel, lists entities, query, instant, minimal step) of the rows that are open when the board opens."""
    keys = {panel.title: panel for row in board.rows if not row.collapsed for panel in row.panels}
    found = []
    for panel in board_json(board, Settings())["panels"]:
        if panel["type"] == "row" or panel["title"] not in keys:
            continue
        one = keys[panel["title"]]
        lists = isinstance(one, Table) or any("workload" in s.labels for q in one.queries for s in q.expression.series)
        found.extend((one.key, lists, t["expr"], t["instant"], 30.0) for t in panel.get("targets", []))
    for variable in board.variables:
        if isinstance(variable, LabelValues):
            found.append(
                (
                    f"variable {variable.name}",
                    True,
                    f"group by ({variable.values_of}) ({variable.selector.text})",
                    True,
                    30.0,
                )
            )
    return found


def read_by(board: Board) -> list[Series]:
    """The recorded series that the open rows and the variables read."""
    found: dict[str, Series] = {}
    for row in board.rows:
        if not row.collapsed:
            for panel in row.panels:
                for query in panel.queries:
                    found |= {series.name: series for series in query.expression.series}
    for variable in board.variables:
        if isinstance(variable, LabelValues):
            found |= {series.name: series for series in variable.selector.series}
    return list(found.values())


def ask(url: str, query: str, instant: bool, end: int, min_step: float) -> tuple[float, int, int]:
    """Best of three times in seconds, samples read, and series found."""
    distance = step(21_600, 1000, min_step)
    where = {"time": end} if instant else {"start": end - 21_600, "end": end, "step": distance}
    path = "query" if instant else "query_range"
    times = []
    for _ in range(3):
        began = time.perf_counter()
        answer = requests.post(
            f"{url}/api/v1/{path}", data={"query": query, "stats": "all", **where}, timeout=120
        ).json()
        times.append(time.perf_counter() - began)
        if answer["status"] != "success":
            raise SystemExit(f"{query}\n{answer['error']}")
    data = answer["data"]
    return min(times), int(data["stats"]["samples"]["totalQueryableSamples"]), len(data["result"])


def main() -> int:
    """Builds both blocks, asks every query, prints a table; 1 when an overview query breaks the budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1250, help="nodes of the large cluster, of eight GPUs each")
    parser.add_argument("--workloads", type=int, default=300, help="workloads of the large cluster")
    parser.add_argument("--hours", type=float, default=24, help="length of the blocks")
    parser.add_argument("--step", type=int, default=60, help="seconds between two samples")
    parser.add_argument("--board", action="append", help="board to ask; cluster and task where not given")
    args = parser.parse_args()
    wanted = args.board or ["cluster", "task"]
    chosen = [board for board in boards(Settings()) if board.noun.value in wanted]
    read = list({series.name: series for board in chosen for series in read_by(board)}.values())
    large = Size(args.nodes, args.workloads)
    end = int(time.time()) // 3600 * 3600
    start = end - int(args.hours * 3600)
    values = {
        variable.name: variable.all_value
        for board in chosen
        for variable in board.variables
        if isinstance(variable, LabelValues)
    }
    values |= {"aggregate_by": "workload", "datasource": "bench"}
    filling = Filling(values=values)
    broken = 0
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        urls = []
        for label, size in (("small", SMALL), ("large", large)):
            folder = Path(name) / label
            folder.mkdir()
            text = folder / "samples.om"
            began = time.monotonic()
            written = write_openmetrics(text, read, size, start, args)
            subprocess.run(
                [
                    PROGRAMS / "promtool",
                    "tsdb",
                    "create-blocks-from",
                    "openmetrics",
                    "--max-block-duration=24h",
                    "-q",
                    text,
                    folder / "data",
                ],
                check=True,
            )
            text.unlink()
            print(
                f"{label}: {written:,} samples of {len(read)} series names in blocks after {time.monotonic() - began:.0f} s"
            )
            urls.append(stack.enter_context(served(folder)))
        print(f"{'board/panel':42} {'small':>8} {'large':>8}  {'samples':>9} {'samples':>11} {'ratio':>7}")
        for board in chosen:
            for key, lists, query, instant, min_step in opened(board):
                text = filled(query, filling)
                small_s, small_n, _ = ask(urls[0], text, instant, end - 60, min_step)
                large_s, large_n, found = ask(urls[1], text, instant, end - 60, min_step)
                ratio = large_n / max(small_n, 1)
                over = large_s > LIMIT_S or (not lists and ratio > LIMIT_RATIO)
                broken += over
                mark = " OVER" if over else " lists" if lists else ""
                print(
                    f"{board.noun.value + '/' + key:42} {small_s * 1e3:6.1f}ms {large_s * 1e3:6.1f}ms  {small_n:9,} {large_n:11,} {ratio:7.1f}{mark} ({found} series)"
                )
    print(
        f"budget: at most {LIMIT_S:.0f} s a query; queries that list nothing read at most {LIMIT_RATIO:.0f} times as much: {'BROKEN' if broken else 'kept'}"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
