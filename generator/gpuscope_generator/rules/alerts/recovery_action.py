"""Alerts about what the driver itself asks for: they come before any table of codes."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu
from gpuscope_generator.normalized.gpu import GPU
from gpuscope_generator.promql import Matcher, Vector, count_by, group_by, max_by, select
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import outside_maintenance
from gpuscope_generator.rules.alerts.wording import DRAIN
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.rules.spoken import HELD
from gpuscope_generator.settings import Settings

__all__ = ["on_many_nodes", "recovery_action_alerts"]

_JOB = ("cluster", "namespace", "workload_kind", "workload", "job_id")
_REPLICATED = Matcher("workload_kind", "!~", "Deployment|ReplicaSet|DaemonSet|InferenceService|RayService|Notebook")
"""What runs on many nodes in copies loses one copy with a GPU, and not all of its work."""


def recovery_action_alerts(settings: Settings) -> RuleFile:
    """Alerts about recovery actions."""
    rules = (_reset(Severity.WARNING), _reset(Severity.CRITICAL), _reboot(), _peers(), _imex())
    return RuleFile(
        path="alerts/recovery-action.yaml",
        comment="What the driver asks for to bring a GPU back (driver 565 and newer): a reset, a reboot, or a repair "
        "of what connects GPUs. An action that nobody knows is no alert.",
        groups=(Group("gpuscope-alerts-recovery-action", settings.intervals.normalize, rules),),
    )


def _asked(*actions: str) -> Vector:
    wanted = select(gpu.RECOVERY_ACTION, Matcher("action", "=~", "|".join(actions)))
    return outside_maintenance(max_by(wanted, *GPU).compare("==", 1))


def on_many_nodes() -> Vector:
    """GPUs that are held by work that holds GPUs of several nodes, and needs all of them."""
    owners = select(gpu.OWNER, _REPLICATED)
    nodes = count_by(group_by(owners, *_JOB, "node"), *_JOB).compare(">", 1)
    return group_by(owners.and_(nodes, on=_JOB), *GPU)


def _reset(severity: Severity) -> Alert:
    asked = _asked("gpu_reset", "drain_and_reset", "bus_reset")
    urgent = severity is Severity.CRITICAL
    tail = " The work on it runs on several nodes, and all of it waits." if urgent else ""
    return alert(
        name="GpuRecoveryActionReset",
        expression=asked.and_(on_many_nodes(), on=GPU) if urgent else asked,
        for_s=120,
        severity=severity,
        scope=Scope.GPU,
        component=Component.GPU,
        summary="A GPU asks for a reset.",
        description=f"For {HELD} the driver has asked for a reset of GPU {{{{ $labels.gpu }}}} of node "
        f"{{{{ $labels.node }}}}, with or without draining it before. It should ask for nothing.{tail}",
        action=f"{DRAIN}, wait until nothing runs on the GPU, and reset it with nvidia-smi --gpu-reset; where it asks "
        "for a reset of its bus, reboot the node. XID errors of the same time say why.",
        carry={"node": "node", "gpu": "gpu"},
    )


def _reboot() -> Alert:
    return alert(
        name="GpuRecoveryActionReboot",
        expression=_asked("node_reboot", "system_reboot"),
        for_s=120,
        severity=Severity.CRITICAL,
        scope=Scope.GPU,
        component=Component.GPU,
        summary="A GPU asks for a reboot of its node.",
        description=f"For {HELD} the driver has asked for a reboot of node {{{{ $labels.node }}}}, to bring GPU "
        "{{ $labels.gpu }} back. A reset does not help; the GPU does no work until then.",
        action=f"{DRAIN} and reboot it. A GPU that asks again within a week goes back to its maker.",
        carry={"node": "node", "gpu": "gpu"},
    )


def _peers() -> Alert:
    return alert(
        name="GpuRecoveryActionDrainP2P",
        expression=_asked("drain_p2p"),
        for_s=120,
        severity=Severity.CRITICAL,
        scope=Scope.GPU,
        component=Component.INTERCONNECT,
        fault_class="nvlink",
        summary="A GPU asks that all traffic between GPUs ends.",
        description=f"For {HELD} the driver has asked that work which lets GPU {{{{ $labels.gpu }}}} of node "
        "{{ $labels.node }} talk to other GPUs be ended. Until then its links do not come back.",
        action="End the jobs that use the GPU together with others, on all their nodes. Then look at the recovery "
        "action again: it should become none, or a reset.",
        carry={"node": "node", "gpu": "gpu"},
    )


def _imex() -> Alert:
    return alert(
        name="GpuRecoveryActionRecoverImex",
        expression=_asked("recover_imex"),
        for_s=120,
        severity=Severity.CRITICAL,
        scope=Scope.GPU,
        component=Component.INTERCONNECT,
        fault_class="nvlink",
        summary="A GPU asks to recover the memory sharing of its NVLink domain.",
        description=f"For {HELD} the driver has asked to recover the IMEX domain of GPU {{{{ $labels.gpu }}}} of node "
        "{{ $labels.node }}: the service by which nodes of one NVLink domain share GPU memory. Jobs over several "
        "nodes of the domain fail until then.",
        action="Look at nvidia-imex on all nodes of the domain (nvidia-imex-ctl -N). End the jobs of the domain, "
        "restart nvidia-imex on every node of it, and start them anew.",
        carry={"node": "node", "gpu": "gpu"},
    )
