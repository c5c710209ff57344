"""Boards as web pages, drawn by the packages that Grafana publishes, without a Grafana."""
