"""The Cluster board: the number that each panel about nodes and GPUs shows on a fleet that is known."""

from pathlib import Path

from tests.generator.panels.fleet_board import column, fleet, on_board, shown

from gpuscope_generator.dashboards import boards
from gpuscope_generator.dashboards.cluster import cluster_board
from gpuscope_generator.panels import capacity, gpus, nodes, power, queue_summary, temperature, versions
from gpuscope_generator.panels import fleet as overview
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Link, Noun

NOW = Settings()
C = '{cluster="c"}'


def at(node: str, more: str = "") -> str:
    return f'{{cluster="c",node="{node}"{more}}}'


def test_numbers_of_nodes_and_gpus(tmp_path: Path) -> None:
    """From expected to busy; free GPUs are not those of a cordoned node, nor of a dead one."""
    placeable = queue_summary.placeable()
    steps = ("expected", "answering", "healthy", "allocatable", "held", "busy", "tensor cores busy")
    numbers = (10, 7, 7, 6, 3, 1.5, 0.75)
    on_board(
        tmp_path,
        fleet(),
        {
            shown(overview.nodes_by_state()): {
                f'{{cluster="c",state="{state}"}}': number
                for state, number in {"all": 5, "ready": 3, "cordoned": 1, "not ready": 1, "unknown": 0}.items()
            },
            shown(overview.healthy_nodes()): {C: 0.6},
            shown(overview.missing_gpus()): {C: 3},
            shown(overview.gpu_funnel()): {
                f'{{cluster="c",step="{index} {step}"}}': number
                for index, (step, number) in enumerate(zip(steps, numbers, strict=True), 1)
            },
            column(capacity.gpus_by_model(), "Expected"): {
                '{cluster="c",model="H100"}': 6,
                '{cluster="c",model="A100"}': 2,
                '{cluster="c",model="unknown"}': 2,
            },
            column(capacity.gpus_by_model(), "Idle"): {
                '{cluster="c",model="H100"}': 1,
                '{cluster="c",model="A100"}': 0,
            },
            shown(capacity.gpus_over_time(), 3): {C: 1},
            shown(queue_summary.fragmentation()): {'{cluster="c",free="1"}': 1, '{cluster="c",free="2"}': 1},
            shown(placeable): {C: 3},
            shown(placeable, 1): {C: 2},
            shown(placeable, 2): {C: 2},
            column(nodes.instance_status(NOW), "Workloads"): {at("n1"): 2, at("n2"): 1},
            column(versions.versions(), "Nodes"): {
                '{cluster="c",component="driver",version="590.48"}': 2,
                '{cluster="c",component="driver",version="570.10"}': 1,
            },
            shown(power.cluster_power()): {C: 4 * 300 + 3 * 400},
            shown(power.cluster_power(), 1): {C: 7 * 700},
            shown(power.node_power()): {at("n1"): 700, at("n2"): 700, at("n3"): 300, at("n5"): 700},
            shown(temperature.headroom(NOW)): {at("n1"): 20, at("n2"): 20, at("n3"): 20, at("n5"): 20},
            column(nodes.instance_status(NOW), "Headroom"): {at(f"n{node}"): 20 for node in (1, 2, 3, 5)},
        },
    )


def test_hyperpod_defect_18_gpus_of_a_dead_node_are_missing_and_other_clusters_count_apart(tmp_path: Path) -> None:
    """No number of GPUs is fixed; a dead node has no series; a node of that name in another cluster counts there."""
    on_board(
        tmp_path,
        fleet(),
        {
            column(nodes.instance_status(NOW), "Broken"): {
                at("n1"): 0,
                at("n2"): 0,
                at("n3"): 1,
                at("n4"): 2,
                at("n5"): 0,
            },
            f"{shown(overview.missing_gpus())} + 0": {C: 3},
            'sum by (cluster) (cluster:gpus:count{cluster="e",state="missing"})': {'{cluster="e"}': 0},
        },
    )


