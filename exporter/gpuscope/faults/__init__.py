"""XIDs and NVSwitch SXids: from NVML events and the kernel log, against the XID catalogue."""
