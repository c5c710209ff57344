"""What the catalogue has to hold, group by group, and that it can be read with nothing installed."""

import re
import subprocess
import sys

import pynvml  # noqa: TID251
import pytest

from gpuscope.catalogue import METRICS, SUBJECTS, by_name

# group -> subject -> names without gpuscope_, with "{a,b}" for several; "mig" means that the instance has a twin
PROMISED = {
    "A inventory and state": {
        "inventory": "build_info driver_info gpu_info gpus gpus_expected gpu_up gpu_failure_info "
        "gpu_persistence_mode_enabled gpu_compute_mode",
        "mig": "mig_info gpu_mig_mode_{enabled,pending} mig_{multiprocessors,slices,engines} "
        "gpu_mig_utilization_supported",
    },
    "B memory": {
        "memory": "{gpu,mig}_memory_{total,used,free,reserved}_bytes {gpu,mig}_bar1_{total,used}_bytes",
        "confidential": "gpu_memory_protected_{total,used}_bytes",
    },
    "C utilization": {
        "utilization": "gpu_utilization_ratio gpu_memory_controller_utilization_ratio gpu_engine_utilization_ratio "
        "gpu_busy_seconds_total",
        "activity": "{gpu,mig}_{graphics,sm,tensor,dram}_active_{ratio,seconds_total} {gpu,mig}_sm_occupancy_ratio "
        "{gpu,mig}_gpm_window_seconds_total",
        "pipes": "{gpu,mig}_pipe_active_{ratio,seconds_total}",
        "cycles": "{gpu,mig}_{sm,pipe}_cycles_total",
        "engines": "gpu_engine_active_ratio",
    },
    "D power, energy, temperature, clocks": {
        "power": "gpu_power_watts gpu_power_{instant,average}_watts gpu_{module,memory}_power_watts "
        "gpu_power_limit_watts gpu_energy_joules_total",
        "temperature": "gpu_temperature_celsius gpu_temperature_{headroom,threshold,threshold_headroom}_celsius "
        "gpu_fan_speed_{ratio,rpm}",
        "clocks": "gpu_clock_hertz gpu_clock_max_hertz gpu_performance_state gpu_clock_event_{active,seconds_total}",
    },
    "E errors and health": {
        "xid": "gpu_xid_errors_total gpu_xid_last_timestamp_seconds gpu_nvml_events_total nvswitch_sxid_errors_total "
        "event_watcher_{up,restarts_total} kernel_log_{up,lines_total,suppressed_total,lost_total}",
        "recovery": "gpu_recovery_action",
        "ecc": "gpu_ecc_mode_{enabled,pending} gpu_ecc_errors_total gpu_ecc_errors_lifetime_total "
        "gpu_ecc_sram_{threshold_exceeded,errors_total}",
        "remapping": "gpu_retired_pages gpu_retired_pages_pending gpu_remapped_rows gpu_remapped_rows_pending "
        "gpu_remapping_failed gpu_row_remapper_banks gpu_repair_pending gpu_memory_unrepairable",
    },
    "F PCIe": {
        "pcie": "gpu_pcie_{bytes,replays,errors}_total gpu_pcie_link_{generation,width}",
        "pcie_details": "gpu_pcie_error_details_total",
    },
    "G NVLink": {
        "nvlink": "gpu_nvlink_links gpu_nvlink_{bytes,errors}_total",
        "nvlink_links": "gpu_nvlink_link_{bytes,packets,errors,fec_history}_total gpu_nvlink_link_{up,bit_error_ratio} "
        "gpu_nvlink_link_speed_bytes_per_second",
    },
    "H fabric, C2C, confidential computing, vGPU": {
        "fabric": "gpu_fabric_{info,state,status,health,misconfiguration,overall_health}",
        "c2c": "gpu_c2c_links gpu_c2c_link_up gpu_c2c_bandwidth_max_bytes_per_second gpu_c2c_{errors,bytes}_total",
        "confidential": "cc_{enabled,ready,dev_tools_mode}",
        "vgpu": "gpu_vgpu_license_licensed gpu_vgpu_instances gpu_virtualization_info",
        "processes": "{gpu,mig}_processes process_visibility process_visibility_failure_info",
    },
    "K pods and jobs": {
        "attribution": "{pod,job}_allocation_info allocations {pod,job,unowned}_memory_used_bytes "
        "{gpu,mig}_state_seconds_total attribution_source_{up,failure_info} podresources_errors_total "
        "attribution_last_success_timestamp_seconds attribution_problems_total",
    },
    "File systems": {
        "filesystem": "filesystem_{info,up,failure_info,read_only,files,files_free} "
        "filesystem_{size,free,available}_bytes filesystem_statfs_{duration_seconds,failures_total} "
        "filesystem_{read,write}_bytes_total filesystem_{operations,retransmissions,timeouts,source_failures}_total "
        "filesystem_operation_seconds_total",
        "lustre": "lustre_client_info lustre_source_{available,unavailable_info,failures_total} "
        "lustre_read_ahead_events_total lustre_{rpcs,request_timeouts,evictions,connection_attempts}_total "
        "lustre_{rpcs_in_flight,pending_pages} lustre_target_{up,failure_info} "
        "lustre_lnet_{messages,bytes,errors}_total",
    },
    "L the agent itself": {
        "agent": "up ready cycle_duration_seconds cycle_last_success_timestamp_seconds cycles_skipped_total "
        "nvml_errors_total nvml_unsupported nvml_calls_total nvml_call_seconds_total gpu_worker_stuck series "
        "config_last_reload_successful config_last_reload_success_timestamp_seconds collector_success "
        "collector_duration_seconds implausible_values_total driver_unavailable_info",
    },
}


