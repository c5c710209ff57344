"""Hosts from node-exporter, and pods from cAdvisor."""

from pathlib import Path

from tests.generator.promtool import expect

from gpuscope_generator.normalized import node, workload
from gpuscope_generator.promql import select

RULES = ("kubernetes", "node-exporter", "cadvisor")
GIB = 2**30


def host(instance: str, nodename: str, more: str = "") -> dict[str, str]:
    own = f'{more}job="node-exporter",instance="{instance}"'
    cpu = f"node_cpu_seconds_total{{{own}"
    return {
        f'node_uname_info{{{own},nodename="{nodename}"}}': "1x40",
        f"node_boot_time_seconds{{{own}}}": "0x40",
        f'{cpu},cpu="0",mode="idle"}}': "0+30x40",
        f'{cpu},cpu="0",mode="iowait"}}': "0x40",
        f'{cpu},cpu="0",mode="user"}}': "0x40",
        f'{cpu},cpu="1",mode="idle"}}': "0+6x40",
        f'{cpu},cpu="1",mode="iowait"}}': "0+9x40",
        f"node_memory_MemTotal_bytes{{{own}}}": "100x40",
        f"node_memory_MemAvailable_bytes{{{own}}}": "25x40",
    }


def test_the_name_of_a_host_whatever_its_address(tmp_path: Path) -> None:
    """Complaint 25: node, nodename and instance name the same machine."""
    samples = (
        host("gpu-1:9100", "gpu-1.example.com")
        | host("10.0.0.2:9100", "gpu-2")
        | host("10.0.0.3:9100", "ip-10-0-0-3", 'node="gpu-3",')
    )
    expect(
        tmp_path,
        samples,
        {
            select(node.SYSTEM_MEMORY_USED): {
                f'node:memory_used_bytes:union{{node="{name}"}}': 75 for name in ("gpu-1", "gpu-2", "gpu-3")
            },
            select(node.CPUS, node="gpu-1"): {'node:cpus:count{node="gpu-1"}': 2},
            select(node.CPU_USED, node="gpu-1"): {'node:cpu_used:rate5m{node="gpu-1"}': 0.5},
            select(node.UPTIME, node="gpu-1"): {'node:uptime_seconds:union{node="gpu-1"}': 600},
        },
        only=RULES,
    )


def test_two_jobs_that_scrape_one_host_double_nothing(tmp_path: Path) -> None:
    """Complaint 24: no job is named in a query, and foreign hosts are told apart by their cluster."""
    samples = host("a:9100", "a", 'cluster="x",') | host("a:9100", "a", 'cluster="y",')
    samples |= {key.replace('job="node-exporter"', 'job="again"'): value for key, value in samples.items()}
    expect(
        tmp_path,
        samples,
        {
            select(node.CPUS): {
                'node:cpus:count{cluster="x",node="a"}': 2,
                'node:cpus:count{cluster="y",node="a"}': 2,
            },
            select(node.SYSTEM_MEMORY_USED): {
                'node:memory_used_bytes:union{cluster="x",node="a"}': 75,
                'node:memory_used_bytes:union{cluster="y",node="a"}': 75,
            },
            select(node.CPU_USED, cluster="x"): {'node:cpu_used:rate5m{cluster="x",node="a"}': 0.5},
        },
        only=RULES,
    )


def test_local_disks_only_and_each_once(tmp_path: Path) -> None:
    samples = {'node_uname_info{instance="a:9100",nodename="a"}': "1x40"}
    for mount, fstype, device in (
        ("/", "ext4", "/dev/nvme0"),
        ("/data", "xfs", "/dev/md0"),
        ("/var/lib/kubelet/pods/x/volumes/y", "ext4", "/dev/nvme0"),
        ("/run", "tmpfs", "tmpfs"),
        ("/fsx", "lustre", "10.0.0.9@tcp:/fsx"),
    ):
        own = f'instance="a:9100",mountpoint="{mount}",fstype="{fstype}",device="{device}"'
        samples |= {
            f"node_filesystem_size_bytes{{{own}}}": f"{100 * GIB}x40",
            f"node_filesystem_free_bytes{{{own}}}": f"{40 * GIB}x40",
        }
    expect(
        tmp_path,
        samples,
        {
            select(node.DISK_USED): {
                'node:disk_used_bytes:union{node="a",mountpoint="/"}': 60 * GIB,
                'node:disk_used_bytes:union{node="a",mountpoint="/data"}': 60 * GIB,
            }
        },
        only=RULES,
    )


