"""What the agent tells that needs more than a name."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.fleet import SOON, Device, native

from gpuscope_generator.settings import Settings

WHERE = 'instance="10.0.0.1:9836",node="n1",gpu="0",uuid="GPU-a"'
AT = 'gpu="0",node="n1",uuid="GPU-a"'
ONLY = ("gpuscope", "devices")


def test_xids_of_an_hour_are_whole_events_summed_over_instances(tmp_path: Path) -> None:
    """One code rose by two before the hour and by one in it; one appeared with its first event; one began anew."""
    at = "gpuscope_gpu_xid_errors_total{" + WHERE
    expect(
        tmp_path,
        {
            f'{at},xid="79",gi="",ci=""}}': "2x15 3x20",
            f'{at},xid="31",gi="1",ci="0"}}': "_x15 1x20",
            f'{at},xid="31",gi="2",ci="0"}}': "_x15 1x20",
            f'{at},xid="48",gi="",ci=""}}': "7x15 1x20",
            f'{at},xid="13",gi="",ci=""}}': "5x40",
        },
        {
            "gpu:xid_errors:increase1h > 0": {
                f'gpu:xid_errors:increase1h{{{AT},xid="79"}}': 1,
                f'gpu:xid_errors:increase1h{{{AT},xid="31"}}': 2,
                f'gpu:xid_errors:increase1h{{{AT},xid="48"}}': 1,
            },
            'gpu:xid_errors_total:union{xid="31"}': {f'gpu:xid_errors_total:union{{{AT},xid="31"}}': 2},
        },
        only=ONLY,
        at="80m",
        every="4m",
    )


def test_of_an_hour_only_xids_that_happened_are_recorded_and_one_that_tells_that_they_are_counted(
    tmp_path: Path,
) -> None:
    at = "gpuscope_gpu_xid_errors_total{" + WHERE
    union, hour = "gpu:xid_errors_total:union", "gpu:xid_errors:increase1h"
    expect(
        tmp_path,
        {
            f'{at},xid="79",gi="",ci=""}}': "0x20",
            f'{at},xid="48",gi="",ci=""}}': "0x10 2x10",
            f'{at},xid="95",gi="",ci=""}}': "0x20",
        },
        {
            union: {
                f'{union}{{{AT},xid="79"}}': 0,
                f'{union}{{{AT},xid="48"}}': 2,
                f'{union}{{{AT},xid="95"}}': 0,
            },
            hour: {f'{hour}{{{AT},xid="79"}}': 0, f'{hour}{{{AT},xid="48"}}': 2},
        },
        only=ONLY,
        at="80m",
        every="4m",
    )


def test_an_hour_counts_each_part_of_a_gpu_by_itself(tmp_path: Path) -> None:
    """After a restart one instance has no errors, and another has new ones: what was is not subtracted from it."""
    at = "gpuscope_gpu_xid_errors_total{" + WHERE
    expect(
        tmp_path,
        {
            f'{at},xid="79",gi="",ci=""}}': "0x20",
            f'{at},xid="48",gi="1",ci="0"}}': "3x15",
            f'{at},xid="48",gi="2",ci="0"}}': "_x15 4x10",
        },
        {
            'gpu:xid_errors:increase1h{xid="48"}': {f'gpu:xid_errors:increase1h{{{AT},xid="48"}}': 4},
        },
        only=ONLY,
        at="80m",
        every="4m",
    )


def test_clocks_held_down_come_from_samples_where_the_driver_keeps_no_time(tmp_path: Path) -> None:
    """Idleness and clocks that somebody set are no reason."""
    at = "gpuscope_gpu_clock_event_active{" + WHERE
    expect(
        tmp_path,
        {
            f'{at},reason="hw_thermal"}}': "0x6 1x40",
            f'{at},reason="idle"}}': "1x40",
            f'{at},reason="applications_clocks_setting"}}': "1x40",
        },
        {
            "gpu:throttled:ratio_rate5m > bool 0.3": {f'{{{AT},reason="hw_thermal"}}': 1},
        },
        only=ONLY,
        at=SOON,
    )


def test_headroom_is_the_distance_to_the_slowdown_where_the_driver_tells_none(tmp_path: Path) -> None:
    expect(
        tmp_path,
        {
            f'gpuscope_gpu_temperature_celsius{{{WHERE},sensor="gpu"}}': "70x40",
            f'gpuscope_gpu_temperature_threshold_celsius{{{WHERE},threshold="slowdown"}}': "90x40",
            f'gpuscope_gpu_temperature_threshold_celsius{{{WHERE},threshold="shutdown"}}': "95x40",
        },
        {"gpu:temperature_headroom_celsius:union": {f"gpu:temperature_headroom_celsius:union{{{AT}}}": 20}},
        only=ONLY,
        at="1m",
    )


def test_idle_is_a_gpu_that_is_held_and_below_the_threshold(tmp_path: Path) -> None:
    """A busy one is not, and a free one is free; the threshold is the settings'."""
    fleet = (
        Device(pod="nb-0", compute=0.005),
        Device(gpu=1, uuid="GPU-b", pod="train-0", compute=0.5),
        Device(gpu=2, uuid="GPU-c", compute=0.0),
    )
    expect(
        tmp_path,
        native(*fleet),
        {"sum by (gpu) (gpu:idle:bool)": {'{gpu="0"}': 1, '{gpu="1"}': 0, '{gpu="2"}': 0}},
        only=ONLY,
        at="2m",
    )


def test_another_label_for_the_cluster_is_called_cluster(tmp_path: Path) -> None:
    """The settings name the label; a GPU of two exporters still counts once."""
    power = f'gpuscope_gpu_power_watts{{k8s_cluster="east",{WHERE}}}'
    other = 'DCGM_FI_DEV_POWER_USAGE{k8s_cluster="east",gpu="0",UUID="GPU-a",Hostname="n1"}'
    expect(
        tmp_path,
        {power: "300x40", other: "999x40", other.replace("GPU-a", "GPU-b"): "100x40"},
        {
            "gpu:power_watts:union": {
                f'gpu:power_watts:union{{cluster="east",{AT}}}': 300,
                'gpu:power_watts:union{cluster="east",gpu="0",node="n1",uuid="GPU-b"}': 100,
            }
        },
        only=("gpuscope", "dcgm"),
        at="1m",
        settings=Settings(cluster_label="k8s_cluster"),
    )
