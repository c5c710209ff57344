"""A real Prometheus with known series, and a board that meets everything a board can meet."""

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from gpuscope.demo.programs import find
from gpuscope_generator.live.panels import TimeRange
from gpuscope_generator.live.prometheus import Prometheus
from gpuscope_generator.promql import Matcher, Vector, counter, gauge, info, rate, select, sum_by
from gpuscope_generator.remote import Access
from gpuscope_generator.view import (
    Annotation,
    Board,
    Choice,
    DataSource,
    Explanation,
    LabelColumn,
    LabelValues,
    Noun,
    Panel,
    Prose,
    Query,
    Row,
    Stat,
    Table,
    TimeSeries,
    ValueColumn,
)

CACHE = Path(__file__).parents[3] / ".cache"
END = 1_790_000_000
START_S = 3600
IN_CLUSTER = Matcher("cluster", "=~", "$cluster")
IN_NODE = Matcher("node", "=~", "$node")

INFO = info("cluster:info:union", "cluster")
NODE_INFO = info("node:info:union", "cluster", "node")
POWER = gauge("node:power:sum", "cluster", "node")
JOBS = gauge("workload:jobs:count", "cluster", "workload")
EVENTS = counter("node:events:total", "cluster", "node")
BROKEN = gauge("node:broken:sum", "cluster", "node")
ABSENT = gauge("node:absent:sum", "cluster", "node")
EXPLANATION = Explanation(shows="It.", source="Tests.", good="One.", do="Nothing.")


@dataclass(frozen=True)
class Running:
    """A server and the folder that it runs in."""

    url: str
    folder: Path


def _lines() -> Iterator[str]:
    nodes = [("a", "gpu-1.x"), ("a", "gpu(2)"), ("b", 'gpu"3\\')]
    series = {
        "cluster:info:union": [f'cluster="{name}"' for name in "ab"],
        "node:info:union": [f'cluster="{cluster}",node="{_quoted(node)}"' for cluster, node in nodes],
        "node:power:sum": [f'cluster="{cluster}",node="{_quoted(node)}"' for cluster, node in nodes],
        "node:broken:sum": ['cluster="a",node="gpu-1.x"'],
        "workload:jobs:count": ['cluster="a",workload="train"'],
        "ALERTS": ['alertname="Hot",alertstate="firing",cluster="a"'],
    }
    for name, labels in series.items():
        yield f"# TYPE {name} gauge"
        for one in labels:
            for at in range(END - 2 * START_S, END + 1, 60):
                yield f"{name}{{{one}}} {'NaN' if 'broken' in name else 1} {at}"
    yield "# TYPE node:events counter"
    for at in range(END - 2 * START_S, END + 1, 60):
        yield f'node:events_total{{cluster="a",node="gpu-1.x"}} {at - END + 7200} {at}'
    yield "# EOF"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Prometheus with two hours of those series until ``END``."""
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "series.txt").write_text("\n".join(_lines()) + "\n")
    (folder / "prometheus.yml").write_text("global: {}\n")
    promtool, program = find("promtool", CACHE), find("prometheus", CACHE)
    done = subprocess.run(
        [promtool, "tsdb", "create-blocks-from", "openmetrics", "series.txt", "data"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [
                program,
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=data",
                "--storage.tsdb.retention.time=20y",
                "--web.listen-address=127.0.0.1:0",
            ],
            cwd=folder,
            stdout=log,
            stderr=log,
        )
    try:
        yield Running(_address(folder / "log", process), folder)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _address(log: Path, process: subprocess.Popen[bytes]) -> str:
    for _ in range(600):
        text = log.read_text()
        assert process.poll() is None, text
        found = [word for line in text.splitlines() if "Listening on" in line for word in line.split()]
        port = next((word.rpartition(":")[2].strip('"') for word in found if word.startswith("address=")), "")
        if port:
            url = f"http://127.0.0.1:{port}"
            try:
                if requests.get(f"{url}/-/ready", timeout=5).status_code == 200:
                    return url
            except requests.ConnectionError:
                pass
        time.sleep(0.1)
    raise AssertionError(log.read_text())


@pytest.fixture
def prometheus(running: Running) -> Prometheus:
    return Prometheus(running.url, Access())


@pytest.fixture
def when() -> TimeRange:
    return TimeRange(start=END - START_S, end=END, slow_s=60)


def graph(key: str, *expressions: Vector, instant: bool = False) -> TimeSeries:
    queries = tuple(Query(expression=expression, instant=instant) for expression in expressions)
    return TimeSeries(key=key, title=key.capitalize(), explanation=EXPLANATION, queries=queries)


def board(*panels: Panel, annotations: tuple[Annotation, ...] = ()) -> Board:
    """A board with the usual variables."""
    return Board(
        noun=Noun.CLUSTER,
        title="Board",
        description="Tests.",
        variables=(
            DataSource(),
            LabelValues(name="cluster", label="Cluster", selector=select(INFO), values_of="cluster", multi=False),
            LabelValues(name="node", label="Node", selector=select(NODE_INFO, IN_CLUSTER), values_of="node"),
            LabelValues(
                name="workload",
                label="Workload",
                selector=select(JOBS, IN_CLUSTER),
                values_of="workload",
                multi=False,
                include_all=False,
            ),
            Choice(name="top", label="Top", options=(("five", "5"), ("ten", "10"))),
        ),
        rows=(Row(title="", panels=panels[:1]), Row(title="More", panels=panels[1:], collapsed=True)),
        annotations=annotations,
    )


def every_kind() -> Board:
    """A panel for each status."""
    node_power = select(POWER, IN_CLUSTER, IN_NODE)
    return board(
        Stat(key="power", title="Power", explanation=EXPLANATION, queries=(Query(expression=sum_by(node_power)),)),
        graph("nodes", node_power),
        graph("events", rate(select(counter("node:events_total", "cluster", "node"), IN_CLUSTER, IN_NODE))),
        graph("absent", select(ABSENT, IN_CLUSTER)),
        graph("partly", select(ABSENT, IN_CLUSTER), node_power),
        graph("broken", select(BROKEN, IN_CLUSTER), instant=True),
        graph("mixed", select(BROKEN, IN_CLUSTER).or_(select(POWER, IN_CLUSTER))),
        graph("wrong", Vector('node:power:sum * on (cluster) node:power:sum{node=~"$node"}')),
        graph("job", select(JOBS, IN_CLUSTER, Matcher("workload", "=", "$workload"))),
        graph("picked", select(POWER, Matcher("cluster", "=", "$cluster"))),
        Table(
            key="table",
            title="Table",
            explanation=EXPLANATION,
            columns=(LabelColumn(label="node", title="Node"), ValueColumn(title="Power", expression=node_power)),
        ),
        Prose(key="text", title="Text", explanation=EXPLANATION, content="Words."),
        annotations=(
            Annotation(name="Alerts", expression=Vector('ALERTS{cluster=~"$cluster"}'), title="x", color="red"),
            Annotation(name="Never", expression=select(ABSENT), title="x", color="red"),
            Annotation(name="Wrong", expression=Vector("rate(up)"), title="x", color="red"),
        ),
    )
