"""HTTP: /metrics, /api/v1, health."""
