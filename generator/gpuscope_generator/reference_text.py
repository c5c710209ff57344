"""What ``docs/metrics.md`` says around its tables."""

__all__ = ["CLUSTER", "DCGM", "INTRODUCTION", "LABELS", "LABEL_MEANINGS", "NAMES", "NOTATION", "SMI"]

INTRODUCTION = """\
The agent publishes {metrics} metrics in {subjects} subjects. A subject is also the name of the collector that reads
it, and of the flag that switches it on or off. This page is made from the catalogue in
`exporter/gpuscope/catalogue`, which the agent itself publishes from: what is listed here is what you can scrape.

If you know the name of a metric in dcgm-exporter or nvidia-smi, look it up at the end:
[dcgm-exporter](#coming-from-dcgm-exporter), [nvidia-smi](#coming-from-nvidia-smi)."""

NOTATION = """\
- **Absent means unknown.** What a GPU, a driver or a mode cannot tell is not published: no 0, no NaN, no last known
  value. `gpuscope_nvml_unsupported` and `gpuscope_nvml_errors_total` name the call that gave nothing, and
  `gpuscope_implausible_values_total` counts readings that were thrown away. So a gap in a graph is never a zero in
  disguise.
- **A GPU that does not answer** has `gpuscope_gpu_up` at 0 and the reason in `gpuscope_gpu_failure_info`. Its
  readings are absent; those of the other GPUs go on.
- **GPU and MIG series have different names.** `gpuscope_gpu_…` describes a whole GPU, `gpuscope_mig_…` one MIG
  instance. `sum(gpuscope_gpu_memory_used_bytes)` therefore never counts memory twice.
- **Type.** A *counter* only grows, and starts again at 0 with the driver or the agent: use `rate()` or
  `increase()`. A *gauge* is a level. An *info* is always 1 and carries facts in its labels, to be joined on `uuid`.
  A *state set* has one series for each state, of which exactly one is 1.
- **Unit.** Base units only. A ratio goes from 0 to 1 and is never a percentage.
- **In MIG mode.** *per instance*: one series for each MIG instance. *whole GPU*: one series for the GPU, also while
  MIG is on. *absent*: the driver stops answering for the GPU while MIG is on, and has nothing for the instances.
- **Source.** The NVML call or field that the number comes from. A number after "field" is one of
  `nvmlDeviceGetFieldValues`; where NVIDIA moved numbers between drivers, the agent picks the right one by driver
  version.
- **Sampled.** How often the agent reads the value. A scrape never waits for the hardware; it gets the newest
  reading."""

LABELS = """\
Every series of a GPU has `gpu` and `uuid`; every series of a MIG instance has `mig_uuid`, `gi` and `profile`
besides. All other facts hang on info series. To add the model of the GPU to any series:

```promql
gpuscope_gpu_power_watts * on (uuid) group_left (model) gpuscope_gpu_info
```"""

LABEL_MEANINGS = {
    "gpu": "NVML index of the GPU, as `nvidia-smi` shows it. It may change at a reboot; `uuid` does not.",
    "uuid": "UUID of the GPU (`GPU-…`).",
    "mig_uuid": "UUID of the MIG instance (`MIG-…`); empty where a series is about the whole GPU.",
    "gi": "GPU instance id of a MIG instance; the driver uses ids again after a reconfiguration.",
    "ci": "Compute instance id within the GPU instance.",
    "profile": "MIG profile, such as `3g.40gb`.",
    "action": "What the driver asks for.",
    "availability": "How many spare rows a memory bank has left.",
    "bin": "Number of symbols that were repaired in a block.",
    "call": "NVML function.",
    "cause": "Kind of error that cost a page or a row.",
    "clock": "Clock domain.",
    "event": "What happened.",
    "filesystem": "File system, by the name that its users know.",
    "code": "NVML return code as a word.",
    "collector": "Collector, which is the subject.",
    "container": "Container of a pod.",
    "job_id": "Id of a Slurm job.",
    "namespace": "Kubernetes namespace.",
    "pod": "Pod that holds the device; not the agent's own.",
    "condition": "Condition of the NVLink fabric.",
    "direction": "`tx`: sent by the GPU; `rx`: received by it. Of file systems: which way data or messages go.",
    "engine": "Kind of engine.",
    "fan": "Number of the fan.",
    "number": "Number of the engine among those of its kind.",
    "kind": "Kind of what is counted.",
    "limit": "Which of the power limits.",
    "link": "Number of the link.",
    "location": "Where an ECC error was found.",
    "metric": "Metric whose reading was thrown away.",
    "mode": "Compute mode.",
    "mountpoint": "Where it is mounted on the host.",
    "operation": "Kind of operation.",
    "pages": "Most pages that an RPC of the class has.",
    "param": "File or parameter that is read.",
    "pci_bus_id": "PCI address.",
    "pipe": "Arithmetic pipe.",
    "reason": "Why.",
    "sensor": "Temperature sensor.",
    "severity": "How bad an error is.",
    "source": "Where it is read from.",
    "state": "State that the series stands for.",
    "health": "The driver's verdict.",
    "sxid": "SXID code of an NVSwitch error.",
    "target": "Object or metadata target of a Lustre file system.",
    "threshold": "Which of the temperature thresholds.",
    "tier": "Sampling tier, see above.",
    "type": "Type of error, event, process, RPC or file system.",
    "unit": "Unit of the GPU that an SRAM error was found in.",
    "xid": "XID code.",
}

NAMES = """\
- Names are `gpuscope_<level>_<what>_<unit>`, counters end in `_total`, facts in `_info`.
- Names, types, units, labels and label values on this page are a public interface. A change of any of them is
  listed in the changelog under *Metrics changed*. A metric that gets a new name is published under both names for
  at least one minor release before the old one goes.
- New metrics, new labels on info series and new values of a label may come with any minor release.
- While the version is 0.x a minor release may do more; the changelog still says so."""

CLUSTER = """\
`gpuscope collector` publishes these, once for a whole cluster: see [the collector](collector.md). Their labels do not
name GPUs. `job_id` is Slurm's job id, or the uid of a Kubernetes object; `workload` is the name that its user gave."""

DCGM = """\
Each table row gives a field of DCGM as dcgm-exporter names it, its name since DCGM 4.6, and our series for the same
fact. DCGM uses one name for a GPU and for a MIG instance and tells them apart by `GPU_I_ID`; we have two names.
*same* means that the value can be taken as it is. Despite its name, `DCGM_FI_DEV_GPU_UTIL_RATIO` is a percentage."""

SMI = """\
Fields of `nvidia-smi --query-gpu` (see `nvidia-smi --help-query-gpu`), and the metric that carries the same fact."""
