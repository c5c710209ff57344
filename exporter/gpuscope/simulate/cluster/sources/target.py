"""What Prometheus finds: a source, its targets, and the labels that an installation gives them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from gpuscope.simulate.cluster.world import World

__all__ = ["Source", "Target", "daemon_pod", "letters", "service"]

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True, slots=True)
class Target:
    """One endpoint.

    Attributes:
        name: last part of its path.
        labels: that the installation gives it, beside ``job``.
        render: makes its exposition.
    """

    name: str
    labels: Mapping[str, str]
    render: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Source:
    """One exporter.

    Attributes:
        name: first part of the path, and how the command line names it.
        job: Prometheus' job, as a typical installation names it.
        text: one line about it.
        targets: its endpoints in a cluster.
        honor_labels: whether labels of the exposition win.
        slow: whether it is asked less often.
    """

    name: str
    job: str
    text: str
    targets: Callable[[World], Sequence[Target]]
    honor_labels: bool = False
    slow: bool = False


def letters(name: str, count: int = 5) -> str:
    """Letters as Kubernetes makes them for the end of a name, the same for the same name."""
    number = crc32(name.encode())
    return "".join(_LETTERS[(number >> shift) % len(_LETTERS)] for shift in range(0, count * 5, 5))


def daemon_pod(name: str, node: str) -> str:
    """Name of a DaemonSet's pod on a node."""
    return f"{name}-{letters(f'{name}/{node}')}"


def service(namespace: str, name: str, instance: str, *, container: str = "", endpoint: str = "metrics",
            pod: str = "") -> dict[str, str]:  # fmt: skip
    """The labels that a ServiceMonitor of the Prometheus operator gives a target."""
    return {
        "namespace": namespace, "service": name, "container": container or name, "endpoint": endpoint,
        "instance": instance, "pod": pod or f"{name}-{letters(name, 10)}-{letters(instance)}",
    }  # fmt: skip
