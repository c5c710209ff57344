"""Builds the artefacts: reference tables now; dashboards, rules and Alertmanager configuration later."""
