"""The Task board: the number that each panel shows on a known workload."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.fleet import Device, dcgm

from gpuscope_generator.dashboards.task import task_board
from gpuscope_generator.panels import classes, workload_cost, workload_gpus, workload_usage
from gpuscope_generator.panels.chosen import AGGREGATE_BY
from gpuscope_generator.promql import Expression
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Link, Noun, Panel, Table

GIB = 2**30
RULES = ("level-workload", "level-team")
NOW = Settings()


def holder(gpu: int, pod: str, *, namespace: str = "ml", workload: str = "train", kind: str = "JobSet") -> str:
    return (
        f'gpu:owner:union{{cluster="c",node="n1",gpu="{gpu}",uuid="GPU-{gpu}",namespace="{namespace}",pod="{pod}",'
        f'workload_kind="{kind}",workload="{workload}",team="nlp"}}'
    )


def reading(series: str, gpu: int) -> str:
    return f'{series}{{cluster="c",node="n1",gpu="{gpu}",uuid="GPU-{gpu}"}}'


def job(*, samples: int = 40) -> dict[str, str]:
    """Two pods with two H100 each, one GPU idle; a second workload with one GPU."""
    found: dict[str, str] = {}
    holders = [holder(0, "a"), holder(1, "a"), holder(2, "b"), holder(3, "b"), holder(4, "s", workload="serve")]
    for gpu, (who, busy) in enumerate(zip(holders, (0.875, 0.625, 1.0, 0.0, 0.5), strict=True)):
        found |= {
            who: f"1x{samples}",
            reading("gpu:compute_active:ratio_union", gpu): f"{busy}x{samples}",
            reading("gpu:tensor_active:ratio_union", gpu): f"{busy / 2}x{samples}",
            reading("gpu:memory_used_bytes:union", gpu): f"{40 * GIB}x{samples}",
            reading("gpu:memory_total_bytes:union", gpu): f"{80 * GIB}x{samples}",
            reading("gpu:power_watts:union", gpu): f"300x{samples}",
            reading("gpu:idle:bool", gpu): f"{int(busy == 0)}x{samples}",
            f'gpu:info:union{{cluster="c",node="n1",gpu="{gpu}",uuid="GPU-{gpu}",model="H100"}}': f"1x{samples}",
        }
    return found


def shown(panel: Panel, index: int = 0) -> Expression:
    return panel.queries[index].expression


def column(table: Table, title: str) -> Expression:
    return next(one.expression for one in table.values if one.title == title)


TRAIN = '{cluster="c",namespace="ml",workload_kind="JobSet",workload="train",team="nlp"}'
SERVE = TRAIN.replace("train", "serve")


def test_gpus_held_at_work_and_idle(tmp_path: Path) -> None:
    expect(
        tmp_path,
        job(),
        {
            shown(workload_usage.held_gpus()): {'{cluster="c"}': 5},
            shown(workload_usage.busy_gpus()): {'{cluster="c"}': 4},
            shown(workload_usage.idle_gpus()): {'{cluster="c"}': 1},
        },
        only=RULES,
    )


def test_figures_follow_what_is_chosen(tmp_path: Path) -> None:
    """Defect 5: variables that nothing reads."""
    expect(
        tmp_path,
        job(),
        {shown(workload_usage.held_gpus()): {'{cluster="c"}': 1}},
        variables={"workload": "serve"},
        only=RULES,
    )


def test_the_table_of_workloads(tmp_path: Path) -> None:
    """Complaint 34, and defect 1: memory is a share of bytes, whatever unit its source had."""
    table = workload_usage.usage_by_workload(NOW)
    expect(
        tmp_path,
        job(),
        {
            column(table, "GPUs"): {TRAIN: 4, SERVE: 1},
            column(table, "GPU activity"): {TRAIN: 0.625, SERVE: 0.5},
            column(table, "Tensor activity"): {TRAIN: 0.3125, SERVE: 0.25},
            column(table, "GPU memory"): {TRAIN: 0.5, SERVE: 0.5},
            column(table, "GPU power"): {TRAIN: 1200, SERVE: 300},
        },
        only=RULES,
    )


def test_graphs_are_grouped_by_what_the_reader_chooses(tmp_path: Path) -> None:
    """Defect 3: pods of two GPUs are a mean over GPUs; complaint 27: shares are never added."""
    activity, memory = workload_gpus.compute_activity(), workload_gpus.gpu_memory()
    expect(
        tmp_path,
        job(),
        {
            shown(activity): {
                '{cluster="c",namespace="ml",pod="a"}': 0.75,
                '{cluster="c",namespace="ml",pod="b"}': 0.5,
                '{cluster="c",namespace="ml",pod="s"}': 0.5,
            },
            shown(memory): {
                '{cluster="c",namespace="ml",pod="a"}': 80 * GIB,
                '{cluster="c",namespace="ml",pod="b"}': 80 * GIB,
                '{cluster="c",namespace="ml",pod="s"}': 40 * GIB,
            },
        },
        variables={"aggregate_by": "pod"},
        only=RULES,
    )


def test_memory_that_dcgm_counts_in_mib_is_bytes_on_the_board(tmp_path: Path) -> None:
    """Defect 1, from the exporter's own series to the panel."""
    expect(
        tmp_path,
        dcgm(Device(pod="train-0", used=40 * GIB)),
        {shown(workload_gpus.gpu_memory()): {'{namespace="ml",pod="train-0"}': 40 * GIB}},
        at="2m",
        variables={"aggregate_by": "pod"},
        only=("dcgm", "level-workload"),
    )


