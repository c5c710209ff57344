"""Holders on both kinds of series: who gets the labels, who does not, and what a change leaves behind."""

import re

import pytest

from gpuscope.catalogue.metric import Kind
from gpuscope.compat import NOBODY, Owner, Renderer
from gpuscope.compat.pod_labels import UNOWNED
from gpuscope.faults.xids import XidCatalogue

POD = ("namespace", "pod", "container")


def _held(text: str) -> set[str]:
    """Names of the metrics that have series with a pod."""
    return {line.partition("{")[0] for line in text.splitlines() if ',pod="' in line}


def _series(text: str) -> list[str]:
    return [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]


def test_dcgm_series_of_a_held_gpu_name_the_holder_as_dcgm_exporter_does(node, people) -> None:
    h100 = node("h100x8").cycles()
    h100.holders[h100.uuid(1)] = people[0]
    lines = [line for line in h100.text().splitlines() if line.startswith("DCGM_")]
    own = [line for line in lines if 'gpu="1"' in line]
    assert len(own) == 25
    for line in own:
        xid = ',err_code="0",err_msg="No Error"' if "XID" in line else ""
        assert f'",container="main"{xid},namespace="research",pod="trainer-0"}} ' in line
    assert not any(name + "=" in line for line in lines if 'gpu="1"' not in line for name in POD)


def test_our_readings_have_no_holder_unless_asked(node, people) -> None:
    h100 = node("h100x8").cycles()
    h100.holders[h100.uuid(1)] = people[0]
    assert all(name.startswith("DCGM_") for name in _held(h100.text()))


def test_readings_name_the_holder_and_what_outlives_a_pod_does_not(node, people) -> None:
    h100 = node("h100x8", compat="off", pod_labels="exclusive").cycles()
    h100.holders[h100.uuid(1)] = people[0]
    ((labels, _),) = h100.series("gpuscope_gpu_power_watts", gpu="1")
    assert labels == {"gpu": "1", "uuid": h100.uuid(1)} | dict(zip(POD, people[0], strict=True))
    held = _held(h100.text())
    assert {"gpuscope_gpu_memory_used_bytes", "gpuscope_gpu_sm_active_seconds_total"} <= held
    for outlives in ("gpu_info", "gpu_xid_errors_total", "gpu_ecc_errors_total", "gpu_remapped_rows", "gpu_mig_mode"):
        assert not any(outlives in name for name in held)
    every = {
        sample.metric.name
        for sampler in h100.machine.samplers
        for (collector, _), readings in sampler.readings.items()
        for sample in readings.samples
        if collector not in UNOWNED and sample.metric.kind is not Kind.INFO
    }
    assert held == every


def test_gpus_that_nobody_or_several_hold_have_no_holder(node, people) -> None:
    h100 = node("h100x8", compat="off", pod_labels="exclusive").cycles()
    h100.holders[h100.uuid(1)] = people[0]
    assert {labels["gpu"] for labels, _ in h100.series("gpuscope_gpu_power_watts") if "pod" not in labels} == set(
        "0234567"
    )


def test_a_change_of_holder_shows_at_once_and_leaves_nothing_behind(node, people) -> None:
    first, second = people
    h100 = node("h100x8", pod_labels="exclusive").cycles()
    count = len(_series(h100.text()))
    for holder in (first, second, None, first):
        h100.holders.clear()
        if holder is not None:
            h100.holders[h100.uuid(2)] = holder
        text = h100.text()
        series = _series(text)
        assert len(series) == len(set(series)) == count
        without = [re.sub(r',(namespace|pod|container)="[^"]*"', "", line) for line in series]
        assert len(set(without)) == count, "a series with the last holder beside one with the new"
        assert set(re.findall(r'pod="([^"]*)"', text)) == ({holder.pod} if holder else set())


