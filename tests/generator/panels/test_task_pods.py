"""Panels of the Task board about pods and their hosts, on what kube-state-metrics, cAdvisor and node-exporter say."""

from pathlib import Path

from tests.generator.panels.test_task import column, shown
from tests.generator.promtool import expect

from gpuscope_generator.normalized import workload
from gpuscope_generator.panels import annotations, workload_hosts, workload_pods, workload_usage
from gpuscope_generator.panels.variables import IN_NAMESPACE
from gpuscope_generator.settings import Settings

RULES = ("kubernetes", "cadvisor", "node-exporter", "level-workload")
NOW = Settings()
POD = '{cluster="c",namespace="ml",workload_kind="StatefulSet",workload="s",pod="%s",node="n1"}'


def pods() -> dict[str, str]:
    """One pod that runs and was restarted, one that waits for its image; node n1 with traffic."""
    found: dict[str, str] = {}
    for name, phase, node in (("s-0", "Running", "n1"), ("s-1", "Pending", "n1")):
        own = f'cluster="c",namespace="ml",pod="{name}"'
        found |= {
            f'kube_pod_info{{{own},node="{node}",created_by_kind="StatefulSet",created_by_name="s"}}': "1x40",
            f'kube_pod_status_phase{{{own},phase="{phase}"}}': "1x40",
            f"kube_pod_created{{{own}}}": "100x40",
            f"kube_pod_status_scheduled_time{{{own}}}": "130x40",
            f'kube_pod_container_resource_limits{{{own},container="c",resource="cpu"}}': "4x40",
            f'kube_pod_container_resource_requests{{{own},container="c",resource="memory"}}': "512x40",
            f'kube_pod_container_resource_requests{{{own},container="c",resource="nvidia_com_gpu"}}': "8x40",
        }
    first, second = 'cluster="c",namespace="ml",pod="s-0"', 'cluster="c",namespace="ml",pod="s-1"'
    return found | {
        f"kube_pod_status_ready_time{{{first}}}": "190x40",
        f'kube_pod_container_status_restarts_total{{{first},container="c"}}': "0x17 1x20",
        f'kube_pod_container_status_last_terminated_reason{{{first},container="c",reason="Error"}}': "1x40",
        f'kube_pod_container_status_last_terminated_exitcode{{{first},container="c"}}': "139x40",
        f'kube_pod_container_status_waiting_reason{{{second},container="c",reason="ImagePullBackOff"}}': "1x40",
        f'container_cpu_usage_seconds_total{{{first},container="c",cpu="total"}}': "0+60x40",
        f'container_cpu_cfs_periods_total{{{first},container="c"}}': "0+300x40",
        f'container_cpu_cfs_throttled_periods_total{{{first},container="c"}}': "0+75x40",
        f'container_memory_working_set_bytes{{{first},container="c"}}': "256x40",
        'node_uname_info{cluster="c",instance="n1:9100",nodename="n1"}': "1x40",
        'node_uname_info{cluster="c",instance="n2:9100",nodename="n2"}': "1x40",
        'node_network_receive_bytes_total{cluster="c",instance="n1:9100",device="eth0"}': "0+960x40",
        'node_network_receive_bytes_total{cluster="c",instance="n2:9100",device="eth0"}': "0+960x40",
        'node_network_receive_drop_total{cluster="c",instance="n1:9100",device="eth0"}': "0+60x40",
        'node_pressure_io_waiting_seconds_total{cluster="c",instance="n1:9100"}': "0+15x40",
    }


def test_panels_of_pods(tmp_path: Path) -> None:
    by_pod, waits = workload_pods.usage_by_pod(NOW), workload_pods.pods_that_wait()
    exits, starts = workload_pods.container_exits(), workload_pods.pod_start_times()
    waiting, ended = POD % "s-1", POD % "s-0"
    expect(
        tmp_path,
        pods(),
        {
            shown(workload_usage.pods_by_phase()): {
                '{cluster="c",phase="Running"}': 1,
                '{cluster="c",phase="Pending"}': 1,
            },
            shown(workload_pods.pod_phases()): {
                '{cluster="c",namespace="ml",pod="s-0"}': 2,
                '{cluster="c",namespace="ml",pod="s-1"}': 1,
            },
            column(by_pod, "CPUs"): {ended: 2},
            column(by_pod, "Restarts"): {ended: 1},
            column(waits, "Has a reason"): {waiting.replace("}", ',container="c",reason="ImagePullBackOff"}'): 1},
            column(waits, "Requested"): {waiting.replace("}", ',resource="nvidia_com_gpu"}'): 8},
            column(exits, "Ended"): {ended.replace("}", ',container="c",reason="Error",exit_code="139"}'): 1},
            column(exits, "Restarts"): {ended.replace("}", ',container="c"}'): 1},
            column(starts, "Until scheduled"): {ended: 30, waiting: 30},
            column(starts, "Until ready"): {ended: 60},
        },
        variables={"aggregate_by": "pod"},
        only=RULES,
    )


def test_panels_of_cpu_memory_network_and_files(tmp_path: Path) -> None:
    """Defect 3: sums over containers and pods, with their limits beside them."""
    group, node = '{cluster="c",namespace="ml",workload="s"}', '{cluster="c",node="n1"}'
    expect(
        tmp_path,
        pods(),
        {
            shown(workload_hosts.cpu()): {group: 2},
            shown(workload_hosts.cpu(), 2): {group: 8},
            shown(workload_hosts.cpu_throttling()): {group: 0.25},
            shown(workload_hosts.memory()): {group: 256},
            shown(workload_hosts.memory(), 1): {group: 1024},
            shown(workload_hosts.node_network()): {'{cluster="c",node="n1",fabric="ethernet"}': 32},
            shown(workload_hosts.network_errors()): {'{cluster="c",node="n1",fabric="ethernet",type="drops"}': 2},
            shown(workload_hosts.io_pressure()): {node: 0.5},
        },
        variables={"aggregate_by": "workload"},
        only=RULES,
    )


def test_a_restart_an_xid_error_and_a_new_instance_are_marked_when_they_happen(tmp_path: Path) -> None:
    mig = 'mig:info:union{cluster="c",node="n1",gpu="0",uuid="U",gi="%s",profile="1g.10gb"}'
    samples = pods() | {
        'node:xid_errors:increase1h{cluster="c",node="n1",xid="79"}': "_x19 1x20",
        mig % 1: "1x40",
        mig % 2: "_x19 1x20",
        'ALERTS{cluster="c",alertname="GpuLost",alertstate="firing",component="gpu"}': "1x40",
        'ALERTS{cluster="c",alertname="KubePodCrashLooping",alertstate="firing"}': "1x40",
    }
    restart = '{cluster="c",namespace="ml",workload_kind="StatefulSet",workload="s",pod="s-0",node="n1",container="c"}'
    expect(
        tmp_path,
        samples,
        {
            annotations.xid_errors().expression: {
                'node:xid_errors:increase1h{cluster="c",node="n1",xid="79"}': 1,
            },
            annotations.restarts(IN_NAMESPACE).expression: {restart: 1},
            annotations.mig_changes().expression: {'{cluster="c",node="n1",profile="1g.10gb"}': 2},
            annotations.firing_alerts().expression: {
                'ALERTS{cluster="c",alertname="GpuLost",alertstate="firing",component="gpu"}': 1
            },
        },
        only=RULES,
    )
    assert workload.POD_RESTARTS in annotations.restarts().expression.series
