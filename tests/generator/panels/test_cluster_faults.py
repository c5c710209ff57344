"""The Cluster board: faults, network, hosts and the hours of teams, on samples that are known."""

import re
from pathlib import Path

from tests.generator.panels.fleet_board import GIB, column, on_board, shown

from gpuscope_generator.panels import (
    capacity,
    host,
    network,
    nodes,
    nvlink,
    power,
    queue_summary,
    repairs,
    team_hours,
    xid,
)
from gpuscope_generator.settings import Settings
from gpuscope_generator.view.field import value_mappings

C = '{cluster="c"}'
NONE = ()
"""No rule file: the samples are what rules record."""


def level(series: str, labels: str, value: float | str, cluster_name: str = "c") -> dict[str, str]:
    values = value if isinstance(value, str) else f"{value}x20"
    return {f'{series}{{cluster="{cluster_name}",{labels}}}': values}


def words(code: str) -> str:
    return f'{{cluster="c",xid="{code}",meaning="{code}",severity="{code}",action="{code}"}}'


def test_xid_errors_of_an_hour_and_of_a_day_by_code(tmp_path: Path) -> None:
    """Every minute the count of the hour before: one 79 five hours ago, two 94 of which one is half an hour old."""
    samples = {
        **level("node:xid_errors:increase1h", 'node="n1",xid="79"', "0x59 1x59 0x300"),
        **level("node:xid_errors:increase1h", 'node="n1",xid="94"', "0x179 1x59 0x149 1x31"),
        **level("node:xid_errors:increase1h", 'node="n2",xid="48"', "0x421"),
    }
    table = xid.xid_codes()
    on_board(
        tmp_path,
        samples,
        {
            column(table, "24 h"): {words("79"): 1, words("94"): 2},
            column(table, "Last hour"): {words("94"): 1},
            column(table, "Nodes (last hour)"): {words("94"): 1},
            shown(xid.xid_over_time()): {'{cluster="c",xid="94"}': 1},
            column(nodes.instance_status(Settings()), "XID (24 h)"): {
                '{cluster="c",node="n1"}': 3,
                '{cluster="c",node="n2"}': 0,
            },
        },
        at="420m",
        every="1m",
        only=("level-fleet", "level-cluster"),
    )
    assert not [query for query in table.queries if "24h" in query.expression.text]


def test_xid_codes_are_shown_with_meaning_severity_and_advice() -> None:
    """As the agent's table says it; many codes share one pattern."""
    meanings, severities, advice = xid.xid_texts()

    def found(texts: dict[str, object], code: str) -> str:
        (text,) = [shown_as for pattern, shown_as in texts.items() if re.search(pattern.strip("/"), code)]
        return text.text  # type: ignore[attr-defined,no-any-return]

    assert meanings["79"].text.startswith("GPU has fallen off the bus")
    assert (found(dict(severities), "48"), found(dict(advice), "48")) == (
        "GPU or node is in trouble",
        "drain the node, reset the GPU",
    )
    assert (found(dict(severities), "31"), found(dict(advice), "31")) == ("work is lost", "restart the work")
    assert (found(dict(severities), "43"), found(dict(advice), "43")) == ("harmless", "nothing")
    exact, *patterns = value_mappings({"1": meanings["79"], "/^(1|2)$/": advice[next(iter(advice))]})
    assert (exact["type"], list(exact["options"])) == ("value", ["1"])
    assert [(one["type"], one["options"]["pattern"]) for one in patterns] == [("regex", "^(1|2)$")]


