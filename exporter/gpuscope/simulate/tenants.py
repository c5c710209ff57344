"""Kubelet, Slurm and the processes of a simulated machine, as an agent on it finds them."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from gpuscope.simulate.node import Node
from gpuscope.simulate.tenant_files import TenantFiles

if TYPE_CHECKING:
    from gpuscope.simulate.kubelet import SimulatedKubelet

__all__ = ["SimulatedTenants"]

log = logging.getLogger(__name__)


class SimulatedTenants:
    """A kubelet look-alike where the scenario has pods, job files where it has Slurm jobs, and a cgroup per process.

    Args:
        node: the machine.
        folder: takes the files and the socket.
        procfs: its proc file system.
        name: of the machine.

    Attributes:
        pod_resources_socket: kubelet's socket, ``None`` without pods.
        pod_logs: kubelet's folder of pod logs, ``None`` without pods; that of containers lies beside it.
        job_mapping_dir: folder of job files, ``None`` without jobs.

    Raises:
        OSError: the files cannot be written.
    """

    def __init__(self, node: Node, folder: Path, procfs: Path, name: str) -> None:
        pods, jobs = bool(node.scenario.pods), bool(node.scenario.jobs)
        self.pod_resources_socket = folder / "kubelet.sock" if pods else None
        self.pod_logs = folder / "log" / "pods" if pods else None
        self.job_mapping_dir = folder / "job-mapping" if jobs else None
        self.kubelet: SimulatedKubelet | None = None
        self._files = TenantFiles(node, procfs, self.pod_logs, self.job_mapping_dir)
        if self.pod_resources_socket is not None:
            self.kubelet = node.kubelet = _kubelet(node, self.pod_resources_socket, name)

    def close(self) -> None:
        """Ends kubelet; files stay."""
        if self.kubelet is not None:
            self.kubelet.stop()
        self._files.close()


def _kubelet(node: Node, socket: Path, name: str) -> "SimulatedKubelet | None":
    # Only here: asyncio, gRPC and protobuf cost memory that a machine without pods saves.
    from gpuscope.simulate.allocated import pod_resources
    from gpuscope.simulate.kubelet import SimulatedKubelet

    kubelet = SimulatedKubelet(socket, lambda: pod_resources(node.runs(), name))
    try:
        kubelet.start()
    except OSError as error:
        # The GPUs are there all the same.
        log.warning("no simulated kubelet: %s", error)
        return None
    return kubelet
