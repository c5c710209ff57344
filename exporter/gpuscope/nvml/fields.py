"""NVML field ids, read many at a time.

Ids from 199 on are not stable: the same number means different things to different drivers, and the answer is SUCCESS
with a wrong meaning. So they come from a table by driver version, never from the installed binding's constants.
Where the cut-over is not known, the field counts as unknown and stays absent.
"""

from dataclasses import dataclass
from typing import Any

import pynvml

from gpuscope.errors import NotSupported
from gpuscope.nvml.handle import Handle
from gpuscope.nvml.library import device_error
from gpuscope.nvml.structs import value_of
from gpuscope.nvml.values import plain

__all__ = ["ALL_LINKS", "Field", "FieldReader", "driver_tuple"]

Version = tuple[int, ...]
ALL_LINKS = 0xFFFFFFFF
"""Scope of an NVLink field that stands for all links of the GPU."""


def driver_tuple(version: str) -> Version:
    """``"580.65.06"`` as ``(580, 65, 6)``; an empty tuple for a text that is no version."""
    parts = version.split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


@dataclass(frozen=True, slots=True)
class Field:
    """A value that ``nvmlDeviceGetFieldValues`` gives.

    Attributes:
        name: constant of nvml.h without ``NVML_FI_DEV_``.
        ids: ``(first driver, last driver, id)`` rows; versions compare by their first two numbers. An empty
            last driver means "and newer". A driver in no row has no known id.
    """

    name: str
    ids: tuple[tuple[Version, Version, int], ...]

    def id_for(self, driver: Version) -> int | None:
        """The field's id on a driver, or ``None`` when it is not known there."""
        for first, last, number in self.ids:
            if first <= driver[: len(first)] and (not last or driver[: len(last)] <= last):
                return number
        return None


@dataclass(slots=True)
class _Slot:
    field: Field
    scope: int
    number: int


class FieldReader:
    """Reads fields of one GPU: what was asked for once is read in one batch at the next ``refresh``.

    The array is built once and passed straight to the driver: 1.6 µs where the binding's wrapper, which builds it
    anew, takes 90 to 290 µs for 60 fields.

    Args:
        handle: the GPU.
        driver: driver version as numbers.
    """

    CALL = "nvmlDeviceGetFieldValues"

    def __init__(self, handle: Handle, driver: Version) -> None:
        self._handle = handle
        self._driver = driver
        self._wanted: dict[str, dict[tuple[Field, int], _Slot]] = {}
        self._arrays: dict[str, tuple[Any, list[_Slot]]] = {}
        self._values: dict[tuple[Field, int], float | None] = {}
        self._tier = ""

    def refresh(self, tier: str) -> None:
        """Starts a cycle of ``tier``: reads in one call all fields that this tier asked for before.

        Raises:
            DeviceLost: the GPU is gone.
            NvmlUnavailable: the driver is gone.
        """
        self._tier = tier
        self._values = {}
        if tier in self._wanted:
            if tier not in self._arrays:
                self._arrays[tier] = self._array(list(self._wanted[tier].values()))
            self._read(*self._arrays[tier])

    def number(self, field: Field, *, scope: int = 0, scale: float = 1.0) -> float | None:
        """One field in base units; ``None`` when it has no answer, ``BLANK`` for a sentinel.

        Args:
            field: which.
            scope: link number, power scope or another index; 0 where the field has none.
            scale: factor from the driver's unit to the base unit.
        """
        key = (field, scope)
        if key not in self._values:
            self._values[key] = None
            number = field.id_for(self._driver)
            if number is None:
                self._handle.ledger.unsupported.add((self._handle.uuid, f"{self.CALL}:{field.name}"))
                return None
            if not self._handle.supported(f"{self.CALL}:{field.name}", key=(scope,)):
                return None
            slot = _Slot(field, scope, number)
            self._wanted.setdefault(self._tier, {})[key] = slot
            self._arrays.pop(self._tier, None)
            self._read(*self._array([slot]))
        value = self._values[key]
        return None if value is None else value * scale

    def _array(self, slots: list[_Slot]) -> tuple[Any, list[_Slot]]:
        array = (pynvml.c_nvmlFieldValue_t * len(slots))()
        for entry, slot in zip(array, slots, strict=True):
            entry.fieldId, entry.scopeId = slot.number, slot.scope
        return array, slots

    def _read(self, array: Any, slots: list[_Slot]) -> None:
        def run(_wrapper: Any) -> bool:
            pointer = pynvml._nvmlGetFunctionPointer(self.CALL)
            pynvml._nvmlCheckReturn(pointer(self._handle.pointer, len(slots), array))
            return True

        if not slots or not self._handle.attempt(self.CALL, run):
            return
        for entry, slot in zip(array, slots, strict=True):
            code = entry.nvmlReturn
            if code:
                self._refused(slot, code)
            else:
                self._values[slot.field, slot.scope] = plain(value_of(entry.value, entry.valueType))

    def _refused(self, slot: _Slot, code: int) -> None:
        call = f"{self.CALL}:{slot.field.name}"
        if isinstance(device_error(call, code), NotSupported) or code == pynvml.NVML_ERROR_INVALID_ARGUMENT:
            self._handle.refuse(call, key=(slot.scope,))
            for tier, wanted in self._wanted.items():
                if wanted.pop((slot.field, slot.scope), None):
                    self._arrays.pop(tier, None)
        else:
            self._handle.judge(call, code, key=(slot.scope,))


