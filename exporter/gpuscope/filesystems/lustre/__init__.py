"""The Lustre client: what its kernel modules publish, wherever the version at hand does so."""
