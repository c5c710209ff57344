"""``gpuscope demo``: a simulated GPU fleet with Prometheus, shown live."""