def _stable(name: str, number: int) -> Field:
    return Field(name, (((), (), number),))


def _since(name: str, first: Version, number: int) -> Field:
    return Field(name, ((first, (), number),))


# 1 to 198 never moved.
ENERGY = _stable("TOTAL_ENERGY_CONSUMPTION", 83)
MEMORY_TEMPERATURE = _stable("MEMORY_TEMP", 82)
RETIRED_SBE = _stable("RETIRED_SBE", 29)
RETIRED_DBE = _stable("RETIRED_DBE", 30)
RETIRED_PENDING = _stable("RETIRED_PENDING", 31)
SW_POWER_CAP_NS = _stable("CLOCKS_EVENT_REASON_SW_POWER_CAP", 74)
SYNC_BOOST_NS = _stable("CLOCKS_EVENT_REASON_SYNC_BOOST", 76)
PCIE_REPLAYS = _stable("PCIE_REPLAY_COUNTER", 94)
NVLINK_TX_KIB = _stable("NVLINK_THROUGHPUT_DATA_TX", 138)
NVLINK_RX_KIB = _stable("NVLINK_THROUGHPUT_DATA_RX", 139)
REMAPPED_CORRECTED = _stable("REMAPPED_COR", 142)
REMAPPED_UNCORRECTED = _stable("REMAPPED_UNC", 143)
REMAPPED_PENDING = _stable("REMAPPED_PENDING", 144)
REMAPPED_FAILURE = _stable("REMAPPED_FAILURE", 145)
NVLINK_REPLAYS = _stable("NVLINK_ERROR_DL_REPLAY", 161)
NVLINK_RECOVERIES = _stable("NVLINK_ERROR_DL_RECOVERY", 162)
NVLINK_CRC = _stable("NVLINK_ERROR_DL_CRC", 163)
NVLINK_SPEED_MB = _stable("NVLINK_GET_SPEED", 164)
NVLINK_STATE = _stable("NVLINK_GET_STATE", 165)
PCIE_COUNT_CORRECTABLE = _stable("PCIE_COUNT_CORRECTABLE_ERRORS", 173)
PCIE_COUNT_NAK_RECEIVED = _stable("PCIE_COUNT_NAKS_RECEIVED", 174)
PCIE_COUNT_RECEIVER = _stable("PCIE_COUNT_RECEIVER_ERROR", 175)
PCIE_COUNT_BAD_TLP = _stable("PCIE_COUNT_BAD_TLP", 176)
PCIE_COUNT_NAK_SENT = _stable("PCIE_COUNT_NAKS_SENT", 177)
PCIE_COUNT_BAD_DLLP = _stable("PCIE_COUNT_BAD_DLLP", 178)
PCIE_COUNT_NON_FATAL = _stable("PCIE_COUNT_NON_FATAL_ERROR", 179)
PCIE_COUNT_FATAL = _stable("PCIE_COUNT_FATAL_ERROR", 180)
PCIE_COUNT_UNSUPPORTED = _stable("PCIE_COUNT_UNSUPPORTED_REQ", 181)
PCIE_COUNT_LCRC = _stable("PCIE_COUNT_LCRC_ERROR", 182)
PCIE_COUNT_LANE = _stable("PCIE_COUNT_LANE_ERROR", 183)
PCIE_L0_RECOVERY = _stable("PCIE_L0_TO_RECOVERY_COUNTER", 169)
C2C_LINKS = _stable("C2C_LINK_COUNT", 170)
C2C_LINK_STATE = _stable("C2C_LINK_GET_STATUS", 171)
C2C_LINK_MB = _stable("C2C_LINK_GET_MAX_BW", 172)
POWER_AVERAGE_MW = _stable("POWER_AVERAGE", 185)
POWER_INSTANT_MW = _stable("POWER_INSTANT", 186)
POWER_MIN_MW = _stable("POWER_MIN_LIMIT", 187)
POWER_MAX_MW = _stable("POWER_MAX_LIMIT", 188)
POWER_DEFAULT_MW = _stable("POWER_DEFAULT_LIMIT", 189)
POWER_CURRENT_MW = _stable("POWER_CURRENT_LIMIT", 190)
POWER_REQUESTED_MW = _stable("POWER_REQUESTED_LIMIT", 192)
TLIMIT_SHUTDOWN = _stable("TEMPERATURE_SHUTDOWN_TLIMIT", 193)
TLIMIT_SLOWDOWN = _stable("TEMPERATURE_SLOWDOWN_TLIMIT", 194)
TLIMIT_MEMORY_MAX = _stable("TEMPERATURE_MEM_MAX_TLIMIT", 195)
TLIMIT_GPU_MAX = _stable("TEMPERATURE_GPU_MAX_TLIMIT", 196)
PCIE_TX_BYTES = _stable("PCIE_COUNT_TX_BYTES", 197)
PCIE_RX_BYTES = _stable("PCIE_COUNT_RX_BYTES", 198)
# 201 to 250 kept their ids where a driver has them; the first bindings with them are of these branches.
NVLINK_TX_PACKETS = _since("NVLINK_COUNT_XMIT_PACKETS", (550,), 201)
NVLINK_TX_BYTES = _since("NVLINK_COUNT_XMIT_BYTES", (550,), 202)
NVLINK_RX_PACKETS = _since("NVLINK_COUNT_RCV_PACKETS", (550,), 203)
NVLINK_RX_BYTES = _since("NVLINK_COUNT_RCV_BYTES", (550,), 204)
NVLINK_MALFORMED = _since("NVLINK_COUNT_MALFORMED_PACKET_ERRORS", (550,), 206)
NVLINK_BUFFER_OVERRUN = _since("NVLINK_COUNT_BUFFER_OVERRUN_ERRORS", (550,), 207)
NVLINK_RCV = _since("NVLINK_COUNT_RCV_ERRORS", (550,), 208)
NVLINK_RCV_REMOTE = _since("NVLINK_COUNT_RCV_REMOTE_ERRORS", (550,), 209)
NVLINK_RCV_GENERAL = _since("NVLINK_COUNT_RCV_GENERAL_ERRORS", (550,), 210)
NVLINK_LOCAL_INTEGRITY = _since("NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS", (550,), 211)
NVLINK_XMIT_DISCARDS = _since("NVLINK_COUNT_XMIT_DISCARDS", (550,), 212)
NVLINK_VL15_DROPPED = _since("NVLINK_COUNT_VL15_DROPPED", (550,), 205)
NVLINK_RECOVERY_OK = _since("NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS", (550,), 213)
NVLINK_RECOVERY_FAILED = _since("NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS", (550,), 214)
NVLINK_RECOVERY = _since("NVLINK_COUNT_LINK_RECOVERY_EVENTS", (550,), 215)
NVLINK_EFFECTIVE_ERRORS = _since("NVLINK_COUNT_EFFECTIVE_ERRORS", (550,), 219)
NVLINK_EFFECTIVE_BER = _since("NVLINK_COUNT_EFFECTIVE_BER", (550,), 220)
NVLINK_SYMBOL_ERRORS = _since("NVLINK_COUNT_SYMBOL_ERRORS", (550,), 221)
NVLINK_SYMBOL_BER = _since("NVLINK_COUNT_SYMBOL_BER", (550,), 222)
RECOVERY_ACTION = _since("GET_GPU_RECOVERY_ACTION", (565,), 230)
C2C_INTERRUPTS = _since("C2C_LINK_ERROR_INTR", (565,), 231)
C2C_REPLAYS = _since("C2C_LINK_ERROR_REPLAY", (565,), 232)
C2C_REPLAYS_B2B = _since("C2C_LINK_ERROR_REPLAY_B2B", (565,), 233)
NVLINK_FEC = tuple(_since(f"NVLINK_COUNT_FEC_HISTORY_{bin_}", (570,), 235 + bin_) for bin_ in range(16))


def _moved(name: str, before: int, after: int) -> Field:
    # Between 580.65 and 580.82 nobody has seen which of the two holds, so neither is used.
    return Field(name, (((575, 51), (580, 65), before), ((580, 82), (), after)))


SW_THERMAL_NS = _moved("CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN", 251, 269)
HW_THERMAL_NS = _moved("CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN", 252, 270)
HW_POWER_BRAKE_NS = _moved("CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN", 253, 271)