def test_gpus_to_repair_are_those_with_any_sign(tmp_path: Path) -> None:
    def gpu(number: int) -> str:
        return f'node="n1",gpu="{number}",uuid="GPU-{number}"'

    def row(number: int, more: str = "") -> str:
        return f'{{cluster="c",{gpu(number)}{more}}}'

    samples = {
        **level("gpu:up:bool", gpu(0), 0),
        **level("gpu:up:bool", gpu(1), 1),
        **level("gpu:recovery_action:bool", gpu(1) + ',action="none"', 1),
        **level("gpu:recovery_action:bool", gpu(2) + ',action="gpu_reset"', 1),
        **level("gpu:row_remapping_pending:bool", gpu(1), 0),
        **level("gpu:row_remapping_pending:bool", gpu(2), 1),
        **level("gpu:row_remapping_failed:bool", gpu(3), 1),
        **level("gpu:fault:bool", gpu(3) + ',fault="memory_unrepairable"', 1),
        **level("gpu:ecc_errors_total:union", gpu(3) + ',severity="uncorrected"', "0+1x20"),
        **level("gpu:ecc_errors_total:union", gpu(1) + ',severity="uncorrected"', "5x20"),
        **level("gpu:ecc_errors_total:union", gpu(1) + ',severity="corrected"', "0+9x20"),
        **level("gpu:remapped_rows:union", gpu(2) + ',cause="uncorrectable"', 2),
        **level("gpu:remapped_rows:union", gpu(1) + ',cause="correctable"', 7),
        **level("gpu:nvlink_links:union", gpu(0) + ',state="down"', 18),
        **level("gpu:nvlink_links:union", gpu(1) + ',state="down"', 0),
        **level("cluster:ecc_errors:increase1h", 'severity="uncorrected"', 3),
    }
    table = repairs.gpus_to_repair()
    on_board(
        tmp_path,
        samples,
        {
            column(table, "Lost"): {row(0): 1},
            column(table, "Asks for anything"): {row(2, ',action="gpu_reset"'): 1},
            column(table, "Waits for a reset"): {row(2): 1},
            column(table, "Remapping failed"): {row(3): 1},
            column(table, "Has a fault"): {row(3, ',fault="memory_unrepairable"'): 1},
            column(table, "Uncorrected ECC"): {row(3): 20},
            column(table, "Rows remapped"): {row(2): 2},
            column(table, "Links down"): {row(0): 18},
            shown(repairs.ecc_errors()): {'{cluster="c",severity="uncorrected"}': 3},
        },
        at="10m",
        only=NONE,
    )


def _host(name: str, **counters: str) -> dict[str, str]:
    where = f'cluster="c",instance="{name}:9100"'
    return {f'node_uname_info{{{where},nodename="{name}"}}': "1x20"} | {
        f"{metric}{{{where},{labels}}}": values
        for metric, (labels, values) in ((each.split(" ")[0], text.split(" ", 1)) for each, text in counters.items())
    }


def test_hyperpod_defect_21_network_follows_the_chosen_node_and_adds_both_directions(tmp_path: Path) -> None:
    """Bytes are bytes; one port of n1 is down and adds nothing to the line rate."""
    port = 'device="mlx5_0",port="1"'
    samples = {
        **_host(
            "n1",
            node_infiniband_port_data_received_bytes_total=f"{port} 0+3000x20",
            node_infiniband_port_data_transmitted_bytes_total=f"{port} 0+6000x20",
            node_infiniband_rate_bytes_per_second=f"{port} 1000x20",
            node_network_speed_bytes='device="eth0" -125000x20',
            node_infiniband_link_downed_total=f"{port} 0+30x20",
        ),
        **_host("n2", node_infiniband_port_data_received_bytes_total=f"{port} 0+9000x20"),
    }
    table = network.network_by_node()
    n1 = '{cluster="c",node="n1",fabric="infiniband"}'
    on_board(
        tmp_path,
        samples,
        {
            column(table, "Sent and received"): {n1: 300},
            column(table, "Line rate"): {n1: 1000},
            column(table, "Sent, of line rate"): {n1: 0.2},
            column(table, "Received, of line rate"): {n1: 0.1},
            shown(network.network_errors()): {n1.replace("}", ',type="link_downs"}'): 1},
        },
        at="6m",
        only=("node-exporter",),
        node=["n1"],
    )
    units = {one.title: one.unit.value for one in table.values}
    assert units["Sent and received"] == units["Line rate"] == "Bps"


