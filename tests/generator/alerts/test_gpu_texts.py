"""What alerts about GPUs say, word for word: labels, place, serial number, whose work, value, and where to read on."""

from collections.abc import Mapping
from pathlib import Path

from tests.generator.alerting import says_all

from gpuscope_generator.rules.alerts import all_alerts
from gpuscope_generator.settings import Settings

FILES = tuple(f"alerts/{name}" for name in ("hardware", "recovery-action", "memory", "faults", "interconnect"))
DOUBLED = ("GpuInterconnectFault",)
"""They fire on the other nodes as well."""
STEPS = "x40"
GPU = {"cluster": "c", "node": "n1", "gpu": "3", "uuid": "GPU-3"}
NODE = {"cluster": "c", "node": "n1"}
PLACE = "node n1, GPU 3, GPU-3, serial S3"
OWNER = "ml/llama (job 7), team nlp"
OF_GPU = 'cluster="c",node="n1",gpu="3",uuid="GPU-3"'
SAMPLES = {
    "gpu:serial:union{" + OF_GPU + ',serial="S3"}': f"1{STEPS}",
    "gpu:owner:union{"
    + OF_GPU
    + ',namespace="ml",pod="llama-0",workload_kind="TrainJob",workload="llama",job_id="7",team="nlp",queue="q"}': (
        f"1{STEPS}"
    ),
    "gpu:up:bool{" + OF_GPU + "}": f"0{STEPS}",
    "gpu:stuck:bool{" + OF_GPU + "}": f"1{STEPS}",
    "gpu:fabric_fault:bool{" + OF_GPU + ',condition="not_started"}': f"1{STEPS}",
    # One of them hangs, which is told on its own.
    'node:gpus:count{cluster="c",node="n1",state="missing"}': f"2{STEPS}",
    'node:gpus:count{cluster="c",node="n1",state="installed"}': f"8{STEPS}",
    'node:gpus:count{cluster="c",node="n1",state="present"}': f"7{STEPS}",
    'node:gpus:count{cluster="c",node="n1",state="allocatable"}': f"5{STEPS}",
    **{
        "gpu:faults:increase10m{" + OF_GPU + f',fault_class="{name}"}}': f"2{STEPS}"
        for name in ("off_bus", "gpu_fw", "mem_uncontained", "mem_contained", "nvlink", "power", "unknown")
    },
    **{
        "gpu:recovery_action:bool{" + OF_GPU + f',action="{name}"}}': f"1{STEPS}"
        for name in ("gpu_reset", "node_reboot", "drain_p2p", "recover_imex")
    },
    "gpu:fault:bool{" + OF_GPU + ',fault="health_check"}': f"1{STEPS}",
    "gpu:row_remapping_pending:bool{" + OF_GPU + "}": f"1{STEPS}",
    "gpu:row_remapping_failed:bool{" + OF_GPU + "}": f"1{STEPS}",
    "gpu:sram_threshold_exceeded:bool{" + OF_GPU + "}": f"1{STEPS}",
    "gpu:infrastructure_fault_began:bool{" + OF_GPU + "}": f"1{STEPS}",
    "gpu:nvlink_links_expected:max7d{" + OF_GPU + "}": f"18{STEPS}",
    "gpu:nvlink_links:union{" + OF_GPU + ',state="up"}': f"16{STEPS}",
    "gpu:interconnect_errors:increase15m{" + OF_GPU + ',interconnect="pcie"}': f"150{STEPS}",
    'node:nvswitch_faults:increase10m{cluster="c",node="n1"}': f"2{STEPS}",
    "gpu:pcie_degraded:ratio{" + OF_GPU + ',what="width"}': f"0.5{STEPS}",
    **{
        "gpu:app_fault_alone:union{"
        + OF_GPU
        + f',namespace="ml",workload_kind="TrainJob",workload="w{number}",job_id="",team="nlp"}}': f"1{STEPS}"
        for number in range(4)
    },
    "gpu:app_fault_holder:union{"
    + OF_GPU
    + ',namespace="ml",workload_kind="TrainJob",workload="llama",job_id="7",team="nlp"}': f"1{STEPS}",
    **{
        f'gpu:faults:increase10m{{cluster="c",node="m{number}",gpu="0",uuid="GPU-m{number}",fault_class="nvlink"}}': (
            f"1{STEPS}"
        )
        for number in range(4)
    },
}
IN_TEN = "within ten minutes on GPU 3 of node n1."
TEXTS: Mapping[str, tuple[str, str]] = {
    "GpuCountBelowExpected": (
        "Of the GPUs that the machine or its scheduler knows of, 1 did not answer on node n1 for five minutes: GPU 3 "
        "(GPU-3, serial S3). None should be missing.",
        "1 GPU missing",
    ),
    "GpuAllocatableBelowPresent": (
        "Of the GPUs that answer on node n1, 2 have not been offered by its scheduler for 15 minutes, although the "
        "node takes work. It should offer all of them.",
        "2 GPUs not offered",
    ),
    "GpuFellOffBus": (
        "The driver reported within ten minutes that GPU 3 of node n1 cannot be reached over PCIe (XID 79 or 167), or "
        "has not found it for two minutes. Its work is lost; other GPUs of the node may follow.",
        "",
    ),
    "GpuDriverUnresponsive": (
        "For five minutes calls of the driver about 1 GPU of node n1 have not returned, or the driver could not be "
        "reached at all. Calls hang for: GPU 3 (GPU-3, serial S3). Nothing else that is shown of these GPUs is "
        "current.",
        "1 GPU without an answer",
    ),
    "GpuHealthCheckFailed": (
        "For five minutes the health check of AMD's exporter has failed for GPU 3 of node n1. It does not say why.",
        "",
    ),
    "GpuRecoveryActionReset": (
        "For two minutes the driver has asked for a reset of GPU 3 of node n1, with or without draining it before. It "
        "should ask for nothing.",
        "",
    ),
    "GpuRecoveryActionReboot": (
        "For two minutes the driver has asked for a reboot of node n1, to bring GPU 3 back. A reset does not help; the "
        "GPU does no work until then.",
        "",
    ),
    "GpuRecoveryActionDrainP2P": (
        "For two minutes the driver has asked that work which lets GPU 3 of node n1 talk to other GPUs be ended. Until "
        "then its links do not come back.",
        "",
    ),
    "GpuRecoveryActionRecoverImex": (
        "For two minutes the driver has asked to recover the IMEX domain of GPU 3 of node n1: the service by which "
        "nodes of one NVLink domain share GPU memory. Jobs over several nodes of the domain fail until then.",
        "",
    ),
    "GpuMemoryUncorrectable": (
        "2 uncorrectable or uncontained memory errors (XID 48, 95, 140, or uncorrected ECC errors of AMD) "
        f"{IN_TEN} All work on the GPU is lost or wrong; there should be none.",
        "2 errors in 10 minutes",
    ),
    "GpuMemoryContained": (
        f"2 contained memory errors (XID 94) {IN_TEN} The application that read the page was ended; others go on.",
        "2 errors in 10 minutes",
    ),
    "GpuRowRemapPending": (
        "GPU 3 of node n1 has had for ten minutes a memory row that will be replaced by a spare one at its next reset. "
        "Until then the driver keeps work off the page.",
        "",
    ),
    "GpuRowRemapFailed": (
        "GPU 3 of node n1 has said for five minutes that a memory row could not be replaced (XID 64), or that its "
        "memory cannot be repaired. No spare rows are left where one is needed.",
        "",
    ),
    "GpuSramThresholdExceeded": (
        "GPU 3 of node n1 has said for five minutes that its uncorrected errors in caches and registers are above the "
        "maker's threshold. They cannot be remapped, and will come again.",
        "",
    ),
    "GpuFirmwareFault": (
        "2 faults of firmware or micro-controllers (XID 46, 62, 109, 110, 119, 120, 143, 158, 169) "
        f"{IN_TEN} Its work is lost; there should be none.",
        "2 faults in 10 minutes",
    ),
    "GpuPowerFault": (
        "GPU 3 of node n1 reported within ten minutes that its power cable is not connected (XID 54), or that its "
        "power smoothing is off or worn out (XID 163 to 165).",
        "2 reports in 10 minutes",
    ),
    "GpuUnknownFault": (
        "GPU 3 of node n1 reported within ten minutes an XID that is not in the table of gpuscope. What it means is "
        "unknown: nothing should act on it by itself.",
        "2 errors in 10 minutes",
    ),
    "GpuAppFaultFollowsGpu": (
        "4 different workloads failed within 24 hours with an error of programs (XID 13, 31 and others) on GPU 3 of "
        "node n1, while their other GPUs had none at the time. From 3 on the GPU is suspect, and not the programs.",
        "4 workloads in 24 hours",
    ),
    "GpuRepeatedFault": (
        "GPU 3 of node n1 had 4 faults of the machine within seven days: memory, firmware, links, power, or off the "
        "bus. What comes within ten minutes counts once. From 3 on resets and reboots do not help any more.",
        "4 faults in 7 days",
    ),
    "GpuInterconnectLinkDown": (
        "2 NVLink links of GPU 3 of node n1 have been down for ten minutes that were up within the last week, or that "
        "other GPUs of the node have. All should be up.",
        "2 links down",
    ),
    "GpuInterconnectErrors": (
        "600 errors an hour over pcie on GPU 3 of node n1, at the speed of the last 15 minutes and for 15 minutes. "
        "Above 100 errors of NVLink, or 480 repeated packets of PCIe, work slows down.",
        "600 errors an hour",
    ),
    "GpuInterconnectFault": (
        f"2 faults of NVLink (XID 74, 136, 144 to 150, 155) {IN_TEN} The cause may lie at the other end of the link.",
        "2 faults in 10 minutes",
    ),
    "GpuSwitchFault": (
        "2 fatal errors (SXID) of NVLink switches within ten minutes on node n1. Links through the switch do not come "
        "back without a reset; there should be none.",
        "2 errors in 10 minutes",
    ),
    "GpuFabricNotReady": (
        "For ten minutes 1 GPU of node n1 has not been registered with the fabric of NVLink switches, or the fabric "
        "is not well: GPU 3 (GPU-3, serial S3). Work that uses several GPUs does not start there, and on many machines "
        "no new work at all.",
        "1 GPU without fabric",
    ),
    "GpuPcieDegraded": (
        "The PCIe width of GPU 3 of node n1 has been 50% of the best that GPU and slot can do for 15 minutes. A width "
        "must always be whole; a generation must be while the GPU works, as here.",
        "50% of the best width",
    ),
    "GpuAppFault": (
        "llama had within ten minutes errors on 1 GPU that programs cause, such as an access outside of its memory "
        "(XID 13, 31 and others). The GPUs are well, and so are their nodes.",
        "1 GPU",
    ),
    "GpuFaultsOnManyNodes": (
        "5 nodes had faults of GPUs within ten minutes. From 5 on one cause is likelier than many broken GPUs. Work "
        "that held most of these GPUs: ml/llama (1 GPU).",
        "5 nodes",
    ),
}
MORE = {
    "GpuInterconnectErrors": {"interconnect": "pcie"},
    "GpuPcieDegraded": {"what": "width"},
    "GpuAppFault": {"cluster": "c", "namespace": "ml", "workload": "llama", "team": "nlp"},
    "GpuFaultsOnManyNodes": {"cluster": "c"},
}


