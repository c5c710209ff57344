"""The expositions of third parties, one module per exporter or family of them."""
