"""cAdvisor in kubelet: what pods use of CPU, memory and network."""

from __future__ import annotations

from gpuscope_generator.external import cadvisor
from gpuscope_generator.normalized import workload
from gpuscope_generator.promql import Counter, Matcher, Vector, increase, max_by, rate, ratio, sum_by
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import of_object, of_source
from gpuscope_generator.rules.sources.kubernetes_pods import attributed
from gpuscope_generator.rules.sources.pod_owners import OBJECT
from gpuscope_generator.settings import Settings

__all__ = ["SOURCE", "cadvisor_rules"]

SOURCE = "cadvisor"
# Rows without a container are sums over the pod; POD is the pause container.
_CONTAINERS = (Matcher("container", "!~", "|POD"), Matcher("pod", "!=", ""))


def cadvisor_rules(settings: Settings) -> RuleFile:
    """Rules of what pods use, joined with the workload that they belong to."""

    def summed(found: Vector) -> Vector:
        """Over the containers of a pod; the larger where two scrape one kubelet, or a container was replaced."""
        each = max_by(of_object(found, settings, "namespace", "pod", "container"), *OBJECT, "container")
        return sum_by(each, *OBJECT)

    def rated(counter: Counter) -> Vector:
        return summed(rate(of_source(counter, settings, SOURCE, *_CONTAINERS), "5m"))

    def network(direction: str, counter: Counter) -> Recording:
        each = of_object(
            rate(of_source(counter, settings, SOURCE, Matcher("pod", "!=", "")), "5m"), settings, "namespace", "pod"
        )
        found = sum_by(max_by(each, *OBJECT, "interface"), *OBJECT)
        return recording(workload.POD_NETWORK, attributed(found), direction=direction)

    throttled = ratio(rated(cadvisor.CPU_PERIODS_THROTTLED), rated(cadvisor.CPU_PERIODS))
    killed = summed(increase(of_source(cadvisor.OOM_EVENTS, settings, SOURCE, *_CONTAINERS), "1h"))
    rules = (
        recording(workload.POD_CPU, attributed(rated(cadvisor.CPU))),
        recording(workload.POD_CPU_THROTTLED, attributed(throttled)),
        recording(workload.POD_MEMORY, attributed(summed(of_source(cadvisor.MEMORY, settings, SOURCE, *_CONTAINERS)))),
        recording(workload.POD_OOM, attributed(killed)),
        network("rx", cadvisor.RECEIVED),
        network("tx", cadvisor.SENT),
    )
    return RuleFile(
        path="recording/cadvisor.yaml",
        comment="From cAdvisor to what each pod uses, with its workload. Needs the pods of recording/kubernetes.yaml.",
        groups=(Group("gpuscope-normalize-cadvisor", settings.intervals.normalize, rules),),
    )
