"""Which versions run where: driver, CUDA, firmware, kernel, kubelet and our agent."""

from __future__ import annotations

from gpuscope.catalogue import inventory
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.external import kubernetes as kube
from gpuscope_generator.external import node_exporter as host
from gpuscope_generator.external.dcgm import PRESENCE
from gpuscope_generator.normalized import fleet, node
from gpuscope_generator.promql import Matcher, Vector, first_of, group_by, join, label_replace, max_by, select
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.agent import Agent
from gpuscope_generator.rules.sources.canonical import canonical, clustered, of_object, of_source
from gpuscope_generator.settings import Settings

__all__ = ["version_rules"]

_DCGM_DRIVER = "DCGM_FI_DRIVER_VERSION"


def version_rules(settings: Settings) -> RuleFile:
    """Rules about the software of each node."""
    agent = Agent(settings)

    def own(component: str, metric: Metric, label: str) -> Recording:
        return _version(component, agent.named(agent.raw(metric)), label)

    own_drivers = _versions(agent.named(agent.raw(inventory.DRIVER_INFO)), "driver_version")
    kernel = max_by(
        clustered(of_source(host.UNAME, settings, "node-exporter"), settings), "cluster", "instance", "release"
    )
    kernels = join(kernel, select(node.INSTANCE), on=("cluster", "instance"), take=("node",))
    kubelets = of_object(of_source(kube.NODE_INFO, settings, "kube-state-metrics"), settings, "node")
    return RuleFile(
        path="recording/versions.yaml",
        comment="Versions of the software of each node, from the gpuscope agent, dcgm-exporter, node-exporter and "
        "kube-state-metrics.",
        groups=(
            Group(
                "gpuscope-versions",
                settings.intervals.slow,
                (
                    recording(
                        fleet.VERSION,
                        own_drivers.or_(_versions(_dcgm_drivers(agent), _DCGM_DRIVER)),
                        component="driver",
                    ),
                    own("cuda", inventory.DRIVER_INFO, "cuda_version"),
                    own("vbios", inventory.GPU_INFO, "vbios"),
                    own("agent", inventory.BUILD_INFO, "version"),
                    _version("kernel", kernels, "release"),
                    _version("kubelet", kubelets, "kubelet_version"),
                ),
            ),
        ),
    )


def _version(component: str, found: Vector, label: str) -> Recording:
    return recording(fleet.VERSION, _versions(found, label), component=component)


def _versions(found: Vector, label: str) -> Vector:
    return group_by(label_replace(found, "version", "$1", label, "(.+)"), *node.NODE, "version")


def _dcgm_drivers(agent: Agent) -> Vector:
    """Of dcgm-exporter, which puts it on every series as a label; for nodes where our agent does not tell it."""
    told = Matcher(_DCGM_DRIVER, "!=", "")
    seen = first_of(*(of_source(series, agent.settings, "dcgm", told) for series in PRESENCE))
    named = canonical(seen, agent.settings, node_from=("Hostname", "hostname"))
    return named.unless(agent.named(agent.raw(inventory.DRIVER_INFO)), on=node.NODE)
