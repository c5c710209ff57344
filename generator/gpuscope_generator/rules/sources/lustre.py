"""What our agent tells of the Lustre client: targets, requests, read-ahead, LNet."""

from __future__ import annotations

from gpuscope.catalogue import lustre
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.normalized import filesystem, mount, storage_target
from gpuscope_generator.promql import Matcher, Vector, group_by, label_replace, max_by, rate, sum_by
from gpuscope_generator.rules.model import Recording, recording
from gpuscope_generator.rules.sources.agent import Agent

__all__ = ["lustre_client_rules"]

_EVENTS = (
    ("timeouts", lustre.REQUEST_TIMEOUTS),
    ("reconnects", lustre.CONNECTION_ATTEMPTS),
    ("evictions", lustre.EVICTIONS),
)


def lustre_client_rules(agent: Agent, timeouts: Vector) -> tuple[Recording, ...]:
    """Rules of the Lustre client.

    Args:
        agent: how the agent's series are read.
        timeouts: a second, of other file systems; Lustre tells its own by target.
    """

    def speed(metric: Metric, *labels: str, condition: Matcher | None = None) -> Vector:
        conditions = (condition,) if condition else ()
        each = agent.named(rate(agent.counter(metric, *conditions), "5m"))
        return max_by(each, "cluster", "node", *labels)

    of_nodes = (*mount.ON_NODE, "target")
    target = storage_target.TARGET
    known = Matcher("target", "!=", "")
    waiting = max_by(agent.named(agent.raw(lustre.RPCS_IN_FLIGHT, known)), *of_nodes, "type")
    connected = max_by(agent.named(agent.raw(lustre.TARGET_UP, known)), *of_nodes)
    events: list[Recording] = []
    for event, metric in _EVENTS:
        each = speed(metric, "filesystem", "target")
        of_mounts = sum_by(each, *mount.ON_NODE)
        if metric is lustre.REQUEST_TIMEOUTS:
            of_mounts = of_mounts.or_(timeouts)
        events.append(recording(mount.EVENTS, of_mounts, event=event))
        events.append(recording(storage_target.EVENTS, sum_by(each, *target), event=event))
    return (
        *events,
        recording(storage_target.IN_FLIGHT, sum_by(waiting, *target, "type")),
        recording(storage_target.IN_FLIGHT_MAX, max_by(waiting, *target, "type")),
        recording(storage_target.CLIENTS_DOWN, sum_by(connected.compare("==", 0, as_bool=True), *target)),
        recording(
            filesystem.READ_AHEAD,
            sum_by(speed(lustre.READ_AHEAD, "filesystem", "mountpoint", "event"), *filesystem.FILESYSTEM, "event"),
        ),
        recording(
            filesystem.RPCS,
            sum_by(
                speed(lustre.RPCS, "filesystem", "direction", "pages"), *filesystem.FILESYSTEM, "direction", "pages"
            ),
        ),
        recording(mount.LNET_BYTES, speed(lustre.LNET_BYTES, "direction")),
        recording(
            mount.LNET_PROBLEMS,
            sum_by(speed(lustre.LNET_MESSAGES, "direction", condition=Matcher("direction", "=", "drop")), *_NODE),
            problem="drops",
        ),
        recording(mount.LNET_PROBLEMS, speed(lustre.LNET_ERRORS), problem="errors"),
        recording(mount.LUSTRE_SOURCE, _sources(agent)),
    )


_NODE = ("cluster", "node")


def _sources(agent: Agent) -> Vector:
    """The place that a parameter is read from; ``none`` where no place gives it."""
    keys = (*_NODE, "param")
    places = agent.named(agent.raw(lustre.SOURCE_AVAILABLE))
    used = group_by(places.compare("==", 1), *keys, "source")
    none = label_replace(max_by(places, *keys).compare("==", 0) + 1, "source", "none", "", "")
    return used.or_(none)
