"""Where each exposition of a simulation is served, and how Prometheus is told of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from gpuscope.simulate.cluster.profiles import Plan
from gpuscope.simulate.cluster.sources.registry import SOURCES
from gpuscope.simulate.cluster.sources.target import Source, Target
from gpuscope.simulate.cluster.world import World

__all__ = ["Endpoint", "endpoints", "prometheus_config", "scrape_configs"]

_SLOW = 4.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One path.

    Attributes:
        path: of the URL.
    """

    path: str
    world: World
    source: Source
    target: Target


def endpoints(plan: Plan, worlds: Sequence[World]) -> list[Endpoint]:
    """All that a simulation serves; sources that have nothing to say in this cluster have no endpoint."""
    return [
        Endpoint(f"/{world.name}/{name}/{target.name}/metrics", world, SOURCES[name], target)
        for world in worlds
        for name in plan.sources
        if name in SOURCES
        for target in SOURCES[name].targets(world)
    ]


def scrape_configs(found: Sequence[Endpoint], address: str, interval_s: float = 15.0) -> list[dict[str, Any]]:
    """The ``scrape_configs`` of Prometheus, with the jobs and labels of a usual installation.

    Args:
        found: what is served.
        address: ``host:port`` of the server.
        interval_s: scrape interval in seconds; what is asked seldom has a longer one.
    """
    jobs: dict[str, dict[str, Any]] = {}
    for endpoint in found:
        source = endpoint.source
        # Two sources may have one job; their settings differ, so that each is a job of Prometheus' own with that label.
        job = jobs.setdefault(source.name, _job(source, interval_s))
        job["static_configs"].append(
            {"targets": [address], "labels": {"__metrics_path__": endpoint.path, **_labels(endpoint)}}
        )
    return list(jobs.values())


def _job(source: Source, interval_s: float) -> dict[str, Any]:
    interval = f"{interval_s * (_SLOW if source.slow else 1):g}s"
    job: dict[str, Any] = {"job_name": source.name, "scrape_interval": interval, "scrape_timeout": f"{interval_s:g}s"}
    if source.honor_labels:
        job["honor_labels"] = True
    return job | {"static_configs": []}


def _labels(endpoint: Endpoint) -> Mapping[str, str]:
    job = {"job": endpoint.source.job} if endpoint.source.job != endpoint.source.name else {}
    return {"cluster": endpoint.world.name, **job, **endpoint.target.labels}


def prometheus_config(
    found: Sequence[Endpoint], address: str, *, interval_s: float = 15.0, rules: Sequence[str] = (),
    agents: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """A whole configuration of Prometheus, as YAML.

    Args:
        found: what is served.
        address: ``host:port`` of the server.
        interval_s: scrape interval in seconds.
        rules: files of rules, or patterns.
        agents: ``host:port`` of agents by node; they are in the first cluster.
    """
    interval = f"{interval_s:g}s"
    document: dict[str, Any] = {
        "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval}
    }
    if rules:
        document["rule_files"] = list(rules)
    document["scrape_configs"] = scrape_configs(found, address, interval_s) + list(_agents(found, agents or {}))
    return yaml.safe_dump(document, sort_keys=False)


def _agents(found: Sequence[Endpoint], agents: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    if agents:
        cluster = found[0].world.name if found else "sim"
        yield {
            "job_name": "gpuscope",
            "static_configs": [
                {"targets": [address], "labels": {"cluster": cluster, "node": node}} for node, address in agents.items()
            ],
        }
