"""What may be chosen on the Task board: chained, visible, cheap, and part of every query."""

from pathlib import Path

from tests.generator.promtool import expect

from gpuscope_generator.dashboards.task import task_board
from gpuscope_generator.normalized import workload
from gpuscope_generator.panels import workload_cost
from gpuscope_generator.panels.chosen import of_workloads
from gpuscope_generator.promql import select, sum_by
from gpuscope_generator.promql.series import Origin
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import LabelValues

BOARD = task_board(Settings())
CHAIN = ("cluster", "team", "namespace", "workload_kind", "workload", "pod", "gpu")


def variables() -> list[LabelValues]:
    return [one for one in BOARD.variables if isinstance(one, LabelValues)]


def test_each_variable_is_limited_by_those_left_of_it() -> None:
    """Defect 5, and complaint 21: namespaces of all clusters in the list of one."""
    assert tuple(one.name for one in variables()) == CHAIN
    for index, one in enumerate(variables()):
        assert [name for name in CHAIN[:index] if f'{name}=~"${name}"' not in one.query] == []


def test_variables_read_recorded_series_only() -> None:
    """Complaint 20: label_values of kube_pod_info takes ten seconds on a busy cluster."""
    assert {one.selector.selected.origin for one in variables()} == {Origin.RECORDED}


def test_the_cluster_is_shown_and_all_of_them_may_be_chosen() -> None:
    """Complaints 21 and 22: a hidden, or a demanded, label cluster empties boards of a single cluster."""
    cluster = variables()[0]
    assert (cluster.include_all, cluster.all_value, cluster.multi) == (True, ".*", False)


def test_every_query_is_limited_to_the_cluster() -> None:
    """Complaint 18: queries without the cluster read 150 clusters to show one."""
    for panel in BOARD.panels:
        for query in panel.queries:
            read = [one.name for one in query.expression.series]
            assert query.expression.text.count('cluster=~"$cluster"') == len(read), panel.key


def test_a_single_cluster_without_the_label_has_data(tmp_path: Path) -> None:
    """Complaints 21 and 22."""
    samples = {'gpu:owner:union{node="n1",gpu="0",uuid="U",workload_kind="slurm_job",workload="7"}': "1x40"}
    held = sum_by(of_workloads(workload.WORKLOAD_GPUS, state="allocated"), "cluster")
    known = 'workload:info:union{workload_kind="slurm_job",workload="7"}'
    expect(tmp_path, samples, {held: {"{}": 1}, select(workload.WORKLOAD_INFO): {known: 1}}, only=("level-workload",))


def test_long_ranges_read_one_series_a_workload_and_no_device() -> None:
    """Complaint 19: an increase over 30 days of thousands of series exceeds every limit."""
    for panel in (workload_cost.gpu_hours(Settings()), workload_cost.gpu_hours_by_model(Settings())):
        for query in panel.queries:
            assert {one.name.split(":")[0] for one in query.expression.series} == {"workload"}


def test_the_first_paint_is_cheap() -> None:
    first = [panel for row in BOARD.rows if not row.collapsed for panel in row.panels]
    queries = [query for panel in first for query in panel.queries]
    assert len(queries) <= 12
    assert {one.name.split(":")[0] for query in queries for one in query.expression.series} == {"workload"}
