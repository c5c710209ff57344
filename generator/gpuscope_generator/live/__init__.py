"""Boards against a live Prometheus: whether every variable, panel and annotation finds data."""