def test_hosts_disks_links_and_energy(tmp_path: Path) -> None:
    n1 = '{cluster="c",node="n1"}'
    at = 'node="n1"'
    samples = {
        **level("node:cpus:count", at, 64),
        **level("node:cpu_used:rate5m", at, 48),
        **level("node:load1:union", at, 96),
        **level("node:memory_used_bytes:union", at, 24 * GIB),
        **level("node:memory_total_bytes:union", at, 96 * GIB),
        **level("node:pressure:ratio_rate5m", at + ',resource="io"', 0.25),
        **level("node:disk_used_bytes:union", at + ',mountpoint="/"', 30 * GIB),
        **level("node:disk_total_bytes:union", at + ',mountpoint="/"', 40 * GIB),
        **level("node:nvlink_bytes:rate5m", at + ',direction="tx"', 5e9),
        **level("node:nvlink_errors:increase1h", at + ',type="replay"', 4),
        'cluster:gpu_power_watts:sum{cluster="c"}': "600x60",
    }
    samples |= {
        f'cluster:{name}{{cluster="c"{labels}}}': f"{value}x20"
        for name, labels, value in (
            ("disk_bytes:sum", ',state="used"', 30),
            ("disk_bytes:sum", ',state="total"', 40),
            ("cpus:count", ',state="total"', 64),
            ("filesystem_size_bytes:sum", "", 10),
            ("filesystem_used_bytes:sum", "", 5),
        )
    }
    disks = host.disks(Settings())
    totals = capacity.totals(Settings())
    on_board(
        tmp_path,
        samples,
        {
            column(host.hosts(), "CPU"): {n1: 0.75},
            column(host.hosts(), "Load for each CPU"): {n1: 1.5},
            column(host.hosts(), "Memory"): {n1: 0.25},
            column(host.hosts(), "Waits for disk"): {n1: 0.25},
            column(host.hosts(), "Waits for memory"): None,
            shown(host.pressure()): {n1.replace("}", ',resource="io"}'): 0.25},
            column(totals, "Local disks used"): {C: 0.75},
            column(totals, "CPUs"): {C: 64},
            column(totals, "File systems used"): {C: 0.5},
            column(disks, "In use"): {n1.replace("}", ',mountpoint="/"}'): 0.75},
            shown(nvlink.nvlink_traffic()): {n1: 5e9},
            shown(nvlink.nvlink_errors()): {n1.replace("}", ',type="replay"}'): 4},
            f"round({shown(power.energy(Settings()))}, 1)": {C: 210},
        },
        at="20m",
        every="1m",
        only=NONE,
    )


def test_hours_of_teams_and_their_cost_for_models_with_a_price(tmp_path: Path) -> None:
    def held(model: str, state: str, value: float) -> dict[str, str]:
        return level("team:gpus:count", f'team="nlp",namespace="ml",queue="q",model="{model}",state="{state}"', value)

    settings = Settings(prices={"H100": 3.0})
    table = team_hours.hours_by_team(settings)
    nlp = '{cluster="c",team="nlp",namespace="ml"}'
    samples = held("H100", "allocated", 12) | held("H100", "idle", 3) | held("A100", "allocated", 6)
    on_board(
        tmp_path,
        samples
        | level("queue:quota:sum", 'source="kueue",queue="q",resource="nvidia.com/gpu",state="nominal"', 16)
        | level("queue:quota:sum", 'source="kueue",queue="q",resource="nvidia.com/gpu",state="used"', 20)
        | level("queue:quota:sum", 'source="kueue",queue="q",resource="cpu",state="used"', 20)
        | level("pod:gpus_requested:sum", 'namespace="ml",workload="w",resource="nvidia_com_gpu"', 8),
        {
            f"round({column(table, 'GPU-hours')}, 0.1)": {nlp: 3.3},
            f"round({column(table, 'Idle share')} * 6, 0.001)": {nlp: 1},
            f"round({column(table, 'Cost')}, 0.1)": {nlp: 6.6},
            f"round({column(table, 'Idle cost')}, 0.01)": {nlp: 1.65},
            column(queue_summary.gpu_quota(), "Used of quota"): {
                '{cluster="c",source="kueue",queue="q",resource="nvidia.com/gpu"}': 1.25
            },
            column(queue_summary.waiting(), "Number"): {
                '{cluster="c",namespace="ml",workload="w",resource="nvidia_com_gpu"}': 8
            },
        },
        at="20m",
        every="1m",
        only=NONE,
        settings=settings,
    )
    assert {"Cost", "Idle cost"} & {one.title for one in team_hours.hours_by_team(Settings()).values} == set()
