"""Who holds which GPU: pods, Slurm jobs and the processes in them."""
