"""A physical GPU and its MIG devices, as one worker thread sees them."""

import re
import time
from collections.abc import Callable
from ctypes import byref, c_uint
from typing import Any, TypeVar

import pynvml

from gpuscope.errors import DeviceLost, NvmlUnavailable
from gpuscope.nvml.fields import Field, FieldReader, driver_tuple
from gpuscope.nvml.gpm import GpmWindow
from gpuscope.nvml.handle import Handle
from gpuscope.nvml.identity import GpuIdentity, MigInstance
from gpuscope.nvml.ledger import Ledger
from gpuscope.nvml.library import Session, code_name, device_error
from gpuscope.nvml.processes import ProcessList

__all__ = ["Gpu", "MigDevice", "open_gpu"]

_ARCHITECTURES = dict(
    enumerate(("kepler", "maxwell", "pascal", "volta", "turing", "ampere", "ada", "hopper", "blackwell"), start=2)
)
_PROFILE = re.compile(r"\bMIG ((?:\d+c\.)?\d+g\.\d+gb\S*)")

Kept = TypeVar("Kept")


class MigDevice(Handle):
    """A MIG device: ``instance`` says which, ``first`` whether it is the first of its GPU instance.

    Memory belongs to the GPU instance: it is published once, with the first of its devices.
    """

    def __init__(self, pointer: Any, instance: MigInstance, parent: "Gpu", *, first: bool, alone: bool) -> None:
        super().__init__(pointer, instance.uuid, parent.ledger, parent.clock)
        self.instance = instance
        self.first = first
        self.alone = alone
        gi_window = GpmWindow.of_gpu_instance(self, parent, instance.gi)
        self.gi_window = gi_window
        self.ci_window = gi_window if alone else GpmWindow.of_gpu(self)

    def windows(self) -> list[GpmWindow]:
        """The GPM windows that this device owns."""
        own = [self.gi_window] if self.first else []
        return own if self.alone else [*own, self.ci_window]


class Gpu(Handle):
    """A physical GPU.

    Attributes:
        identity: who it is.
        fields: batched ``nvmlDeviceGetFieldValues``.
        window: GPM window over the whole GPU.
        mig_enabled: current MIG mode, ``None`` where MIG does not exist.
        mig_pending: MIG mode after the next reset.
        mig: its MIG devices now, by MIG index.
        driver: driver version as numbers.
        processes_visible: false where the PID namespace hides processes, so that an empty list proves nothing.
        listed: the processes of the last look; ``None`` where they are not known.
    """

    def __init__(self, pointer: Any, identity: GpuIdentity, ledger: Ledger, session: Session, clock: Any) -> None:
        super().__init__(pointer, identity.uuid, ledger, clock)
        self.identity = identity
        self.driver = driver_tuple(session.driver_version)
        self.fields = FieldReader(self, self.driver)
        self.window = GpmWindow.of_gpu(self)
        self.mig_enabled: bool | None = None
        self.mig_pending: bool | None = None
        self.mig: tuple[MigDevice, ...] = ()
        self.processes_visible = True
        self.listed: ProcessList | None = None
        self._kept: dict[Any, Any] = {}

    def field(self, field: Field, *, scope: int = 0, scale: float = 1.0) -> float | None:
        """A field of the current cycle in base units; see ``FieldReader.number``."""
        return self.fields.number(field, scope=scope, scale=scale)

    def keep(self, key: Any, make: Callable[[], Kept]) -> Kept:
        """State that a collector keeps from cycle to cycle for this GPU, made at first use."""
        if key not in self._kept:
            self._kept[key] = make()
        kept: Kept = self._kept[key]
        return kept

    def adopt(self, earlier: "Gpu") -> None:
        """Takes over what was kept for the same GPU in an earlier NVML session, so that counters go on."""
        self._kept = earlier._kept

    def refresh_mig(self) -> bool:
        """Reads MIG mode and devices again; true when they changed.

        Indexes are sparse, and ids are reused by later instances: after a change, everything that was remembered
        about the old ones goes.

        Raises:
            DeviceLost: the GPU is gone.
            NvmlUnavailable: the driver is gone.
        """
        mode = self.ask("nvmlDeviceGetMigMode")
        enabled, pending = (None, None) if mode is None else (bool(mode[0]), bool(mode[1]))
        found = self._enumerate() if enabled else []
        before = (self.mig_enabled, [device.instance for device in self.mig])
        changed = before != (enabled, [instance for _, instance in found])
        self.mig_enabled, self.mig_pending = enabled, pending
        if changed:
            self.close_windows()
            self.forget()
            self.listed = None
            self._drop_kept({instance.uuid for _, instance in found})
            for device in self.mig:
                device.forget()
            per_gi = [instance.gi for _, instance in found]
            self.mig = tuple(
                MigDevice(
                    pointer,
                    instance,
                    self,
                    first=per_gi.index(instance.gi) == place,
                    alone=per_gi.count(instance.gi) == 1,
                )
                for place, (pointer, instance) in enumerate(found)
            )
        else:
            for device, (pointer, _) in zip(self.mig, found, strict=True):
                device.pointer = pointer
        return changed

    def _drop_kept(self, present: set[str]) -> None:
        """Forgets the state of MIG devices that are gone: their UUIDs never come back."""
        gone = [device.uuid for device in self.mig if device.uuid not in present]
        self._kept = {
            key: kept
            for key, kept in self._kept.items()
            if not (isinstance(key, tuple) and any(u in key for u in gone))
        }

    def windows(self) -> list[GpmWindow]:
        """The GPM windows of the GPU and of its MIG devices."""
        return [self.window, *(window for device in self.mig for window in device.windows())]

    def close_windows(self) -> None:
        """Frees all GPM samples; must come before NVML is shut down."""
        for window in self.windows():
            window.close()

    def _enumerate(self) -> list[tuple[Any, MigInstance]]:
        found = []
        for index in range(int(self.ask("nvmlDeviceGetMaxMigDeviceCount") or 0)):
            try:
                pointer = pynvml.nvmlDeviceGetMigDeviceHandleByIndex(self.pointer, index)
                name = _decoded(pynvml.nvmlDeviceGetName(pointer))
                profile = _PROFILE.search(name)
                instance = MigInstance(
                    uuid=_decoded(pynvml.nvmlDeviceGetUUID(pointer)),
                    index=index,
                    gi=int(pynvml.nvmlDeviceGetGpuInstanceId(pointer)),
                    ci=int(pynvml.nvmlDeviceGetComputeInstanceId(pointer)),
                    profile=profile.group(1) if profile else "unknown",
                )
            except pynvml.NVMLError as error:
                failure = device_error("nvmlDeviceGetMigDeviceHandleByIndex", error.value)
                if isinstance(failure, DeviceLost | NvmlUnavailable):
                    raise failure from error
                if error.value not in {pynvml.NVML_ERROR_NOT_FOUND, pynvml.NVML_ERROR_INVALID_ARGUMENT}:
                    self.ledger.errors["nvmlDeviceGetMigDeviceHandleByIndex", code_name(error.value)] += 1
                continue
            found.append((pointer, instance))
        return found


