"""An API server that keeps what Helm sends, and the way to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.api import ApiServer
from tests.exporter.workloads.kubernetes.conftest import KUBECONFIG

__all__ = ["api_server"]


@contextmanager
def api_server(folder: Path, *, operator: bool = True, version: str = "v1.33.4") -> Iterator[tuple[ApiServer, Path]]:
    """A cluster without nodes, and the kubeconfig that leads to it.

    Args:
        folder: for the kubeconfig.
        operator: whether it has the kinds of the Prometheus operator.
        version: of Kubernetes.
    """
    server = ApiServer(() if operator else ("monitoring.coreos.com",), version)
    path = folder / "kubeconfig"
    path.write_text(KUBECONFIG % server.url, encoding="utf-8")
    try:
        yield server, path
    finally:
        server.close()