def test_traffic_and_errors_by_fabric(tmp_path: Path) -> None:
    samples = {'node_uname_info{instance="a:9100",nodename="a"}': "1x40"}
    for device in ("eth0", "ens5", "bond0", "cali123", "lo", "eth0.7"):
        samples[f'node_network_receive_bytes_total{{instance="a:9100",device="{device}"}}'] = "0+300x40"
    for port in ("mlx5_0", "mlx5_1"):
        own = f'instance="a:9100",device="{port}",port="1"'
        samples[f"node_infiniband_port_data_transmitted_bytes_total{{{own}}}"] = "0+3000x40"
        samples[f"node_infiniband_symbol_error_total{{{own}}}"] = "0+30x40"
        samples[f"node_infiniband_port_errors_received_total{{{own}}}"] = "0+15x40"
    samples['node_amazonefa_rx_bytes{instance="a:9100",device="rdmap0",port="1"}'] = "0+600x40"
    samples['node_amazonefa_retrans_pkts{instance="a:9100",device="rdmap0",port="1"}'] = "0+30x40"
    expect(
        tmp_path,
        samples,
        {
            select(node.NETWORK_BYTES): {
                'node:network_bytes:rate5m{node="a",fabric="ethernet",direction="rx"}': 20,
                'node:network_bytes:rate5m{node="a",fabric="infiniband",direction="tx"}': 200,
                'node:network_bytes:rate5m{node="a",fabric="efa",direction="rx"}': 20,
            },
            select(node.NETWORK_ERRORS): {
                'node:network_errors:rate5m{node="a",fabric="infiniband",type="errors"}': 3,
                'node:network_errors:rate5m{node="a",fabric="efa",type="retransmissions"}': 1,
            },
        },
        only=RULES,
    )


def test_pressure_is_a_share_of_time(tmp_path: Path) -> None:
    samples = {
        'node_uname_info{instance="a:9100",nodename="a"}': "1x40",
        'node_pressure_io_waiting_seconds_total{instance="a:9100"}': "0+6x40",
    }
    expect(
        tmp_path,
        samples,
        {select(node.PRESSURE): {'node:pressure:ratio_rate5m{node="a",resource="io"}': 0.2}},
        only=RULES,
    )


def test_a_pod_is_the_sum_of_its_containers(tmp_path: Path) -> None:
    """Defect 3: an average over containers shows one container in place of the pod."""
    of_pod = 'namespace="ml",pod="p"'
    samples = {
        f'kube_pod_info{{{of_pod},node="n1",created_by_kind="StatefulSet",created_by_name="s"}}': "1x40",
    }
    for container, cpu, memory in (("a", 60, 1000), ("b", 30, 500), ("POD", 300, 1), ("", 390, 1501)):
        for scraper in ("one", "two"):
            own = f'{of_pod},container="{container}",instance="10.0.0.1:10250",job="{scraper}"'
            samples[f'container_cpu_usage_seconds_total{{{own},cpu="total"}}'] = f"0+{cpu}x40"
            samples[f"container_memory_working_set_bytes{{{own}}}"] = f"{memory}x40"
    own = f'{of_pod},container="a",instance="10.0.0.1:10250"'
    samples |= {
        f"container_cpu_cfs_periods_total{{{own}}}": "0+300x40",
        f"container_cpu_cfs_throttled_periods_total{{{own}}}": "0+75x40",
        f"container_oom_events_total{{{own}}}": "0x10 1x30",
        f'container_network_receive_bytes_total{{{of_pod},interface="eth0",instance="10.0.0.1:10250"}}': "0+960x40",
    }
    who = '{namespace="ml",pod="p",node="n1",workload_kind="StatefulSet",workload="s"'
    expect(
        tmp_path,
        samples,
        {
            select(workload.POD_CPU): {f"pod:cpu_used:rate5m{who}}}": 3},
            select(workload.POD_MEMORY): {f"pod:memory_used_bytes:sum{who}}}": 1500},
            select(workload.POD_CPU_THROTTLED): {f"pod:cpu_throttled:ratio_rate5m{who}}}": 0.25},
            select(workload.POD_NETWORK): {f'pod:network_bytes:rate5m{who},direction="rx"}}': 32},
            select(workload.POD_OOM).compare(">", 0).compare(">", 0.9): {f"pod:oom_kills:increase1h{who}}}": 1.0},
        },
        only=RULES,
    )
