"""The cluster around the demo's agents: what other exporters would say of the same nodes, GPUs and pods."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from gpuscope.demo.checks import Check
from gpuscope.demo.children import Children, free_port
from gpuscope.demo.prometheus import CLUSTER, Prometheus

__all__ = ["SCRAPE_INTERVAL", "DemoCluster", "cluster_checks", "start_cluster"]

SCRAPE_INTERVAL = "5s"
_KNOWN = """
gpuscope_pod_allocation_info
  * on (namespace, pod) group_left () max by (namespace, pod) (kube_pod_info)
"""
_MOST = 0.8
"""Of the allocations: pods that come and go do so a moment apart."""
_OURS = 'job!~"gpuscope|gpuscope-collector"'


class DemoCluster:
    """The running simulation.

    Args:
        address: ``host:port``.
        config: file that it writes once it listens.
    """

    def __init__(self, address: str, config: Path) -> None:
        self.url = f"http://{address}"
        self._config = config

    def listens(self) -> bool:
        """Whether it is there."""
        return self._config.exists()

    def scrape_configs(self) -> list[dict[str, Any]]:
        """What Prometheus must know of it; once it listens."""
        found: list[dict[str, Any]] = yaml.safe_load(self._config.read_text(encoding="utf-8"))["scrape_configs"]
        return found


def start_cluster(children: Children, folder: Path, fleet: Mapping[str, str]) -> DemoCluster:
    """Starts it.

    Args:
        children: gets it.
        folder: gets its file.
        fleet: scenario by node, as the agents simulate them.
    """
    address, config = f"127.0.0.1:{free_port()}", folder / "cluster.yml"
    arguments = [sys.executable, "-m", "gpuscope", "simulate", "cluster", "--profile", "native", "--cluster", CLUSTER]
    arguments += [
        "--listen-address",
        address,
        "--write-scrape-config",
        str(config),
        "--scrape-interval",
        SCRAPE_INTERVAL,
    ]
    for node, scenario in fleet.items():
        arguments += ["--scenario", f"{node}={scenario}"]
    children.start("cluster", arguments)
    return DemoCluster(address, config)


def cluster_checks(cluster: DemoCluster, prometheus: Prometheus) -> list[Check]:
    """Checks that Prometheus has all of it, and that it speaks of the agents' GPUs and pods."""
    expected = sum(len(job["static_configs"]) for job in cluster.scrape_configs())
    up = sum(point.value for point in prometheus.query(f"up{{{_OURS}}}"))
    pods = prometheus.query("gpuscope_pod_allocation_info")
    known = prometheus.query(_KNOWN)
    return [
        Check("the exporters around them are scraped", up == expected > 0, f"{up:.0f} of {expected}"),
        Check(
            "they know the agents' pods", len(known) >= _MOST * len(pods), f"{len(known)} of {len(pods)} allocations"
        ),
    ]
