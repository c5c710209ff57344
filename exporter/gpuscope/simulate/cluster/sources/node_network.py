"""The network as node-exporter tells of it: interfaces, InfiniBand ports, and EFA devices."""

from gpuscope.simulate.cluster.curves import Wave
from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.workloads import steady
from gpuscope.simulate.cluster.world import World

__all__ = ["add_efa", "add_infiniband", "add_network"]

_PORTS = 8
_LINE_RATE = 50_000_000_000
_TRAINING_RATE = 18e9
_BAD_PORT = 3
_EFA = {
    "tx_bytes": 1.0, "rx_bytes": 0.98, "tx_pkts": 1 / 8192, "rx_pkts": 0.98 / 8192, "send_bytes": 0.2,
    "send_wrs": 0.2 / 65_536, "recv_bytes": 0.2, "recv_wrs": 0.2 / 65_536, "rdma_read_bytes": 0.1,
    "rdma_read_resp_bytes": 0.1, "rdma_read_wrs": 0.1 / 1e6, "rdma_write_bytes": 0.7, "rdma_write_recv_bytes": 0.7,
    "rdma_write_wrs": 0.7 / 1e6, "submitted_cmds": 1e-12, "completed_cmds": 1e-12,
}  # fmt: skip
_EFA_ERRORS = (
    "rx_drops", "retrans_bytes", "retrans_pkts", "retrans_timeout_events", "impaired_remote_conn_events",
    "unresponsive_remote_events", "rdma_read_wr_err", "rdma_write_wr_err", "cmds_err",
)  # fmt: skip


def add_network(page: Page, world: World, machine: Machine) -> None:
    """``node_network_*``."""
    passed = world.t - world.since
    swing = Wave(1.0, 0.4, 2400.0, steady(machine.name)).total(world.since, world.t)
    for device, rate in (("eth0", 120e6), ("lo", 2e6)):
        for way, part in (("receive", 1.0), ("transmit", 0.7)):
            seen = swing * rate * part
            for name, value in (("bytes", seen), ("packets", seen / 1400), ("errs", 0), ("drop", passed / 9000)):
                page.counter(f"node_network_{way}_{name}_total", f"Network device statistic {way}_{name}.").add(
                    int(value), device=device
                )
        page.gauge("node_network_up", "Value is 1 if operstate is 'up', 0 otherwise.").add(1, device=device)
        page.gauge("node_network_speed_bytes", "Network device property: speed_bytes").add(12.5e9, device=device)
        page.counter("node_network_carrier_changes_total", "Network device property: carrier_changes_total").add(
            2, device=device
        )


def _errors(world: World, machine: Machine) -> int:
    """How often a link of the node went down: it takes a training job with it."""
    return sum(
        training.attempts.ended(world.since, world.t, "nccl_timeout")
        for training in world.all_trainings
        if training.attempts and machine.name == training.nodes[-1]
    )


def add_infiniband(page: Page, world: World, machine: Machine) -> None:
    """``node_infiniband_*``."""
    trained = world.training_seconds(machine)
    passed = world.t - world.since
    downs = _errors(world, machine)
    for port in range(_PORTS):
        device = f"mlx5_{port}"
        base = labels(device=device, port="1")
        bad = downs if port == _BAD_PORT else 0
        moved = trained * _TRAINING_RATE * (0.97 + 0.06 * steady(f"{machine.name}/{port}")) + passed * 4e3
        counters = {
            "port_data_received_bytes_total": moved * 0.99, "port_data_transmitted_bytes_total": moved,
            "port_packets_received_total": moved / 4096, "port_packets_transmitted_total": moved / 4096,
            "port_transmit_wait_total": trained * 1e5, "symbol_error_total": bad * 40, "link_downed_total": bad,
            "link_error_recovery_total": bad, "local_link_integrity_errors_total": 0,
            "port_discards_transmitted_total": bad * 12, "port_errors_received_total": bad * 3,
            "port_receive_remote_physical_errors_total": 0, "port_receive_switch_relay_errors_total": 0,
            "out_of_sequence_packets_received_total": trained / 50, "packet_sequence_errors_total": trained / 400,
            "local_ack_timeout_errors_total": bad, "roce_adp_retransmits_total": trained / 300,
            "np_cnp_packets_sent_total": trained * 3, "np_ecn_marked_roce_packets_received_total": trained * 5,
            "rp_cnp_packets_handled_total": trained * 3,
        }  # fmt: skip
        for name, value in counters.items():
            page.counter(f"node_infiniband_{name}", f"InfiniBand counter {name}.").add(int(value), base)
        for name, level in (("rate_bytes_per_second", _LINE_RATE), ("state_id", 4), ("physical_state_id", 5)):
            page.gauge(f"node_infiniband_{name}", f"InfiniBand port {name}.").add(level, base)
        page.gauge("node_infiniband_info", "Non-numeric data from /sys/class/infiniband/<device>.").add(
            1, device=device, board_id="MT_0000000838", firmware_version="28.43.2026", hca_type="MT4129"
        )


def add_efa(page: Page, world: World, machine: Machine) -> None:
    """``node_amazonefa_*``, from the hardware counters of EFA devices."""
    trained = world.training_seconds(machine)
    downs = _errors(world, machine)
    for port in range(_PORTS):
        base = labels(device=f"rdmap{port}s0", port="1")
        moved = trained * _TRAINING_RATE * 0.5 + (world.t - world.since) * 4e3
        for name, share in _EFA.items():
            page.counter(f"node_amazonefa_{name}", f"EFA hardware counter {name}.").add(int(moved * share), base)
        for name in _EFA_ERRORS:
            scale = 8900 if name.endswith("bytes") else 1
            bad = (trained / 60 if "retrans" in name and "timeout" not in name else 0) + (
                downs if port == _BAD_PORT else 0
            )
            page.counter(f"node_amazonefa_{name}", f"EFA hardware counter {name}.").add(int(bad) * scale, base)
        page.counter("node_amazonefa_lifespan", "EFA hardware counter lifespan.").add(12, base)
        page.gauge("node_amazonefa_info", "Non-numeric data of an EFA device.").add(1, base, hca_type="efa")
