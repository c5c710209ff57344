"""The door to NVML: the only importer of pynvml."""
