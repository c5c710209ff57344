"""dcgm-exporter's default series, held against its list, against our own readings and against the formats' parsers."""

import csv
import math
import re
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families

from gpuscope.compat.families import FAMILIES, Scope

with (Path(__file__).parent / "default_counters.csv").open(encoding="utf-8") as file:
    ROWS = {row["field"]: row for row in csv.DictReader(file)}
SERIES = {name: row for name, row in ROWS.items() if row["type"] != "label"}
BASE = ["gpu", "UUID", "pci_bus_id", "device", "modelName"]
BEHIND = ["Hostname", "DCGM_FI_DRIVER_VERSION"]
MIG_LABELS = ["GPU_I_PROFILE", "GPU_I_ID"]

UNITS = (
    ("DEV_SM_CLOCK", 'gpuscope_gpu_clock_hertz{clock="sm"}', 1e-6, round),
    ("DEV_MEM_CLOCK", 'gpuscope_gpu_clock_hertz{clock="memory"}', 1e-6, round),
    ("DEV_MEMORY_TEMP", 'gpuscope_gpu_temperature_celsius{sensor="memory"}', 1, round),
    ("DEV_GPU_TEMP", 'gpuscope_gpu_temperature_celsius{sensor="gpu"}', 1, round),
    ("DEV_POWER_USAGE", "gpuscope_gpu_power_watts{}", 1, float),
    ("DEV_TOTAL_ENERGY_CONSUMPTION", "gpuscope_gpu_energy_joules_total{}", 1000, round),
    ("DEV_PCIE_REPLAY_COUNTER", "gpuscope_gpu_pcie_replays_total{}", 1, round),
    ("DEV_GPU_UTIL", "gpuscope_gpu_utilization_ratio{}", 100, round),
    ("DEV_MEM_COPY_UTIL", "gpuscope_gpu_memory_controller_utilization_ratio{}", 100, round),
    ("DEV_ENC_UTIL", 'gpuscope_gpu_engine_utilization_ratio{engine="encoder"}', 100, round),
    ("DEV_DEC_UTIL", 'gpuscope_gpu_engine_utilization_ratio{engine="decoder"}', 100, round),
    ("DEV_FB_FREE", "gpuscope_gpu_memory_free_bytes{}", 2**-20, math.floor),
    ("DEV_FB_USED", "gpuscope_gpu_memory_used_bytes{}", 2**-20, math.floor),
    ("DEV_FB_RESERVED", "gpuscope_gpu_memory_reserved_bytes{}", 2**-20, math.floor),
    ("DEV_UNCORRECTABLE_REMAPPED_ROWS", 'gpuscope_gpu_remapped_rows{cause="uncorrected"}', 1, round),
    ("DEV_CORRECTABLE_REMAPPED_ROWS", 'gpuscope_gpu_remapped_rows{cause="corrected"}', 1, round),
    ("DEV_ROW_REMAP_FAILURE", "gpuscope_gpu_remapping_failed{}", 1, round),
    ("PROF_GR_ENGINE_ACTIVE", "gpuscope_gpu_graphics_active_ratio{}", 1, float),
    ("PROF_PIPE_TENSOR_ACTIVE", "gpuscope_gpu_tensor_active_ratio{}", 1, float),
    ("PROF_DRAM_ACTIVE", "gpuscope_gpu_dram_active_ratio{}", 1, float),
)


