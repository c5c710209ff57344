"""gpuscope: correct per-GPU and per-MIG-instance metrics for Prometheus."""

__all__ = ["__version__"]

__version__ = "0.1.0"
