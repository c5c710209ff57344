"""One agent's answer on its faults, read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gpuscope.workloads.attribution_window import NodeEvent

__all__ = ["AgentAnswer", "AnswerError", "read_answer"]

STALE_S = 60.0
"""An answer whose time differs by more from the reader's is of a stuck agent, or of a node whose clock is wrong."""


class AnswerError(Exception):
    """An answer that cannot be used; the text is the reason, in one word."""


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """What one agent tells.

    Attributes:
        node: its node.
        xids: XIDs of GPUs, each with its first and last time.
        signals: ``sxid_fatal`` for fatal errors of an NVSwitch.
        watched_until: unix time to which it saw its GPUs; ``None`` where it does not see them.
        stale: whether the answer is of another time than the reader's.
    """

    node: str
    xids: tuple[NodeEvent[int], ...]
    signals: tuple[NodeEvent[str], ...]
    watched_until: float | None
    stale: bool


def read_answer(body: bytes, now: float) -> AgentAnswer:
    """Reads the body of ``/api/v1/faults``.

    Args:
        body: JSON.
        now: unix time of the reader.

    Raises:
        AnswerError: it is none.
    """
    try:
        told = json.loads(body)
        node, at = _name(told["node"]), _time(told["generated_at"])
        xids: list[NodeEvent[int]] = []
        signals: list[NodeEvent[str]] = []
        for fault in told["faults"]:
            times = sorted({_time(fault["first"]), _time(fault["last"])})
            uuid = _text(fault.get("gpu_uuid") or "")
            if fault["kind"] == "xid":
                xids += (NodeEvent(node, int(fault["code"]), when, uuid) for when in times)
            elif fault["kind"] == "sxid" and _text(fault.get("meaning") or "").endswith("(fatal)"):
                signals += (NodeEvent(node, "sxid_fatal", when) for when in times)
        stale = abs(now - at) > STALE_S
        sees = _sees(told["driver"]) and not stale
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise AnswerError("malformed") from error
    return AgentAnswer(node, tuple(xids), tuple(signals), at if sees else None, stale)


def _sees(driver: Mapping[str, Any]) -> bool:
    return driver["ok"] is True


def _name(value: Any) -> str:
    if not value:
        raise ValueError("no name of a node")
    return _text(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"no text: {value!r:.40}")
    return value


def _time(value: Any) -> float:
    return datetime.fromisoformat(_text(value)).timestamp()
