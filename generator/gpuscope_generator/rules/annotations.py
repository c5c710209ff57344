"""What every alert tells: where, whose work, how much, what to do, and where to read on."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu
from gpuscope_generator.promql import Matcher, select
from gpuscope_generator.rules.alert import WORKLOAD, Alert, Audience, Scope
from gpuscope_generator.settings import Settings

__all__ = ["annotations_of", "asked", "labels_of"]

HELD = (
    "{{ with $held.Labels.namespace }}{{ . }}/{{ end }}"
    "{{ if ne $held.Labels.workload $held.Labels.job_id }}{{ $held.Labels.workload }}"
    "{{ with $held.Labels.job_id }} (job {{ . }}){{ end }}{{ else }}job {{ $held.Labels.job_id }}{{ end }}"
)
"""Name of the work that holds a GPU: a job of Slurm has no namespace, and often no name but its number. A template."""


def labels_of(alert: Alert, settings: Settings) -> dict[str, str]:
    """The fixed labels of an alert: those of the user, and those that route and group it."""
    found = dict(settings.alert_labels)
    found |= {
        "severity": alert.severity.value,
        "scope": alert.scope.value,
        "component": alert.component.value,
        "audience": alert.audience.value,
    }
    if alert.fault_class:
        found["fault_class"] = alert.fault_class
    return found | dict(alert.labels)


def annotations_of(alert: Alert, settings: Settings) -> dict[str, str]:
    """The texts of an alert, some of them templates of Prometheus.

    ``location``, ``owner`` and ``measured`` are missing where there is nothing to say.
    """
    found = {"summary": alert.told(alert.summary), "description": alert.told(alert.description)}
    if location := _location(alert):
        found["location"] = location
    if owner := _owner(alert):
        found["owner"] = owner
    if alert.measured:
        found["measured"] = alert.told(alert.measured)
    found["recommended_action"] = alert.action
    found["runbook_url"] = f"{settings.runbook_prefix}/{alert.name}.md"
    found["dashboard_url"] = _board(alert, settings)
    return found


def _location(alert: Alert) -> str:
    known = alert.expression.labels or frozenset()
    # Not every cluster knows its racks: then the label is empty.
    rack = "{{ with $labels.rack }}rack {{ . }}, {{ end }}" if "rack" in known and alert.scope is not Scope.RACK else ""
    if alert.scope is Scope.GPU:
        serial = asked(select(gpu.SERIAL, cluster="%q", uuid="%q").text, "cluster", "uuid")
        number = f'{{{{ with {serial} }}}}, serial {{{{ . | first | label "serial" }}}}{{{{ end }}}}'
        # Without a UUID nobody knows whose serial number it would be.
        known_by = f"{{{{ with $labels.uuid }}}}, {{{{ . }}}}{number}{{{{ end }}}}"
        return f"{rack}node {{{{ $labels.node }}}}, GPU {{{{ $labels.gpu }}}}{known_by}"
    if alert.scope is Scope.MONITORING:
        return "{{ with $labels.node }}node {{ . }}{{ end }}" if "node" in known else ""
    words = {
        "rack": "rack",
        "node": "node",
        "device": "device",
        "port": "port",
        "filesystem": "file system",
        "target": "target",
        "queue": "queue",
        "model": "model",
    }
    if rack:
        del words["rack"]
    parts = [f"{word} {{{{ $labels.{label} }}}}" for label, word in words.items() if label in known]
    if "workload" in known and parts:
        # A model may be served outside of Kubernetes.
        both = "{{ with $labels.namespace }}, namespace {{ . }}{{ end }}{{ with $labels.workload }}, workload {{ . }}"
        return rack + ", ".join(parts) + both + "{{ end }}"
    if "workload" in known:
        # Jobs of Slurm have no namespace.
        parts.append("{{ with $labels.namespace }}namespace {{ . }}, {{ end }}workload {{ $labels.workload }}")
    elif "namespace" in known:
        parts.append("{{ with $labels.namespace }}namespace {{ . }}{{ end }}")
    return rack + ", ".join(parts)


def _owner(alert: Alert) -> str:
    """Whose work runs there: from the labels where the alert has them, else as the rules know it."""
    known = alert.expression.labels or frozenset()
    if alert.audience is Audience.OWNER or {"namespace", "workload"} <= known:
        team = "{{ with $labels.team }}, team {{ . }}{{ end }}" if "team" in known else ""
        return f"{WORKLOAD}{team}" if "workload" in known else "{{ with $labels.team }}team {{ . }}{{ end }}"
    if alert.scope is Scope.GPU:
        uuid = Matcher("uuid", "!=", "")
        query = asked(select(gpu.OWNER, uuid, cluster="%q", uuid="%q").text, "cluster", "uuid")
    elif alert.scope is Scope.NODE:
        held = select(gpu.OWNER, cluster="%q", node="%q").text
        query = asked(f"group by (namespace, workload, job_id, team) ({held})", "cluster", "node")
    else:
        return ""
    each = f"{{{{ if $index }}}}; {{{{ end }}}}{HELD}{{{{ with $held.Labels.team }}}}, team {{{{ . }}}}{{{{ end }}}}"
    sorted_by_name = f'{query} | sortByLabel "workload"'
    return f"{{{{ range $index, $held := {sorted_by_name} }}}}{each}{{{{ else }}}}nobody known{{{{ end }}}}"


def asked(query: str, *labels: str) -> str:
    """A query within a template, with the alert's own labels in it: quotes in them do no harm."""
    arguments = " ".join(f"$labels.{label}" for label in labels)
    escaped = query.replace('"%q"', "%q").replace('"', r"\"")
    return f'query (printf "{escaped}" {arguments})'


def _board(alert: Alert, settings: Settings) -> str:
    carried = {"cluster": "cluster"} if "cluster" in (alert.expression.labels or ()) else {}
    carried |= alert.carry
    query = "&".join(f"var-{name}={{{{ $labels.{label} | urlquery }}}}" for name, label in carried.items())
    page = f"{settings.link_prefix}/d/{alert.board.uid}/{alert.board.value}"
    return f"{page}?{query}" if query else page
