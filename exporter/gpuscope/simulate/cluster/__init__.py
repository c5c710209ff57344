"""A simulated cluster: what other exporters would say beside simulated agents, moved by one story."""
