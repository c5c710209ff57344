"""One module, and one file, a source: whatever its names, labels and units, they end in the same series."""