def expected(name: str) -> dict[str, dict[str, str]]:
    """All that an alert carries: fixed words from its data, the rest as it must come out."""
    data = next(one for one in all_alerts(Settings()) if one.name == name)
    description, measured = TEXTS[name]
    scope = data.scope.value
    labels = {"gpu": GPU | MORE.get(name, {}), "node": NODE}.get(scope, MORE.get(name, {}))
    place = {"gpu": PLACE, "node": "node n1", "process": "namespace ml, workload llama"}.get(scope, "")
    owner = {"gpu": OWNER, "node": OWNER, "process": "ml/llama, team nlp"}.get(scope, "")
    board = "task" if name == "GpuAppFault" else "cluster"
    carried = {
        "gpu": "?var-cluster=c&var-node=n1&var-gpu=3",
        "node": "?var-cluster=c&var-node=n1",
        "process": "?var-cluster=c&var-namespace=ml&var-workload=llama",
        "cluster": "?var-cluster=c",
    }[scope]
    annotations = {
        "summary": data.summary,
        "description": description,
        "location": place,
        "owner": owner,
        "measured": measured,
        "recommended_action": data.action,
        "runbook_url": f"https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/{name}.md",
        "dashboard_url": f"/d/gpuscope-{board}/{board}{carried}",
    }
    fixed = {
        "severity": data.severity.value,
        "scope": scope,
        "component": data.component.value,
        "audience": data.audience.value,
        "fault_class": data.fault_class,
    }
    return {
        "labels": labels | {key: value for key, value in fixed.items() if value},
        "annotations": {key: value for key, value in annotations.items() if value},
    }