def open_gpu(
    session: Session, index: int, ledger: Ledger, clock: Callable[[], float] = time.monotonic, *, uuid: str = ""
) -> Gpu:
    """Opens a GPU and reads who it is.

    Args:
        session: the running session.
        index: NVML index (``nvidia-smi --query-gpu=index``).
        ledger: where its calls are counted.
        clock: monotonic seconds.
        uuid: when known, the GPU is opened by it and not by the index.

    Raises:
        DeviceLost: the GPU does not answer.
        DeviceError: it cannot be opened for another reason.
        NvmlUnavailable: the driver is gone.
    """
    call = "nvmlDeviceGetHandleByUUID" if uuid else "nvmlDeviceGetHandleByIndex"
    try:
        pointer = pynvml.nvmlDeviceGetHandleByUUID(uuid) if uuid else pynvml.nvmlDeviceGetHandleByIndex(index)
        own_uuid = _decoded(pynvml.nvmlDeviceGetUUID(pointer))
    except pynvml.NVMLError as error:
        ledger.errors[call, code_name(error.value)] += 1
        raise device_error(call, error.value) from error
    probe = Handle(pointer, own_uuid, ledger, clock)
    return Gpu(pointer, _identity(probe, index, own_uuid), ledger, session, clock)


def _identity(probe: Handle, index: int, uuid: str) -> GpuIdentity:
    pointer = probe.pointer
    pci = probe.ask("nvmlDeviceGetPciInfo_v3")
    capability = probe.ask("nvmlDeviceGetCudaComputeCapability")
    arch = probe.ask("nvmlDeviceGetArchitecture")
    numa = probe.ask("nvmlDeviceGetNumaNodeId")
    # Without an argument the binding would use one object for all threads.
    module = probe.attempt("nvmlDeviceGetModuleId", lambda function: _module_id(function, pointer))
    return GpuIdentity(
        index=index,
        uuid=uuid,
        model=probe.text("nvmlDeviceGetName"),
        arch="" if arch is None else _ARCHITECTURES.get(arch, f"arch_{arch}"),
        pci_bus_id="" if pci is None else _decoded(pci.busId).lower(),
        minor=probe.text("nvmlDeviceGetMinorNumber"),
        serial=probe.text("nvmlDeviceGetSerial"),
        vbios=probe.text("nvmlDeviceGetVbiosVersion"),
        compute_capability="" if capability is None else f"{capability[0]}.{capability[1]}",
        numa_node="" if numa is None or numa < 0 else str(numa),
        board_part=probe.text("nvmlDeviceGetBoardPartNumber"),
        module_id="" if module is None else str(module),
    )


def _module_id(function: Any, pointer: Any) -> int:
    # Old bindings want a reference here, the newest take both and check the return code of neither.
    number = c_uint()
    code = function(pointer, byref(number))
    if code:
        raise pynvml.NVMLError(code)
    return number.value


def _decoded(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
