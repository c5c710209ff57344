"""Prometheus in the demo: its configuration, and questions to it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import requests
import yaml

from gpuscope.demo.children import Children
from gpuscope.errors import SourceError
from gpuscope.table import Point
from gpuscope.table.web import failure_of

__all__ = ["CLUSTER", "Prometheus", "configuration", "start_prometheus"]

CLUSTER = "demo"
"""Label of everything in the demo."""

_TIMEOUT_S = 10.0
_RULES_S = 10.0
_TABLE = (
    "gpuscope_(gpu_(info|up|failure_info|utilization_ratio|sm_active_ratio|tensor_active_ratio|memory_used_bytes"
    "|memory_total_bytes|power_watts|power_limit_watts|temperature_celsius|xid_errors_total|recovery_action"
    "|clock_event_active)|mig_(info|sm_active_ratio|tensor_active_ratio|memory_used_bytes|memory_total_bytes)"
    "|gpu_graphics_active_ratio|mig_graphics_active_ratio|allocations|pod_allocation_info|job_allocation_info"
    "|driver_info|driver_unavailable_info)"
)


def configuration(
    agents: Mapping[str, str], collector: str | None, interval_s: float = 2.0,
    others: Sequence[Mapping[str, Any]] = (), rules: Sequence[str] = (), alertmanager: str = "",
) -> str:  # fmt: skip
    """A configuration that scrapes the agents, the collector, if there is one, and what else there is.

    Args:
        agents: node name -> ``host:port``.
        collector: ``host:port``.
        interval_s: scrape interval in seconds.
        others: further scrape configurations.
        rules: files of rules, or patterns.
        alertmanager: ``host:port`` of who is told of alerts; nobody where empty.
    """
    own = {"cluster": CLUSTER}
    targets = [{"targets": [address], "labels": {**own, "node": node}} for node, address in agents.items()]
    jobs: list[Mapping[str, Any]] = [{"job_name": "gpuscope", "static_configs": targets}]
    if collector is not None:
        jobs.append({"job_name": "gpuscope-collector", "static_configs": [{"targets": [collector], "labels": own}]})
    interval = f"{interval_s:g}s"
    document: dict[str, Any] = {"global": {"scrape_interval": interval, "scrape_timeout": interval}}
    if rules:
        document["global"]["evaluation_interval"] = f"{max(interval_s, _RULES_S):g}s"
        document["rule_files"] = list(rules)
    if alertmanager:
        document["global"]["external_labels"] = own
        document["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]}
    document["scrape_configs"] = [*jobs, *others]
    return yaml.safe_dump(document, sort_keys=False)


def start_prometheus(children: Children, folder: Path, program: Path, address: str, text: str) -> None:
    """Starts it.

    Args:
        children: gets it.
        folder: gets its files.
        program: Prometheus.
        address: ``host:port`` to listen on.
        text: its configuration.
    """
    config = folder / "prometheus.yml"
    config.write_text(text, encoding="utf-8")
    children.start(
        "prometheus",
        [
            str(program),
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address={address}",
            # It finds Alertmanager seconds after its first alert, and would tell of it a minute later.
            "--rules.alert.resend-delay=5s",
            "--log.level=warn",
        ],
    )


class Prometheus:
    """A running Prometheus.

    Args:
        address: ``host:port``.
    """

    def __init__(self, address: str) -> None:
        self.url = f"http://{address}"
        self._session = requests.Session()
        self._session.trust_env = False

    def ready(self) -> bool:
        """Whether it answers."""
        try:
            return bool(self._session.get(f"{self.url}/-/ready", timeout=_TIMEOUT_S).ok)
        except requests.RequestException:
            return False

    def query(self, expression: str) -> list[Point]:
        """Evaluates an instant query.

        Raises:
            SourceError: it refused, or did not answer.
        """
        try:
            answer = self._session.post(f"{self.url}/api/v1/query", data={"query": expression}, timeout=_TIMEOUT_S)
            document: Any = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise SourceError(f"Prometheus does not answer: {failure_of(error)}") from error
        if document.get("status") != "success":
            raise SourceError(f"Prometheus refused {expression}: {document.get('error')}")
        return [
            Point(one["metric"].pop("__name__", ""), one["metric"], float(one["value"][1]))
            for one in document["data"]["result"]
        ]

    def rules(self) -> list[dict[str, Any]]:
        """Every rule: ``name``, ``health`` (``ok``, ``err``, or ``unknown`` before it was evaluated), ``lastError``.

        Raises:
            SourceError: it does not answer.
        """
        try:
            document: Any = self._session.get(f"{self.url}/api/v1/rules", timeout=_TIMEOUT_S).json()
        except (requests.RequestException, ValueError) as error:
            raise SourceError(f"Prometheus does not answer: {failure_of(error)}") from error
        return [rule for group in document["data"]["groups"] for rule in group["rules"]]

    def table(self) -> list[Point]:
        """The series that the table shows."""
        return self.query(f'{{__name__=~"{_TABLE}"}}')
