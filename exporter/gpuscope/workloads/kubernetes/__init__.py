"""Kubernetes as a source of jobs: the only package that imports a Kubernetes client (``gpuscope[collector]``)."""

from gpuscope.workloads.kubernetes.failure import ApiFailure
from gpuscope.workloads.kubernetes.read_workload import FactLabels
from gpuscope.workloads.kubernetes.reflector import Pace
from gpuscope.workloads.kubernetes.session import Session
from gpuscope.workloads.kubernetes.source import KubernetesSource

__all__ = ["ApiFailure", "FactLabels", "KubernetesSource", "Pace", "Session"]
