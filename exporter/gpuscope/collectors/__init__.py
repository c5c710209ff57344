"""Readers of one subject each: NVML readings of one GPU to catalogued samples."""