def expand(pattern: str) -> list[str]:
    """``{a,b}_c`` -> ``a_c``, ``b_c``."""
    found = re.search(r"\{([^}]*)\}", pattern)
    if found is None:
        return [pattern]
    return [name for part in found[1].split(",") for name in expand(pattern.replace(found[0], part, 1))]


def promised(subject: str) -> set[str]:
    patterns = " ".join(group.get(subject, "") for group in PROMISED.values()).split()
    return {f"gpuscope_{name}" for pattern in patterns for name in expand(pattern)}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_subject_holds_what_was_promised_and_nothing_unannounced(subject: str) -> None:
    assert {metric.name for metric in SUBJECTS[subject]} == promised(subject)


def test_every_promised_subject_is_there() -> None:
    assert {subject for group in PROMISED.values() for subject in group} == set(SUBJECTS)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("gpuscope_gpu_power_watts", ("gpu", "uuid")),
        ("gpuscope_mig_memory_used_bytes", ("gpu", "uuid", "mig_uuid", "gi", "profile")),
        ("gpuscope_mig_info", ("gpu", "uuid", "mig_uuid", "gi", "profile", "ci", "mig_index")),
        ("gpuscope_gpu_xid_errors_total", ("gpu", "uuid", "xid", "gi", "ci")),
        ("gpuscope_nvswitch_sxid_errors_total", ("pci_bus_id", "sxid", "severity")),
        ("gpuscope_gpu_ecc_errors_total", ("gpu", "uuid", "severity", "location")),
        ("gpuscope_gpu_nvlink_link_errors_total", ("gpu", "uuid", "link", "type")),
        ("gpuscope_nvml_errors_total", ("call", "code")),
        ("gpuscope_up", ()),
    ],
)
def test_labels_come_level_first(name: str, labels: tuple[str, ...]) -> None:
    assert by_name(name).labels == labels


@pytest.mark.parametrize(
    ("name", "label", "values"),
    [
        (
            "gpuscope_gpu_recovery_action",
            "action",
            "none gpu_reset node_reboot drain_p2p drain_and_reset recover_imex bus_reset system_reboot",
        ),
        ("gpuscope_gpu_power_limit_watts", "limit", "enforced requested default min max"),
        (
            "gpuscope_gpu_clock_event_seconds_total",
            "reason",
            "sw_power_cap sync_boost sw_thermal hw_thermal hw_power_brake",
        ),
        ("gpuscope_gpu_failure_info", "reason", "lost timeout reset_required driver error"),
        ("gpuscope_gpu_fabric_state", "state", "not_supported not_started in_progress completed"),
        ("gpuscope_gpu_pcie_bytes_total", "direction", "tx rx"),
        ("gpuscope_gpu_row_remapper_banks", "availability", "max high partial low none"),
        ("gpuscope_implausible_values_total", "reason", "sentinel bounds"),
    ],
)
def test_label_values_are_those_that_rules_may_rely_on(name: str, label: str, values: str) -> None:
    assert by_name(name).closed_labels[label] == tuple(values.split())


def test_catalogue_needs_nothing_but_the_standard_library() -> None:
    """A tool that only wants names must not load NVML, a web server or a metrics library."""
    program = (
        "import sys; before = set(sys.modules); import gpuscope.catalogue; "
        "loaded = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(loaded - sys.stdlib_module_names - {'gpuscope'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_metrics_are_compared_by_identity() -> None:
    """Samples are grouped by metric for each GPU and cycle, which must not hash thirty texts each time."""
    assert len(set(METRICS)) == len(METRICS)
    assert by_name(METRICS[0].name) is METRICS[0]


def test_every_recovery_action_of_nvml_has_a_state_in_the_order_of_the_numbers() -> None:
    prefix = "NVML_GPU_RECOVERY_ACTION_"
    numbers = {name.removeprefix(prefix).lower(): getattr(pynvml, name) for name in dir(pynvml) if prefix in name}
    ours = {"recover_imex_domain": "recover_imex"}
    states = by_name("gpuscope_gpu_recovery_action").states
    assert states == tuple(ours.get(name, name) for name in sorted(numbers, key=numbers.__getitem__))