def test_hyperpod_defect_19_the_number_of_nodes_needs_no_correction_by_hand(tmp_path: Path) -> None:
    """Every node that anybody tells of is one row, dead and cordoned ones too."""
    words = ',pool="train",instance_type="p5"'
    driver = ',driver="590.48"'
    on_board(
        tmp_path,
        fleet(),
        {
            column(nodes.instance_status(NOW), "Known"): {
                at("n1", f'{words},state="ready"{driver}'): 1,
                at("n2", f'{words},state="ready"{driver}'): 1,
                at("n3", ',pool="old",instance_type="p5",state="cordoned",reason="bad GPU",driver="570.10"'): 1,
                at("n4", f'{words},state="not_ready"'): 1,
                at("n5", f'{words},state="ready"'): 1,
            },
        },
    )


def test_complaint_27_activity_is_a_mean_and_never_a_sum_of_shares(tmp_path: Path) -> None:
    activity = gpus.activity()
    on_board(
        tmp_path,
        fleet(),
        {
            column(nodes.instance_status(NOW), "Activity"): {
                at("n1"): 0.5,
                at("n2"): 0.25,
                at("n3"): 0,
                at("n5"): 0,
            },
            f"round({shown(activity)} * 7, 0.001)": {C: 1.5},
            f"round({shown(activity, 2)} * 7, 0.001)": {C: 0.75},
            f"round({shown(activity, 4)}, 0.001)": {C: 0.1},
            f"round({shown(activity, 5)}, 0.001)": {C: 0.95},
            shown(gpus.activity_by_node(NOW)): {at("n1"): 0.5, at("n2"): 0.25, at("n3"): 0, at("n5"): 0},
            shown(gpus.least_active_nodes()): {at("n2"): 0.25, at("n1"): 0.5},
            f'{shown(gpus.activity_spread())} and on (le) label_replace(vector(1), "le", "0.5", "", "")': {
                '{cluster="c",le="0.5"}': 6
            },
        },
    )


def test_what_is_chosen_limits_the_nodes_and_keeps_the_dead_one(tmp_path: Path) -> None:
    table = nodes.instance_status(NOW)
    (tmp_path / "pool").mkdir()
    on_board(
        tmp_path / "pool",
        fleet(),
        {column(table, "Broken"): {at("n3"): 1}, column(table, "Power"): {at("n3"): 300}},
        node_pool="old",
    )
    (tmp_path / "model").mkdir()
    on_board(
        tmp_path / "model",
        fleet(),
        {
            column(table, "Broken"): {at("n1"): 0, at("n2"): 0, at("n4"): 2, at("n5"): 0},
            shown(overview.missing_gpus()): {C: 0},
        },
        gpu_model="H100",
    )


def test_hyperpod_defect_20_links_lead_to_our_boards_and_name_no_node() -> None:
    """Links carry the cell's own node, cluster and GPU, to variables that the other board has."""
    board = cluster_board(NOW)
    links = [
        link
        for panel in board.panels
        for link in (
            *panel.links,
            *(one for column in getattr(panel, "columns", ()) for one in column.links),
        )
    ]
    known = {one.noun: {variable.name for variable in one.variables} for one in boards(NOW)}
    assert {link.board for link in links if isinstance(link, Link)} == {*known} - {Noun.INFERENCE}
    for link in links:
        assert isinstance(link, Link), link
        assert all(value.startswith(("\x00cell:", "${__field.labels.")) for value in link.carry.values()), link
        assert set(link.carry) <= known[link.board], link
    assert {"Only this node", "This team's workloads", "Its MIG instances", "Its file systems"} <= {
        link.title for link in links
    }


def test_complaint_28_panels_are_of_kinds_that_grafana_still_draws() -> None:
    kinds = {panel.kind for panel in cluster_board(NOW).panels}
    assert not kinds & {"graph", "singlestat", "table-old"}
    assert kinds >= {"timeseries", "stat", "table", "heatmap", "status-history", "bargauge", "gauge", "alertlist"}


def test_states_in_words_have_their_colors() -> None:
    overrides = {one["matcher"]["options"]: one["properties"] for one in nodes.instance_status(NOW).overrides()}
    cells = {
        title: [one["value"]["type"] for one in found if one["id"] == "custom.cellOptions"]
        for title, found in overrides.items()
    }
    assert (cells["State"], cells.get("Driver", [])) == (["color-text"], [])