def test_readings_with_a_holder_are_as_fresh_as_those_without(node, people) -> None:
    h100 = node("h100x8", pod_labels="exclusive").cycles()
    h100.holders[h100.uuid(2)] = people[0]
    for name in ("gpuscope_gpu_energy_joules_total", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"):
        before = [h100.value(name, gpu=gpu) for gpu in "12"]
        h100.cycles(10)
        assert all(h100.value(name, gpu=gpu) > old for gpu, old in zip("12", before, strict=True))


def test_the_holder_of_a_mig_instance_is_named_for_it_and_not_for_its_neighbors(node, people) -> None:
    h100 = node("h100-mig", pod_labels="exclusive").cycles()
    uuid = h100.mig_uuid(5, 1)
    h100.holders[uuid] = people[1]
    gi = str(h100.machine.samplers[5].gpu.mig[1].instance.gi)
    text = h100.text()
    ours = [line for line in text.splitlines() if line.startswith("gpuscope_") and 'pod="' in line]
    assert ours
    assert all(f'mig_uuid="{uuid}"' in line for line in ours)
    dcgm = [line for line in text.splitlines() if line.startswith("DCGM_") and 'pod="' in line]
    assert dcgm
    assert all('gpu="5"' in line and f'GPU_I_ID="{gi}"' in line for line in dcgm)
    assert h100.value("DCGM_FI_DEV_FB_USED", gpu="5", pod="llm-7f9c", container="vllm") is not None


def test_memory_of_a_divided_instance_has_a_holder_when_all_its_parts_have_the_same(node, people) -> None:
    first, second = people
    h100 = node("h100-mig", pod_labels="exclusive").cycles()
    devices = [device.instance for device in h100.machine.samplers[7].gpu.mig]
    gi = next(who.gi for who in devices if who.ci)
    one, other = (who.uuid for who in devices if who.gi == gi)

    def pods(name: str, **labels: str) -> list[str | None]:
        return [labels.get("pod") for labels, _ in h100.series(name, **labels)]

    h100.holders |= {one: first, other: second}
    assert pods("gpuscope_mig_sm_active_ratio", gpu="7", gi=str(gi)) == [first.pod, second.pod]
    assert pods("gpuscope_mig_memory_used_bytes", gpu="7", gi=str(gi)) == [None]
    assert pods("gpuscope_mig_dram_active_ratio", gpu="7", gi=str(gi)) == [None]
    assert pods("DCGM_FI_DEV_FB_USED", gpu="7", GPU_I_ID=str(gi)) == [None]
    h100.holders[other] = first
    assert pods("gpuscope_mig_memory_used_bytes", gpu="7", gi=str(gi)) == [first.pod]
    assert pods("DCGM_FI_DEV_FB_USED", gpu="7", GPU_I_ID=str(gi)) == [first.pod]


def test_odd_names_of_pods_are_escaped(node) -> None:
    h100 = node("h100x8", pod_labels="exclusive").cycles(0)
    odd = Owner('a"b', "c\\d\ne} 7", "ü")
    h100.holders[h100.uuid(0)] = odd
    for name in ("gpuscope_gpu_power_watts", "DCGM_FI_DEV_POWER_USAGE"):
        ((labels, _),) = h100.series(name, gpu="0")
        assert (labels["namespace"], labels["pod"], labels["container"]) == odd


def test_samples_themselves_stay_as_they_are(node, people) -> None:
    h100 = node("h100x8", pod_labels="exclusive").cycles()
    before = h100.machine.samples()
    h100.holders[h100.uuid(0)] = people[0]
    h100.text()
    assert h100.machine.samples() == before


def test_a_gpu_that_is_down_has_no_readings_with_a_holder(node, people) -> None:
    h100 = node("h100x8", compat="off", pod_labels="exclusive").cycles()
    h100.holders[h100.uuid(3)] = people[0]
    assert h100.series("gpuscope_gpu_power_watts", gpu="3")
    h100.down = {3}
    assert _held(h100.text()) == set()


@pytest.mark.parametrize("compat", ["off", "dcgm", "dcgm-only"])
def test_compat_decides_whose_names_come_out(node, compat: str) -> None:
    h100 = node("h100x8", compat=compat).cycles()
    h100.xid(0, 79, when=1000)
    text = h100.text()
    assert ("\nDCGM_FI_DEV_GPU_TEMP{" in text) is (compat != "off")
    assert ("\ngpuscope_gpu_power_watts{" in text) is (compat != "dcgm-only")
    assert h100.value("gpuscope_gpu_xid_errors_total", gpu="0", xid="79") == 1, "faults come out whatever is chosen"


def test_series_are_counted(node) -> None:
    h100 = node("h100-mig").cycles()
    assert h100.rendered().foreign_series == sum(line.startswith("DCGM_") for line in _series(h100.text()))


def test_a_fault_in_the_other_names_does_not_cost_ours(node, caplog) -> None:
    class Torn(XidCatalogue):
        def entry(self, code: int):
            raise RuntimeError("torn")

    h100 = node("h100x8").cycles(0)
    h100.renderer.xids = Torn([])
    h100.xid(0, 79, when=1000)
    for _ in range(3):
        text = h100.text()
    assert "gpuscope_gpu_power_watts{" in text
    assert "DCGM_" not in text
    assert [record.message for record in caplog.records] == ["dcgm-exporter's series could not be made"]
    h100.renderer.xids = XidCatalogue.load()
    assert h100.value("DCGM_FI_DEV_XID_ERRORS", gpu="0") == 79


def test_without_an_allocation_nobody_holds_anything(node) -> None:
    h100 = node("h100x8", pod_labels="exclusive").cycles()
    h100.renderer = Renderer(XidCatalogue.load())
    assert _held(h100.text()) == set()
    assert NOBODY.owner(h100.uuid(0)) is None
