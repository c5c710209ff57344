"""NVLink facts that both NVLink collectors read: which links exist, which fields count, how ratios are packed."""

import math

from gpuscope.nvml import fields
from gpuscope.nvml.gpu import Gpu
from gpuscope.nvml.values import KIBI

__all__ = ["DIRECTIONS", "ERRORS", "bit_error_ratio", "present", "state", "traffic_bytes"]

DIRECTIONS = ("tx", "rx")
_MAX_LINKS = 18
_INVALID_ARGUMENT = 2
_BYTES = {"tx": fields.NVLINK_TX_BYTES, "rx": fields.NVLINK_RX_BYTES}
_KIBIBYTES = {"tx": fields.NVLINK_TX_KIB, "rx": fields.NVLINK_RX_KIB}

ERRORS = {
    "replay": fields.NVLINK_REPLAYS,
    "recovery_dl": fields.NVLINK_RECOVERIES,
    "crc": fields.NVLINK_CRC,
    "malformed": fields.NVLINK_MALFORMED,
    "buffer_overrun": fields.NVLINK_BUFFER_OVERRUN,
    "rcv": fields.NVLINK_RCV,
    "rcv_remote": fields.NVLINK_RCV_REMOTE,
    "rcv_general": fields.NVLINK_RCV_GENERAL,
    "local_integrity": fields.NVLINK_LOCAL_INTEGRITY,
    "xmit_discard": fields.NVLINK_XMIT_DISCARDS,
    "vl15_dropped": fields.NVLINK_VL15_DROPPED,
    "recovery_ok": fields.NVLINK_RECOVERY_OK,
    "recovery_failed": fields.NVLINK_RECOVERY_FAILED,
    "recovery": fields.NVLINK_RECOVERY,
    "effective": fields.NVLINK_EFFECTIVE_ERRORS,
    "symbol": fields.NVLINK_SYMBOL_ERRORS,
}
"""Error counters by type: the first three before Blackwell, the others with NVLink 5."""


def present(gpu: Gpu) -> list[int]:
    """Numbers of the links that this GPU has; none while MIG is on.

    Raises:
        DeviceLost: the GPU is gone.
        NvmlUnavailable: the driver is gone.
    """
    return [link for link in range(_MAX_LINKS) if state(gpu, link) is not None]


def state(gpu: Gpu, link: int) -> int | None:
    """1 while the link is active, 0 while it is not, ``None`` when the GPU has no such link."""
    answer = gpu.attempt(
        "nvmlDeviceGetNvLinkState",
        lambda function: function(gpu.pointer, link),
        key=(link,),
        absent=_INVALID_ARGUMENT,
    )
    return None if answer is None else int(answer)


def traffic_bytes(gpu: Gpu, direction: str, link: int) -> float | None:
    """Bytes sent (``tx``) or received (``rx``) since the driver was loaded, of one link or of ``ALL_LINKS``."""
    value = gpu.field(_BYTES[direction], scope=link)
    return gpu.field(_KIBIBYTES[direction], scope=link, scale=KIBI) if value is None else value


def bit_error_ratio(packed: float | None) -> float | None:
    """Decodes the driver's packed ratio: mantissa in bits 8-11, negative decimal exponent in bits 0-7."""
    if packed is None or math.isnan(packed):
        return packed
    number = int(packed)
    return float(number >> 8 & 0xF) * 10.0 ** -(number & 0xFF)
