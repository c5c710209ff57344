"""Sentences and lookups that several alerts share."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu
from gpuscope_generator.promql import Gauge, Matcher, select
from gpuscope_generator.promql.series import Series

__all__ = ["DRAIN", "FOLLOW_DRIVER", "counted", "gpus_of_node", "one_or_many"]

DRAIN = (
    "Keep new work away from the node (kubectl cordon NODE, or scontrol update nodename=NODE state=drain reason=WHY)"
)
FOLLOW_DRIVER = "where an alert about the recovery action fires for the same GPU, do what that one says"


def one_or_many(one: str, many: str, *, digits: str = "%.0f") -> str:
    """A template of the word that fits the alert's value as it is written."""
    return f'{{{{ if eq (printf "{digits}" $value) "1" }}}}{one}{{{{ else }}}}{many}{{{{ end }}}}'


def counted(one: str, *, digits: str = "%.0f") -> str:
    """A template of the alert's value and what it counts: ``1 GPU``, ``2 GPUs``.

    Args:
        one: the noun for one of them, whose plural ends in s.
        digits: format of the number.
    """
    return f'{{{{ $value | printf "{digits}" }}}} {one_or_many(one, f"{one}s", digits=digits)}'


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
