"""File systems as this machine sees them: mounts that may hang, and the throughput of Lustre and NFS clients."""
