"""Which sources are there, how many of their targets answer, how old they are, and what our agents lack."""

from pathlib import Path

from tests.generator.promtool import expect

from gpuscope_generator.normalized import source
from gpuscope_generator.promql import select
from gpuscope_generator.settings import Settings

RULES = ("health",)
TWO_NODES = {
    'node_boot_time_seconds{job="node-exporter",instance="a:9100"}': "1x40",
    'node_boot_time_seconds{job="node-exporter",instance="b:9100"}': "1x8 stale",
    'node_uname_info{job="node-exporter",instance="a:9100",nodename="a"}': "1x40",
    'up{job="node-exporter",instance="a:9100"}': "1x40",
    'up{job="node-exporter",instance="b:9100"}': "1x8 0x40",
    'up{job="something-else",instance="c:1"}': "0x40",
}


def test_a_target_that_stops_answering_counts_as_down_and_absent_sources_give_nothing(tmp_path: Path) -> None:
    expect(
        tmp_path,
        TWO_NODES,
        {
            select(source.PRESENT): {'source:present:bool{source="node-exporter"}': 1},
            select(source.TARGETS): {
                'source:targets:count{source="node-exporter",state="up"}': 1,
                'source:targets:count{source="node-exporter",state="down"}': 1,
            },
            select(source.AGE): {'source:age_seconds:max{source="node-exporter"}': 0},
            select(source.PROBLEM): None,
        },
        only=RULES,
    )


def test_a_source_of_which_every_target_is_down_is_absent_and_still_counted(tmp_path: Path) -> None:
    samples = {
        'kube_node_info{job="ksm",instance="k:8080",node="a"}': "1x8 stale",
        'up{job="ksm",instance="k:8080"}': "1x8 0x40",
    }
    expect(
        tmp_path,
        samples,
        {
            select(source.PRESENT): None,
            select(source.TARGETS): {'source:targets:count{source="kube-state-metrics",state="down"}': 1},
        },
        only=RULES,
    )


def test_two_clusters_stand_apart_under_the_label_that_the_settings_name(tmp_path: Path) -> None:
    samples = {
        'kube_node_info{cluster_name="a",job="ksm",instance="k:1",node="n"}': "1x40",
        'kube_node_info{cluster_name="b",job="ksm",instance="k:1",node="n"}': "1x40",
        'kube_node_info{cluster_name="b",job="ksm",instance="k:2",node="n"}': "1x40",
    }
    expect(
        tmp_path,
        samples,
        {
            select(source.TARGETS, state="up"): {
                'source:targets:count{cluster="a",source="kube-state-metrics",state="up"}': 1,
                'source:targets:count{cluster="b",source="kube-state-metrics",state="up"}': 2,
            }
        },
        settings=Settings(cluster_label="cluster_name"),
        only=RULES,
    )


def test_a_source_that_repeats_old_samples_shows_its_age(tmp_path: Path) -> None:
    samples = {'vllm:num_requests_running{job="v",instance="v:8000",model_name="m"}': "1x18"}
    expect(tmp_path, samples, {select(source.AGE): {'source:age_seconds:max{source="vllm"}': 60}}, only=RULES)


def test_what_our_agents_lack_is_told_with_its_reason(tmp_path: Path) -> None:
    samples = {
        'gpuscope_driver_unavailable_info{instance="a:9836",reason="library_not_found"}': "1x40",
        'gpuscope_collector_success{instance="a:9836",collector="power"}': "0x40",
        'gpuscope_collector_success{instance="a:9836",collector="memory"}': "1x40",
        'gpuscope_gpu_worker_stuck{instance="a:9836",gpu="3",uuid="GPU-d"}': "1x40",
        'gpuscope_attribution_source_failure_info{instance="a:9836",source="kubelet",reason="refused"}': "1x40",
        'gpuscope_collector_source_failure_info{instance="c:9837",scheduler="slurm",reason="timeout"}': "1x40",
    }
    agent = 'source:problem:union{source="gpuscope",node="a",part='
    expect(
        tmp_path,
        samples,
        {
            select(source.PROBLEM): {
                f'{agent}"driver",reason="library_not_found"}}': 1,
                f'{agent}"power",reason="it failed on at least one GPU: see the agent\'s log"}}': 1,
                f'{agent}"GPU 3",reason="a call of the driver does not return"}}': 1,
                f'{agent}"allocations from kubelet",reason="refused"}}': 1,
                'source:problem:union{source="collector",node="c",part="slurm",reason="timeout"}': 1,
            }
        },
        only=RULES,
    )


def test_lustre_is_a_problem_only_where_no_place_gives_its_numbers(tmp_path: Path) -> None:
    lustre = "gpuscope_lustre_source_unavailable_info"
    samples = {
        f'{lustre}{{instance="a:1",param="stats",source="procfs",reason="missing"}}': "1x40",
        'gpuscope_lustre_source_available{instance="a:1",param="stats",source="debugfs"}': "1x40",
        f'{lustre}{{instance="b:1",param="stats",source="debugfs",reason="permission"}}': "1x40",
        'gpuscope_lustre_source_available{instance="b:1",param="stats",source="debugfs"}': "0x40",
    }
    expected = 'source:problem:union{source="gpuscope",node="b",part="Lustre stats",reason="permission"}'
    expect(tmp_path, samples, {select(source.PROBLEM): {expected: 1}}, only=RULES)


def test_calls_that_the_driver_refuses_are_summed_over_the_nodes(tmp_path: Path) -> None:
    samples = {
        'gpuscope_nvml_unsupported{instance="a:1",call="nvmlDeviceGetFanSpeed"}': "8x40",
        'gpuscope_nvml_unsupported{instance="b:1",call="nvmlDeviceGetFanSpeed"}': "4x40",
        'gpuscope_nvml_unsupported{instance="b:1",call="nvmlDeviceGetPowerUsage"}': "0x40",
        'gpuscope_nvml_errors_total{instance="b:1",call="nvmlDeviceGetPowerUsage",code="15"}': "0+30x40",
        'gpuscope_nvml_errors_total{instance="a:1",call="nvmlDeviceGetPowerUsage",code="15"}': "5x40",
    }
    expect(
        tmp_path,
        samples,
        {
            select(source.UNSUPPORTED): {'source:unsupported:sum{call="nvmlDeviceGetFanSpeed"}': 12},
            select(source.FAILING_CALLS): {'source:failing_calls:rate5m{call="nvmlDeviceGetPowerUsage",code="15"}': 1},
        },
        only=RULES,
    )
