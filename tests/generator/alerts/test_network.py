"""Alerts about ports of the network between GPUs."""

from pathlib import Path

from tests.generator.alerting import fires, says

RULES = ("node-exporter", "ports", "network")
MINUTE = "1m"
DOWN, ACTIVE = 1, 4
HDR = 25_000_000_000


def host(node: str, *, booted: float = -100_000, values: str = "{}x200") -> dict[str, str]:
    at = f'cluster="c",job="node-exporter",instance="{node}:9100"'
    return {
        f'node_uname_info{{{at},nodename="{node}"}}': values.format(1),
        f"node_boot_time_seconds{{{at}}}": values.format(booted),
    }


def port(
    node: str, state: str, *, device: str = "mlx5_0", rate: str = f"{HDR}x200", downs: str = "0x200", bad: str = "0x200"
) -> dict[str, str]:
    at = f'cluster="c",job="node-exporter",instance="{node}:9100",device="{device}",port="1"'
    return {
        f"node_infiniband_state_id{{{at}}}": state,
        f"node_infiniband_rate_bytes_per_second{{{at}}}": rate,
        f"node_infiniband_link_downed_total{{{at}}}": downs,
        f"node_infiniband_symbol_error_total{{{at}}}": bad,
    }


def firing(name: str, node: str, severity: str = "warning", device: str = "mlx5_0") -> str:
    return f'{name}{{cluster="c", node="{node}", device="{device}", port="1", severity="{severity}"}}'


UP = f"{ACTIVE}x200"
LATER_DOWN = f"{ACTIVE}x60 {DOWN}x140"


def test_a_port_that_was_active_and_is_down_or_gone(tmp_path: Path) -> None:
    samples = (
        host("a") | port("a", LATER_DOWN) | host("b") | port("b", f"{ACTIVE}x60 stale") | host("d") | port("d", UP)
    )
    both = [firing("FabricLinkDown", node, "critical") for node in ("a", "b")]
    # Down, or gone, from 61 minutes on; three minutes later it fires.
    expected = {"60m": [], "63m": [], "64m": both, "180m": both}
    fires(tmp_path, samples, expected, every=MINUTE, only=RULES)


def test_a_port_that_nobody_uses_is_not_down(tmp_path: Path) -> None:
    samples = host("a") | port("a", UP) | port("a", f"{DOWN}x200", device="mlx5_1", rate="_x200")
    fires(tmp_path, samples, {f"{minute}m": [] for minute in range(0, 200, 10)}, every=MINUTE, only=RULES)


def test_a_boot_maintenance_and_a_dead_node(tmp_path: Path) -> None:
    """A node that booted within a quarter of an hour, one that is worked on, and one whose exporter is gone."""
    samples = (
        host("boots", values="-100000x60 3600x140") | port("boots", f"{ACTIVE}x60 {DOWN}x12 {ACTIVE}x128")
        | host("planned") | port("planned", LATER_DOWN)
        | {'node:maintenance:bool{cluster="c",node="planned"}': "1x200"}
        | host("dead", values="{}x60 stale") | port("dead", f"{ACTIVE}x60 stale")
    )  # fmt: skip
    del samples['node_uname_info{cluster="c",job="node-exporter",instance="boots:9100",nodename="boots"}']
    samples['node_uname_info{cluster="c",job="node-exporter",instance="boots:9100",nodename="boots"}'] = "1x200"
    fires(tmp_path, samples, {f"{minute}m": [] for minute in range(60, 110, 5)}, every=MINUTE, only=RULES)


def test_many_nodes_at_once_are_one_fault(tmp_path: Path) -> None:
    samples: dict[str, str] = {}
    for number in range(20):
        samples |= host(f"n{number}") | port(f"n{number}", LATER_DOWN if number < 3 else UP)
    links = [firing("FabricLinkDown", f"n{number}", "critical") for number in range(3)]
    many = 'FabricLinksDownMany{cluster="c", severity="critical"}'
    fires(tmp_path / "three", samples, {"62m": [], "70m": [*links, many]}, every=MINUTE, only=RULES)
    for number in range(2):
        samples |= port(f"n{number}", UP)
    fires(tmp_path / "one", samples, {"70m": [links[2]]}, every=MINUTE, only=RULES)


def test_a_link_that_comes_and_goes_is_one_alert(tmp_path: Path) -> None:
    """Half a minute on and off for an hour: never down for three minutes, and flapping all the time."""
    states = " ".join([str(ACTIVE)] * 120 + [str(DOWN), str(ACTIVE)] * 60 + [str(ACTIVE)] * 100)
    rising = " ".join(["0"] * 120 + [str(count // 2) for count in range(120)] + ["59"] * 100)
    values = "{}x400"
    samples = host("a", values=values) | port("a", states, downs=rising, rate=f"{HDR}x400", bad="0x400")
    flapping = [firing("FabricLinkFlapping", "a")]
    expected = {"60m": [], **{f"{minute}m": flapping for minute in range(66, 160, 2)}}
    fires(tmp_path, samples, expected, every="30s", only=RULES)


def test_twice_in_an_hour_a_counter_that_begins_anew_and_a_boot(tmp_path: Path) -> None:
    samples = (
        host("twice") | port("twice", UP, downs="0x60 1x10 2x130")
        | host("reset") | port("reset", UP, downs="7x60 0x140")
        | host("boots", booted=3600) | port("boots", UP, downs="0x60 4x140")
    )  # fmt: skip
    fires(tmp_path, samples, {f"{minute}m": [] for minute in range(60, 130, 5)}, every=MINUTE, only=RULES)


def test_a_slower_link_and_a_noisy_one(tmp_path: Path) -> None:
    samples = (
        host("slow") | port("slow", UP, rate=f"{HDR}x60 {HDR / 2:.0f}x140")
        | host("noisy") | port("noisy", UP, bad="0+3x200")
        | host("quiet") | port("quiet", UP, bad="0+2x200")
        # It is down: that is another alert.
        | host("off") | port("off", LATER_DOWN, rate=f"{HDR}x60 {HDR / 10:.0f}x140")
    )  # fmt: skip
    slow, noisy = firing("FabricLinkDegraded", "slow"), firing("FabricLinkDegraded", "noisy")
    off = firing("FabricLinkDown", "off", "critical")
    fires(tmp_path, samples, {"55m": [], "75m": [noisy, off], "77m": [noisy, slow, off]}, every=MINUTE, only=RULES)


def test_what_it_says(tmp_path: Path) -> None:
    says(
        tmp_path,
        host("a") | port("a", LATER_DOWN),
        "FabricLinkDown",
        [
            {
                "labels": {
                    "cluster": "c",
                    "node": "a",
                    "device": "mlx5_0",
                    "port": "1",
                    "severity": "critical",
                    "scope": "node",
                    "component": "network",
                    "audience": "platform",
                    "fault_class": "net_link",
                },
                "annotations": {
                    "summary": "A port of the network between GPUs has lost its link.",
                    "description": "Port 1 of mlx5_0 on node a was active within the last seven days, and is down or "
                    "gone now. Jobs over several nodes are slow there, or hang.",
                    "location": "node a, device mlx5_0, port 1",
                    "owner": "nobody known",
                    "recommended_action": "Keep new work off the node; then look at cable, transceiver and the port of "
                    "the switch.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/FabricLinkDown.md",
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c&var-node=a",
                },
            }
        ],
        at="70m",
        every=MINUTE,
        only=RULES,
    )
