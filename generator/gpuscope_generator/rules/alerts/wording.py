"""Sentences and lookups that several alerts share."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu
from gpuscope_generator.promql import Gauge, Matcher, select
from gpuscope_generator.promql.series import Series

__all__ = ["DRAIN", "FOLLOW_DRIVER", "gpus_of_node"]

DRAIN = (
    "Keep new work away from the node (kubectl cordon NODE, or scontrol update nodename=NODE state=drain reason=WHY)"
)
FOLLOW_DRIVER = "where an alert about the recovery action fires for the same GPU, do what that one says"


def gpus_of_node(series: Gauge, *conditions: Matcher, compared: str = "") -> str:
    """A template that names the GPUs of the alert's node for which a query has a result, with their serial numbers.

    Args:
        series: of GPUs.
        conditions: on its labels.
        compared: such as ``== 0``.
    """
    asked = _of(series, "node", *conditions) + (f" {compared}" if compared else "")
    serial = _of(gpu.SERIAL, "uuid")
    one = (
        "{{ if $index }}, {{ end }}GPU {{ $one.Labels.gpu }}{{ with $one.Labels.uuid }} ({{ . }}"
        f'{{{{ with query (printf "{serial}" $labels.cluster $one.Labels.uuid) }}}}'
        ', serial {{ . | first | label "serial" }}{{ end }}){{ end }}'
    )
    return (
        f'{{{{ range $index, $one := query (printf "{asked}" $labels.cluster $labels.node) | sortByLabel "gpu" }}}}'
        f"{one}{{{{ else }}}}nobody knows which{{{{ end }}}}"
    )


def _of(series: Series, label: str, *conditions: Matcher) -> str:
    text = select(series, *conditions, Matcher("cluster", "=", "%q"), Matcher(label, "=", "%q")).text
    return text.replace('"%q"', "%q").replace('"', r"\"")
