"""The table of GPUs that ``gpuscope top`` and ``gpuscope demo`` show."""

from gpuscope.table.rows import GpuRow, MigRow, NodeRows, Point, read_rows

__all__ = ["GpuRow", "MigRow", "NodeRows", "Point", "read_rows"]