def test_every_alert_says_what_is_wrong_where_and_whose_work_it_hits(tmp_path: Path) -> None:
    single = [name for name in TEXTS if name not in DOUBLED]
    says_all(tmp_path, SAMPLES, {name: [expected(name)] for name in single}, at="30m", every="1m", only=FILES)


def test_where_one_cause_is_behind_many_the_single_ones_are_told_too(tmp_path: Path) -> None:
    """Without the other nodes there is one fault of links, and none of many nodes."""
    alone = {series: values for series, values in SAMPLES.items() if 'node="m' not in series}
    says_all(
        tmp_path,
        alone,
        {"GpuInterconnectFault": [expected("GpuInterconnectFault")], "GpuFaultsOnManyNodes": []},
        at="30m",
        every="1m",
        only=FILES,
    )


def test_what_is_not_known_leaves_no_gap_in_a_text(tmp_path: Path) -> None:
    """GPUs of an exporter without UUIDs, held by jobs of Slurm, which have no namespace; one job has a name."""
    owner = 'workload_kind="SlurmJob",team="",queue="q"'
    bare = OF_GPU.replace(',uuid="GPU-3"', "")
    samples = {series.replace(OF_GPU, bare): values for series, values in SAMPLES.items() if "owner" not in series}
    samples |= {
        f'gpu:owner:union{{{bare},namespace="",workload="9",job_id="9",{owner}}}': f"1{STEPS}",
        f'gpu:owner:union{{{bare},namespace="",workload="train",job_id="7",{owner}}}': f"1{STEPS}",
        f'gpu:infrastructure_fault_began:bool{{{bare},code="79"}}': f"1{STEPS}",
        # Another GPU without a UUID has a serial number, too.
        'gpu:serial:union{cluster="c",node="n2",gpu="0",serial="S9"}': f"1{STEPS}",
    }
    lost, missing = expected("GpuFellOffBus"), expected("GpuCountBelowExpected")
    del lost["labels"]["uuid"]
    lost["annotations"] |= {"location": "node n1, GPU 3", "owner": "nobody known"}
    missing["annotations"] |= {
        "description": TEXTS["GpuCountBelowExpected"][0].replace(" (GPU-3, serial S3)", ""),
        "owner": "job 9; train (job 7)",
    }
    found = {"GpuFellOffBus": [lost], "GpuCountBelowExpected": [missing]}
    says_all(tmp_path, samples, found, at="30m", every="1m", only=FILES)
