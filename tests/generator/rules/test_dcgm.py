"""What dcgm-exporter says otherwise than anybody would expect, each with the right value."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.fleet import SOON, Device, dcgm, dcgm_labels

from gpuscope_generator.settings import Settings

AT = 'gpu="0",node="n1",uuid="GPU-a"'
ONE = Device()
ONLY = ("dcgm", "devices")


def field(name: str, values: float | str, device: Device = ONE, **labels: str) -> dict[str, str]:
    """One sample of the exporter."""
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    text = values if isinstance(values, str) else f"{values}x200"
    return {f"{name}{{{dcgm_labels(device)}{more}}}": text}


def test_defect_1_memory_is_in_bytes_and_not_in_mib(tmp_path: Path) -> None:
    expect(
        tmp_path,
        field("DCGM_FI_DEV_FB_USED", 40960) | field("DCGM_FI_DEV_FB_FREE", 40000),
        {
            "gpu:memory_used_bytes:union": {f"gpu:memory_used_bytes:union{{{AT}}}": 40960 * 1048576},
            "gpu:memory_total_bytes:union": {f"gpu:memory_total_bytes:union{{{AT}}}": 80960 * 1048576},
        },
        only=ONLY,
        at="1m",
    )


def test_defect_16_an_xid_that_sticks_for_days_is_no_error_of_the_last_hour(tmp_path: Path) -> None:
    """The gauge holds the last code until the driver restarts; only its change in the hour is an event."""
    expect(
        tmp_path,
        field("DCGM_FI_DEV_XID_ERRORS", "0x3 79x80") | field("DCGM_FI_DEV_XID_ERRORS", "31x80", Device(uuid="GPU-b")),
        {"gpu:xid_errors:increase1h": {}},
        only=("dcgm",),
        at="80m",
        every="4m",
    )


def test_an_xid_of_the_last_hour_has_its_code_as_a_label(tmp_path: Path) -> None:
    """Of the last code alone it is known that it came at least once; a series without any error stays silent."""
    expect(
        tmp_path,
        field("DCGM_FI_DEV_XID_ERRORS", "0x10 79x200") | field("DCGM_FI_DEV_XID_ERROR", 0, Device(uuid="GPU-b")),
        {"gpu:xid_errors:increase1h": {f'gpu:xid_errors:increase1h{{{AT},xid="79"}}': 1}},
        only=("dcgm",),
        at="10m",
    )


def test_two_xids_of_one_code_are_two_where_the_exporter_counts_them(tmp_path: Path) -> None:
    """Each is seen in one window of five minutes; the label is empty while there was none."""
    counted = field("DCGM_EXP_XID_ERRORS_COUNT", "0x3 1x2 0x7 1x2 0x20", xid="94", window_size_in_ms="300000")
    none = field("DCGM_EXP_XID_ERRORS_COUNT", 0, Device(uuid="GPU-b", gpu=1), window_size_in_ms="300000")
    sticky = field("DCGM_FI_DEV_XID_ERRORS", "0x10 94x200")
    expect(
        tmp_path,
        counted | none | sticky,
        {"gpu:xid_errors:increase1h": {f'gpu:xid_errors:increase1h{{{AT},xid="94"}}': 2}},
        only=("dcgm",),
        at="30m",
        every="100s",
    )


def test_defect_17_a_failed_row_remapping_of_1_shows(tmp_path: Path) -> None:
    """The field is 0 or 1, and above 1 never."""
    expect(
        tmp_path,
        field("DCGM_FI_DEV_GPU_TEMP", 50) | field("DCGM_FI_DEV_ROW_REMAP_FAILURE", 1),
        {
            "gpu:row_remapping_failed:bool": {f"gpu:row_remapping_failed:bool{{{AT}}}": 1},
            "gpu:healthy:bool": {f"gpu:healthy:bool{{{AT}}}": 0},
        },
        only=ONLY,
        at="1m",
    )


def test_values_by_which_dcgm_says_that_it_has_none_are_dropped(tmp_path: Path) -> None:
    """Blank, not found, not supported and no permission; as 32-bit, 64-bit and floating-point numbers."""
    up = {name: values for name, values in dcgm(ONE).items() if name.startswith("up")}
    expect(
        tmp_path,
        up
        | field("DCGM_FI_DEV_GPU_TEMP", 50)
        | field("DCGM_FI_DEV_MEMORY_TEMP", 2147483632)
        | field("DCGM_FI_DEV_POWER_USAGE", 140737488355328)
        | field("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 9223372036854775794)
        | field("DCGM_FI_DEV_GPU_UTIL", 9223372036854775794)
        | field("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 140737488355330)
        | field("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", 140737488355329)
        | field("DCGM_FI_DEV_SM_CLOCK", 2147483635)
        | field("DCGM_FI_DEV_POWER_VIOLATION", "0x5 9223372036854775794x200")
        | field("DCGM_FI_PROF_PCIE_TX_BYTES", 9223372036854775794)
        | field("DCGM_FI_DEV_FB_USED", 2147483634)
        | field("DCGM_FI_DEV_FB_FREE", 2147483634)
        | field("DCGM_FI_DEV_XID_ERRORS", "0x5 2147483632x200"),
        {
            '{__name__=~"gpu:.+"}': {
                f'gpu:info:union{{{AT},model="NVIDIA H100 80GB HBM3",vendor="nvidia"}}': 1,
                f"gpu:up:bool{{{AT}}}": 1,
                f"gpu:healthy:bool{{{AT}}}": 1,
                f"gpu:temperature_celsius:union{{{AT}}}": 50,
            }
        },
        only=ONLY,
        at=SOON,
    )


def test_utilization_of_46_is_a_percentage_whatever_its_name(tmp_path: Path) -> None:
    expect(
        tmp_path,
        field("DCGM_FI_DEV_GPU_UTIL_RATIO", 50),
        {"gpu:compute_active:ratio_union": {f"gpu:compute_active:ratio_union{{{AT}}}": 0.5}},
        only=ONLY,
        at="1m",
    )


def test_reasons_come_from_the_mask_where_no_time_is_counted(tmp_path: Path) -> None:
    """Power cap (4) for three minutes of five, then thermal (0x40); idle (1) and application clocks (2) are none."""
    expect(
        tmp_path,
        field("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "7x12 67x200") | field("DCGM_FI_DEV_GPU_TEMP", 50),
        {
            "count by (reason) (gpu:throttled:ratio_rate5m > 0)": {
                '{reason="sw_power_cap"}': 1,
                '{reason="hw_thermal"}': 1,
            },
            'gpu:throttled:ratio_rate5m{reason=~"idle|.*setting"}': {},
            'gpu:throttled:ratio_rate5m{reason="hw_power_brake"}': {
                f'gpu:throttled:ratio_rate5m{{{AT},reason="hw_power_brake"}}': 0
            },
        },
        only=ONLY,
        at="9m",
    )


def test_links_name_the_gpu_otherwise_and_add_up(tmp_path: Path) -> None:
    """Metrics of links carry ``gpu_uuid`` and ``model_name``, and one series a link."""
    link = 'gpu="0",gpu_uuid="GPU-a",model_name="NVIDIA H100 80GB HBM3",hostname="n1",nvlink="{}"'
    samples = {
        f"DCGM_FI_PROF_NVLINK_TX_BYTES_PER_LINK{{{link.format(number)}}}": "1000000000x40" for number in range(18)
    }
    expect(
        tmp_path,
        samples | field("DCGM_FI_DEV_GPU_TEMP", 50),
        {"gpu:nvlink_bytes:rate5m": {f'gpu:nvlink_bytes:rate5m{{{AT},direction="tx"}}': 18e9}},
        only=ONLY,
        at="1m",
    )


def test_rates_and_counters_of_one_traffic_give_the_same(tmp_path: Path) -> None:
    """PROF_PCIE_TX_BYTES is bytes a second; PROF_PCIE_RX_BYTES_TOTAL of 4.6 counts."""
    expect(
        tmp_path,
        field("DCGM_FI_PROF_PCIE_TX_BYTES", 3_000_000_000)
        | field("DCGM_FI_PROF_PCIE_RX_BYTES_TOTAL", "0+30000000000x200"),
        {
            "round(gpu:pcie_bytes:rate5m)": {
                f'{{{AT},direction="tx"}}': 3e9,
                f'{{{AT},direction="rx"}}': 1e9,
            }
        },
        only=ONLY,
        at=SOON,
    )


def test_recovery_action_is_decoded(tmp_path: Path) -> None:
    expect(
        tmp_path,
        field("DCGM_FI_DEV_GPU_RECOVERY_ACTION", 2) | field("DCGM_FI_DEV_GPU_TEMP", 50),
        {
            "gpu:recovery_action:bool == 1": {f'gpu:recovery_action:bool{{{AT},action="node_reboot"}}': 1},
            "gpu:healthy:bool": {f"gpu:healthy:bool{{{AT}}}": 0},
        },
        only=ONLY,
        at="1m",
    )


def test_node_of_the_scrape_comes_before_a_host_name_that_is_a_pod(tmp_path: Path) -> None:
    """Some installations give the exporter's pod as ``Hostname``; the scrape knows the node."""
    labels = 'gpu="0",UUID="GPU-a",Hostname="nvidia-dcgm-exporter-x7k2p",node="n1",instance="10.0.0.7:9400"'
    expect(
        tmp_path,
        {f"DCGM_FI_DEV_POWER_USAGE{{{labels}}}": "300x40"},
        {"gpu:power_watts:union": {f"gpu:power_watts:union{{{AT}}}": 300}},
        only=ONLY,
        at="1m",
    )


def test_selectors_of_the_settings_choose_among_exporters(tmp_path: Path) -> None:
    samples = dcgm(ONE) | {
        name.replace('job="dcgm"', 'job="old"').replace("GPU-a", "GPU-z"): values for name, values in dcgm(ONE).items()
    }
    expect(
        tmp_path,
        samples,
        {"count(gpu:info:union)": {"{}": 1}},
        only=ONLY,
        at="1m",
        settings=Settings(selectors={"dcgm": 'job="dcgm"'}),
    )
