"""Alerts about the memory of GPUs: errors that lost data, rows that are replaced, boards that are worn out."""

from __future__ import annotations

from gpuscope_generator.normalized import fault, gpu
from gpuscope_generator.normalized.gpu import GPU
from gpuscope_generator.promql import Matcher, Vector, first_of, max_by, select, sum_by
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import outside_maintenance
from gpuscope_generator.rules.alerts.wording import DRAIN, FOLLOW_DRIVER, counted
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.rules.spoken import HELD
from gpuscope_generator.settings import Settings

__all__ = ["memory_alerts"]

_WHERE = {"node": "node", "gpu": "gpu"}


def memory_alerts(settings: Settings) -> RuleFile:
    """Alerts about GPU memory."""
    rules = (_uncorrectable(), _contained(), _pending(), _failed(), _sram())
    return RuleFile(
        path="alerts/memory.yaml",
        comment="Memory errors of GPUs: uncorrectable and contained ones, rows that wait for their replacement or "
        "cannot be replaced, and SRAM that is worn out. A corrected error is no alert.",
        groups=(Group("gpuscope-alerts-memory", settings.intervals.normalize, rules),),
    )


def _events(*classes: str) -> Vector:
    found = select(fault.FAULTS, Matcher("fault_class", "=~", "|".join(classes)))
    return sum_by(found, *GPU).compare(">", 0)


def _uncorrectable() -> Alert:
    return alert(
        name="GpuMemoryUncorrectable",
        expression=outside_maintenance(_events("mem_uncorrectable", "mem_uncontained")),
        keep_s=1800,
        severity=Severity.CRITICAL,
        scope=Scope.GPU,
        component=Component.GPU,
        fault_class="mem_uncorrectable",
        summary="A GPU lost data in its memory.",
        description=f"{counted('uncorrectable or uncontained memory error')} (XID 48, 95, 140, or "
        "uncorrected ECC errors of AMD) within ten minutes on GPU {{ $labels.gpu }} of node {{ $labels.node }}. All "
        "work on the GPU is lost or wrong; there should be none.",
        measured=f"{counted('error')} in 10 minutes",
        action=f"{DRAIN}, end what runs on the GPU, and reset it; {FOLLOW_DRIVER}. After the reset look for rows that "
        "could not be remapped and for the SRAM flag.",
        carry=_WHERE,
    )


def _contained() -> Alert:
    return alert(
        name="GpuMemoryContained",
        expression=outside_maintenance(_events("mem_contained")),
        keep_s=1800,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.GPU,
        fault_class="mem_contained",
        summary="A GPU contained a memory error: one application is lost, the GPU is not.",
        description=f"{counted('contained memory error')} (XID 94) within ten minutes on GPU "
        "{{ $labels.gpu }} of node {{ $labels.node }}. The application that read the page was ended; others go on.",
        measured=f"{counted('error')} in 10 minutes",
        action="Let the work restart, on this GPU too. Reset the GPU when it is next idle, so that the row is "
        "replaced.",
        carry=_WHERE,
    )


def _pending() -> Alert:
    return alert(
        name="GpuRowRemapPending",
        expression=outside_maintenance(max_by(select(gpu.REMAPPING_PENDING), *GPU).compare("==", 1)),
        for_s=600,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.GPU,
        fault_class="mem_remap",
        summary="A GPU waits for a reset to replace a memory row.",
        description=f"GPU {{{{ $labels.gpu }}}} of node {{{{ $labels.node }}}} has had for {HELD} a memory row that "
        "will "
        "be replaced by a spare one at its next reset. Until then the driver keeps work off the page.",
        action="Reset the GPU when the node is next drained. Do not end work for it.",
        carry=_WHERE,
    )


def _failed() -> Alert:
    flagged = max_by(select(gpu.REMAPPING_FAILED), *GPU).compare("==", 1)
    worn = max_by(select(gpu.FAULT, fault="memory_unrepairable"), *GPU).compare("==", 1)
    return alert(
        name="GpuRowRemapFailed",
        # In MIG mode the driver answers no flag: there the event is all that there is.
        expression=outside_maintenance(first_of(flagged, worn, _events("mem_remap_failed") * 0 + 1)),
        for_s=300,
        keep_s=1800,
        severity=Severity.CRITICAL,
        scope=Scope.GPU,
        component=Component.GPU,
        fault_class="mem_remap_failed",
        summary="A GPU cannot replace a broken memory row.",
        description=f"GPU {{{{ $labels.gpu }}}} of node {{{{ $labels.node }}}} has said for {HELD} that a memory row "
        "could not be replaced (XID 64), or that its memory cannot be repaired. No spare rows are left where one is "
        "needed.",
        action=f"{DRAIN}, and reset the GPU once nothing runs on it. If it says so again, run the field diagnostics of "
        "the maker, and have the board replaced.",
        carry=_WHERE,
    )


def _sram() -> Alert:
    return alert(
        name="GpuSramThresholdExceeded",
        expression=outside_maintenance(max_by(select(fault.SRAM_EXCEEDED), *GPU).compare("==", 1)),
        for_s=300,
        severity=Severity.CRITICAL,
        scope=Scope.GPU,
        component=Component.GPU,
        tier=2,
        fault_class="mem_uncorrectable",
        summary="A GPU had more SRAM errors than its maker accepts.",
        description=f"GPU {{{{ $labels.gpu }}}} of node {{{{ $labels.node }}}} has said for {HELD} that its "
        "uncorrected "
        "errors in caches and registers are above the maker's threshold. They cannot be remapped, and will come again.",
        action=f"{DRAIN}, run the field diagnostics of the maker, and have the board replaced.",
        carry=_WHERE,
    )
