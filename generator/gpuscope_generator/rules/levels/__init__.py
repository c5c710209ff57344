"""From devices to nodes, workloads, teams and clusters; these read normalized series only."""
