"""Who is there: driver, GPUs, and whether each of them answers."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = [
    "BUILD_INFO",
    "COMPUTE_MODE",
    "DRIVER_INFO",
    "GPUS",
    "GPUS_EXPECTED",
    "GPU_FAILURE_INFO",
    "GPU_INFO",
    "GPU_UP",
    "METRICS",
    "PERSISTENCE_MODE",
]

BUILD_INFO = Metric(
    name="gpuscope_build_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("version", "revision", "python", "nvidia_ml_py"),
    help="Version of the agent, of Python and of the NVML binding.",
    tier=Tier.STATIC,
    source="the installed packages",
)
DRIVER_INFO = Metric(
    name="gpuscope_driver_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("driver_version", "cuda_version", "nvml_version", "kernel_module"),
    help="Version of the NVIDIA driver, the newest CUDA it serves, and whether its kernel module is open or proprietary.",
    tier=Tier.STATIC,
    source="nvmlSystemGetDriverVersion, nvmlSystemGetCudaDriverVersion_v2, nvmlSystemGetNVMLVersion, "
    "/proc/driver/nvidia/version",
    smi="driver_version",
    dcgm=("DRIVER_VERSION", "CUDA_DRIVER_VERSION", "NVML_VERSION"),
    dcgm46=("SYSTEM_DRIVER_VERSION", "CUDA_DRIVER_VERSION", "SYSTEM_NVML_VERSION"),
    dcgm_note="label",
    values=((), (), (), ("open", "proprietary", "unknown")),
)
GPU_INFO = Metric(
    name="gpuscope_gpu_info",
    kind=Kind.INFO,
    level=Level.GPU,
    extra=(
        "model", "arch", "pci_bus_id", "minor", "serial", "vbios", "compute_capability", "numa_node", "board_part",
        "module_id",
    ),
    help="Constant facts of a GPU, to be joined on uuid.",
    tier=Tier.STATIC,
    source="nvmlDeviceGetName, …Architecture, …PciInfo_v3, …MinorNumber, …Serial, …VbiosVersion, "
    "…CudaComputeCapability, …NumaNodeId, …BoardPartNumber, …ModuleId",
    smi='name, pci.bus_id, serial, vbios_version, compute_cap, platform.module_id',
    mig=MigBehaviour.PARENT,
    dcgm=('DEV_NAME', 'DEV_PCI_BUSID', 'DEV_MINOR_NUMBER', 'DEV_SERIAL', 'DEV_VBIOS_VERSION', 'DEV_CUDA_COMPUTE_CAPABILITY'),
    dcgm46=('DEV_GPU_NAME', 'DEV_PCI_BUS_ID', 'DEV_GPU_MINOR_NUMBER', 'DEV_BOARD_SERIAL', 'DEV_VBIOS_VERSION', 'CUDA_GPU_COMPUTE_CAPABILITY'),
    dcgm_note='label',
    note="The minor number (/dev/nvidiaN) is neither the NVML index nor the CUDA index.",
)  # fmt: skip
GPUS = Metric(
    name="gpuscope_gpus",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="Physical GPUs that the driver lists now.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetCount_v2",
    smi="count",
    dcgm=("DEV_COUNT",),
    dcgm46=("SYSTEM_GPU_QUANTITY",),
    high=1024,
)
GPUS_EXPECTED = Metric(
    name="gpuscope_gpus_expected",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="Physical GPUs that this machine should have: --expected-gpus, or the most that were ever seen.",
    tier=Tier.SLOW,
    source="--expected-gpus, /proc/driver/nvidia/gpus, nvmlDeviceGetCount_v2",
    high=1024,
    note="A GPU that falls off the bus before the agent starts is only missed with --expected-gpus or /proc.",
)
GPU_UP = Metric(
    name="gpuscope_gpu_up",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 while the last fast cycle of the GPU succeeded; at 0 its readings are absent.",
    tier=Tier.FAST,
    source="the agent's own verdict",
    mig=MigBehaviour.PARENT,
    high=1,
)
GPU_FAILURE_INFO = Metric(
    name="gpuscope_gpu_failure_info",
    kind=Kind.INFO,
    level=Level.GPU,
    extra=("reason",),
    help="Why a GPU is down. Absent while it is up.",
    tier=Tier.FAST,
    source="NVML return codes, the deadline of the GPU's worker",
    mig=MigBehaviour.PARENT,
    values=(("lost", "timeout", "reset_required", "driver", "error"),),
)
PERSISTENCE_MODE = Metric(
    name="gpuscope_gpu_persistence_mode_enabled",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 when the driver stays loaded without a client.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetPersistenceMode",
    smi="persistence_mode",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_PERSISTENCE_MODE",),
    dcgm46=("DEV_GPU_PERSISTENCE_MODE",),
    high=1,
)
COMPUTE_MODE = Metric(
    name="gpuscope_gpu_compute_mode",
    kind=Kind.STATE_SET,
    level=Level.GPU,
    extra=("mode",),
    help="Who may create CUDA contexts on the GPU.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetComputeMode",
    smi="compute_mode",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_COMPUTE_MODE",),
    dcgm46=("DEV_GPU_COMPUTE_MODE",),
    dcgm_note="decode",
    states=("default", "prohibited", "exclusive_process"),
)

METRICS = (
    BUILD_INFO, DRIVER_INFO, GPUS, GPUS_EXPECTED, GPU_INFO, GPU_UP, GPU_FAILURE_INFO, PERSISTENCE_MODE, COMPUTE_MODE,
)  # fmt: skip
