"""Every source that can be simulated."""

from collections.abc import Mapping

from gpuscope.simulate.cluster.sources import dcgm, kube_state, node_exporter, vllm
from gpuscope.simulate.cluster.sources.target import Source

__all__ = ["SOURCES"]

_ALL = (
    dcgm.CLASSIC,
    dcgm.MODERN,
    kube_state.KUBE_STATE,
    kube_state.KUBE_STATE_PAIR,
    node_exporter.NODE,
    node_exporter.NODE_EFA,
    vllm.VLLM,
    vllm.VLLM_OLD,
)

SOURCES: Mapping[str, Source] = {source.name: source for source in _ALL}
"""Sources by name."""