def test_each_label_to_group_by_is_one_that_pods_have(tmp_path: Path) -> None:
    power = str(shown(workload_gpus.gpu_power()))
    names = {"workload": "serve", "pod": "s", "namespace": "ml", "team": "nlp", "node": "n1"}
    assert [value for _, value in AGGREGATE_BY.options] == list(names)
    expected = {
        power.replace("$aggregate_by", label): {
            '{cluster="c",namespace="ml"' + ("" if label == "namespace" else f',{label}="{name}"') + "}": 300.0
        }
        for label, name in names.items()
    }
    expect(tmp_path, job(), expected, variables={"workload": "serve"}, only=RULES)


def test_hours_cost_energy_and_class_of_the_last_hour(tmp_path: Path) -> None:
    priced, other = Settings(prices={"H100": 3.0, "A100": 1.5}), Settings(prices={"A100": 1.5})
    total, idle = workload_cost.cost_panels(priced)
    by_model, table = workload_cost.gpu_hours_by_model(priced), classes.use_of_gpus(NOW)
    team = '{cluster="c",team="nlp",namespace="ml",model="H100"}'
    expect(
        tmp_path,
        job(samples=160),
        {
            shown(workload_cost.gpu_hours(NOW)): {'{cluster="c"}': 5},
            shown(workload_cost.idle_gpu_hours(NOW)): {'{cluster="c"}': 1},
            shown(workload_cost.idle_share_by_workload(NOW)): {'{cluster="c",namespace="ml",workload="train"}': 1},
            shown(total): {'{cluster="c"}': 15},
            shown(idle): {'{cluster="c"}': 3},
            shown(workload_cost.cost_panels(other)[0]): None,
            column(by_model, "GPU-hours"): {team: 5},
            column(by_model, "Cost"): {team: 15},
            shown(workload_gpus.energy(NOW)): {'{cluster="c"}': 1500},
            column(table, "Activity (1 h)"): {TRAIN: 0.625, SERVE: 0.5},
            column(table, "GPU memory (1 h)"): {TRAIN: 0.5, SERVE: 0.5},
            column(table, "Idle GPU-hours"): {TRAIN: 1, SERVE: 0},
            column(table, "Has a class"): {
                TRAIN.replace("}", ',class="compute_bound_small"}'): 1,
                SERVE.replace("}", ',class="underused"}'): 1,
            },
        },
        at="75m",
        every="60s",
        range_s=3599,
        only=RULES,
    )


def test_without_prices_the_board_says_how_to_set_them() -> None:
    (told,) = workload_cost.cost_panels(NOW)
    assert told.kind == "text"
    assert "`prices`" in str(told.options()["content"])
    table = workload_cost.gpu_hours_by_model(NOW)
    assert "Cost" not in [one.title for one in table.columns]


def test_every_gpu_of_the_chosen_workload_and_no_other(tmp_path: Path) -> None:
    expect(
        tmp_path,
        job(),
        {shown(workload_gpus.activity_by_gpu(NOW)): {'{cluster="c",node="n1",gpu="4"}': 0.5}},
        variables={"workload": "serve"},
        only=RULES,
    )


def test_clocks_that_are_held_down(tmp_path: Path) -> None:
    throttled = '{cluster="c",node="n1",gpu="%s",uuid="GPU-%s",reason="%s"}'
    samples = job() | {
        "gpu:throttled:ratio_rate5m" + throttled % (0, 0, "hw_thermal"): "0.5x40",
        "gpu:throttled:ratio_rate5m" + throttled % (1, 1, "sw_power_cap"): "0.05x40",
        "gpu:throttled:ratio_rate5m" + throttled % (7, 7, "hw_thermal"): "1x40",
    }
    of_gpu = '{cluster="c",node="n1",gpu="%s",reason="%s"}'
    expect(
        tmp_path,
        samples,
        {shown(workload_gpus.throttled()): {of_gpu % (0, "heat (hardware)"): 1}},
        only=RULES,
    )


def test_no_panel_shows_anything_where_nothing_is_known(tmp_path: Path) -> None:
    board = task_board(NOW)
    queries = {
        query.expression: None
        for row in board.rows
        for panel in row.panels
        for query in panel.queries
        if panel.key != "sources"
    }
    expect(tmp_path, {'up{job="x"}': "1x40"}, queries, variables={"aggregate_by": "pod"}, only=RULES)


def test_links_lead_on_from_workload_pod_and_node() -> None:
    """Defects 20 and 24: links to nowhere, and no drill-down at all."""
    links = [
        link
        for panel in task_board(NOW).panels
        for one in (panel.links, *(getattr(c, "links", ()) for c in getattr(panel, "columns", ())))
        for link in one
        if isinstance(link, Link)
    ]
    boards = {link.board for link in links}
    assert boards == set(Noun)
    assert all(link.carry for link in links)
    assert all("cluster" in link.carry for link in links)