def _families(text: str) -> dict[str, str]:
    """Types by name, of families with series; a header without one, or behind one, would fail here."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("# TYPE DCGM_"):
            name, kind = line.split()[2:]
            assert name not in found
            found[name] = kind
    assert {line.partition("{")[0] for line in text.splitlines() if line.startswith("DCGM_")} == set(found)
    return found


def _label_names(line: str) -> list[str]:
    return re.findall(r'[{,](\w+)="', line)


def test_the_list_has_25_series_and_one_label() -> None:
    assert len(ROWS) == 26
    assert [f"DCGM_FI_{family.name}" for family in FAMILIES] == list(SERIES)


def test_every_default_series_comes_out_with_its_type(node) -> None:
    found = _families(node("h100x8").cycles().text())
    assert found == {name: row["type"] for name, row in SERIES.items()}


def test_every_series_has_the_labels_in_their_order(node) -> None:
    h100 = node("h100-mig").cycles()
    lines = [line for line in h100.text().splitlines() if line.startswith("DCGM_")]
    kinds = {tuple(_label_names(line)) for line in lines if "XID" not in line}
    assert kinds == {(*BASE, *BEHIND), (*BASE, *MIG_LABELS, *BEHIND)}
    xid = {tuple(_label_names(line)) for line in lines if "XID" in line}
    assert xid == {(*kind, "err_code", "err_msg") for kind in kinds}


def test_labels_say_which_gpu_and_where(node) -> None:
    h100 = node("h100x8").cycles(0)
    identity = h100.machine.samplers[0].gpu.identity
    ((labels, _),) = h100.series("DCGM_FI_DEV_GPU_TEMP", gpu="0")
    assert labels == {
        "gpu": "0",
        "UUID": identity.uuid,
        "pci_bus_id": labels["pci_bus_id"],
        "device": "nvidia0",
        "modelName": "NVIDIA H100 80GB HBM3",
        "Hostname": "node-a",
        "DCGM_FI_DRIVER_VERSION": h100.driver_version,
    }
    assert re.fullmatch(r"0{8}:[0-9][A-F]:00\.0", labels["pci_bus_id"]), "in capitals, as NVML has it"
    assert labels["pci_bus_id"].lower() == identity.pci_bus_id


def test_what_the_machine_does_not_know_is_no_label(node) -> None:
    h100 = node("h100x8").cycles(0)
    h100.hostname = h100.driver_version = ""
    ((labels, _),) = h100.series("DCGM_FI_DEV_GPU_TEMP", gpu="3")
    assert list(labels) == BASE


def test_values_are_our_readings_in_dcgm_units(node) -> None:
    remapped = node("row-remap").cycles(0, 10, 10)
    for dcgm, ours, factor, whole in UNITS:
        name, _, matcher = ours.rstrip("}").partition("{")
        labels = dict(re.findall(r'(\w+)="(\w+)"', matcher))
        for gpu in ("0", "3"):
            own = remapped.value(name, gpu=gpu, **labels)
            assert own is not None, ours
            assert remapped.value(f"DCGM_FI_{dcgm}", gpu=gpu) == whole(
                own if factor == 1 else round(own * factor, 9)
            ), dcgm


def test_an_h100_has_the_numbers_that_one_knows_of_it(node) -> None:
    h100 = node("h100x8").cycles()
    value = {name: h100.value(name, gpu="0") for name in SERIES}
    assert value["DCGM_FI_DEV_SM_CLOCK"] == 1980
    assert value["DCGM_FI_DEV_MEM_CLOCK"] == 2619
    memory = sum(value[f"DCGM_FI_DEV_FB_{part}"] for part in ("FREE", "USED", "RESERVED"))
    assert 81_557 <= memory <= 81_559, "each of the parts loses less than one MiB"
    assert 60 < value["DCGM_FI_DEV_POWER_USAGE"] < 710
    assert 1 < value["DCGM_FI_DEV_GPU_UTIL"] <= 100
    assert 0 < value["DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"] < 1


def test_rates_are_what_our_counters_grew_by_per_second(node) -> None:
    h100 = node("h100x8").cycles()
    names = ("gpuscope_gpu_pcie_bytes_total", "gpuscope_gpu_nvlink_bytes_total")
    before = {(name, way): h100.value(name, gpu="1", direction=way) for name in names for way in ("tx", "rx")}
    h100.cycles(8)
    step = {key: (h100.value(key[0], gpu="1", direction=key[1]) - before[key]) / 8 for key in before}
    assert min(step.values()) > 1e6
    pcie, nvlink = names
    assert h100.value("DCGM_FI_PROF_PCIE_TX_BYTES", gpu="1") == pytest.approx(step[pcie, "tx"], abs=1)
    assert h100.value("DCGM_FI_PROF_PCIE_RX_BYTES", gpu="1") == pytest.approx(step[pcie, "rx"], abs=1)
    both = (step[nvlink, "tx"] + step[nvlink, "rx"]) / 1024 / 1000
    assert h100.value("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", gpu="1") == pytest.approx(both, abs=1)


def test_a_rate_needs_two_readings_and_stays_between_them(node) -> None:
    h100 = node("h100x8").cycles(0)
    rates = ("DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL")
    assert [h100.series(name) for name in rates] == [[], [], []]
    h100.cycles(10)
    first = [h100.value(name, gpu="0") for name in rates]
    assert all(first)
    assert [h100.value(name, gpu="0") for name in rates] == first


def test_a_rate_does_not_span_the_time_in_which_a_gpu_was_down(node) -> None:
    h100 = node("h100x8").cycles()
    h100.down = {2}
    h100.cycles(10)
    h100.down = set()
    h100.cycles(10)
    assert h100.value("DCGM_FI_PROF_PCIE_TX_BYTES", gpu="2") is None
    assert h100.value("DCGM_FI_PROF_PCIE_TX_BYTES", gpu="3") > 0
    assert h100.cycles(10).value("DCGM_FI_PROF_PCIE_TX_BYTES", gpu="2") > 0


def test_instances_stand_for_a_gpu_in_mig_mode(node) -> None:
    h100 = node("h100-mig").cycles()
    for name, row in SERIES.items():
        for gpu in ("4", "6"):
            found = [labels.get("GPU_I_ID") for labels, _ in h100.series(name, gpu=gpu)]
            every = [str(device.instance.gi) for device in h100.machine.samplers[int(gpu)].gpu.mig]
            assert found == ([] if row["mig"] == "absent" else sorted(every, key=int)), name


def test_an_instance_has_its_own_memory_and_activity_and_its_gpus_temperature(node) -> None:
    h100 = node("h100-mig").cycles()
    for device in h100.machine.samplers[6].gpu.mig:
        who = device.instance
        wanted = {"gpu": "6", "GPU_I_ID": str(who.gi), "GPU_I_PROFILE": who.profile}
        used = h100.value("gpuscope_mig_memory_used_bytes", mig_uuid=who.uuid)
        assert h100.value("DCGM_FI_DEV_FB_USED", **wanted) == used // 2**20
        active = h100.value("gpuscope_mig_graphics_active_ratio", mig_uuid=who.uuid)
        assert h100.value("DCGM_FI_PROF_GR_ENGINE_ACTIVE", **wanted) == active
        heat = h100.value("gpuscope_gpu_temperature_celsius", gpu="6", sensor="gpu")
        assert h100.value("DCGM_FI_DEV_GPU_TEMP", **wanted) == heat


def test_of_a_divided_instance_comes_what_is_known_of_the_whole_of_it(node) -> None:
    h100 = node("h100-mig").cycles()
    devices = [device.instance for device in h100.machine.samplers[7].gpu.mig]
    gi = next(who.gi for who in devices if who.ci)
    assert sum(who.gi == gi for who in devices) == 2
    for name, there in (("FB_USED", True), ("GPU_TEMP", True)):
        assert (len(h100.series(f"DCGM_FI_DEV_{name}", gpu="7", GPU_I_ID=str(gi))) == 1) is there
    ((labels, _),) = h100.series("DCGM_FI_PROF_DRAM_ACTIVE", gpu="7", GPU_I_ID=str(gi))
    assert labels["GPU_I_PROFILE"] == "3g.40gb", "the profile of the GPU instance, not of a part of it"
    for name in ("GR_ENGINE_ACTIVE", "PIPE_TENSOR_ACTIVE"):
        assert h100.series(f"DCGM_FI_PROF_{name}", gpu="7", GPU_I_ID=str(gi)) == []


def test_a_gpu_in_mig_mode_without_instances_stands_for_itself(node, tmp_path) -> None:
    scenario = tmp_path / "empty.yaml"
    scenario.write_text(
        "title: t\nkind: node\ngpus: [{model: h100-sxm}]\n"
        "events: [{at: 1, do: mig, gpu: 0, mode: true, instances: []}]\n",
        encoding="utf-8",
    )
    empty = node(str(scenario)).cycles(0, 5, 5)
    assert empty.value("gpuscope_gpu_mig_mode_enabled") == 1
    ((labels, _),) = empty.series("DCGM_FI_DEV_GPU_TEMP")
    assert "GPU_I_ID" not in labels


def test_instances_that_are_gone_leave_nothing_behind(node) -> None:
    changed = node("mig-reconfigured").cycles(0, 10)
    before = {labels["GPU_I_ID"] for labels, _ in changed.series("DCGM_FI_DEV_FB_USED", gpu="6")}
    assert len(before) == 3
    changed.cycles(40, 10)
    lines = [line for line in changed.text().splitlines() if line.startswith("DCGM_") and 'gpu="6"' in line]
    assert lines
    assert not any("GPU_I_ID" in line for line in lines)
    assert {labels["GPU_I_PROFILE"] for labels, _ in changed.series("DCGM_FI_DEV_FB_USED", gpu="3")} == {"7g.80gb"}


def test_what_a_driver_does_not_tell_is_absent(node) -> None:
    text = node("a100-mig").cycles().text()
    assert {name for name in SERIES if name not in _families(text)} == {name for name in SERIES if "_PROF_" in name}, (
        "GPM and the PCIe byte counters begin with Hopper"
    )


def test_the_license_is_a_guests_matter(node) -> None:
    l40s = node("l40s").cycles()
    modes = {labels["mode"]: labels["gpu"] for labels, _ in l40s.series("gpuscope_gpu_virtualization_info")}
    assert l40s.value("DCGM_FI_DEV_VGPU_LICENSE_STATUS", gpu=modes["none"]) == 0
    assert l40s.value("DCGM_FI_DEV_VGPU_LICENSE_STATUS", gpu=modes["host_vsga"]) == 0
    guest = l40s.value("gpuscope_gpu_vgpu_license_licensed", gpu=modes["vgpu"])
    assert l40s.value("DCGM_FI_DEV_VGPU_LICENSE_STATUS", gpu=modes["vgpu"]) == guest


def test_a_collector_that_is_off_takes_its_series_with_it(node) -> None:
    found = _families(node("h100x8", collectors=frozenset({"inventory", "temperature"})).cycles().text())
    assert set(found) == {"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_XID_ERRORS"}


def test_a_gpu_that_is_down_keeps_its_last_xid_only(node) -> None:
    h100 = node("h100x8").cycles()
    h100.xid(5, 79, when=1000)
    h100.down = {5}
    lines = [line for line in h100.text().splitlines() if line.startswith("DCGM_") and 'gpu="5"' in line]
    assert len(lines) == 1
    assert h100.value("DCGM_FI_DEV_XID_ERRORS", gpu="5", err_code="79") == 79


def test_the_last_xid_wins_and_no_xid_is_0(node) -> None:
    h100 = node("h100x8").cycles(0)
    assert h100.value("DCGM_FI_DEV_XID_ERRORS", gpu="0", err_code="0", err_msg="No Error") == 0
    h100.xid(0, 94, when=2000)
    h100.xid(0, 13, when=1000)
    ((labels, value),) = h100.series("DCGM_FI_DEV_XID_ERRORS", gpu="0")
    assert (value, labels["err_code"]) == (94, "94")
    assert labels["err_msg"] == h100.renderer.xids.entry(94).meaning
    assert h100.value("DCGM_FI_DEV_XID_ERRORS", gpu="1") == 0


def test_nobody_who_listens_for_xids_means_no_xid_series(node) -> None:
    h100 = node("h100x8").cycles(0)
    h100.xid(0, 94, when=2000)
    h100.watching = False
    assert [labels["gpu"] for labels, _ in h100.series("DCGM_FI_DEV_XID_ERRORS")] == ["0"], "what is known stays known"
    h100.watching, h100.ledger.published = True, False
    assert h100.series("DCGM_FI_DEV_XID_ERRORS") == []


def test_an_instance_has_the_xids_of_its_gpu_and_its_own(node) -> None:
    h100 = node("h100-mig").cycles(0)
    first, second = (device.instance.gi for device in h100.machine.samplers[5].gpu.mig)
    h100.xid(5, 48, when=1000)
    h100.xid(5, 43, when=2000, gi=first)
    assert h100.value("DCGM_FI_DEV_XID_ERRORS", gpu="5", GPU_I_ID=str(first)) == 43
    assert h100.value("DCGM_FI_DEV_XID_ERRORS", gpu="5", GPU_I_ID=str(second)) == 48


def test_openmetrics_is_valid_and_says_the_same(node) -> None:
    h100 = node("h100-mig", pod_labels="exclusive").cycles()
    text = h100.text(openmetrics=True)
    types, found = {}, {}
    for family in openmetrics_families(text):
        types[family.name] = family.type
        found |= {(one.name, *sorted(one.labels.items())): one.value for one in family.samples}
    for name, row in SERIES.items():
        # A counter must end in _total there, which would be another name.
        assert types[name] == {"counter": "unknown", "gauge": "gauge"}[row["type"]]
    # Without types, as the parser puts _total behind the name of a counter.
    lines = "".join(line for line in h100.text().splitlines(keepends=True) if not line.startswith("#"))
    classic = {
        (one.name, *sorted(one.labels.items())): one.value
        for family in text_string_to_metric_families(lines)
        for one in family.samples
    }
    assert found == classic


def test_promtool_dislikes_nothing_but_the_names_that_dcgm_gave(node, promtool) -> None:
    complaints = promtool(node("h100-mig").cycles().text()).splitlines()
    about = {re.sub(r"^DCGM_\w+ ", "", line) for line in complaints}
    assert about == {
        'counter metrics should have "_total" suffix',
        "label names should be written in 'snake_case' not 'camelCase'",
        "metric name should not include type 'counter'",
    }
    assert all(line.startswith("DCGM_") for line in complaints)


def test_no_series_comes_twice(node) -> None:
    text = node("h100-mig").cycles().text()
    series = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(series) == len(set(series))


def test_rendering_asks_the_driver_nothing(node) -> None:
    h100 = node("h100-mig").cycles()
    before = dict(h100.machine.ledger.calls)
    assert "DCGM_FI_DEV_GPU_TEMP" in h100.text()
    assert h100.machine.ledger.calls == before


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_families_come_from_the_metric_that_the_catalogue_names(family) -> None:
    metric = family.instance or family.metric
    if family.name == "DEV_XID_ERRORS":
        assert metric.name == "gpuscope_gpu_xid_last_timestamp_seconds", "the counter's twin knows which was last"
        return
    assert family.name in family.metric.dcgm
    assert family.name in metric.dcgm
    matcher = family.metric.dcgm_labels and family.metric.dcgm_labels[family.metric.dcgm.index(family.name)]
    picked = [tuple(re.findall(r'="(\w+)"', matcher))] if matcher else None
    assert picked in (None, list(family.labels))
    if family.scope is not Scope.GPU:
        assert family.metric.mig.name != "BLOCKED", "else no instance could ever have it"


def test_unit_of_each_family_is_that_of_the_list() -> None:
    assert {f"DCGM_FI_{family.name}": family.unit for family in FAMILIES} == {
        name: row["unit"] for name, row in SERIES.items()
    }
