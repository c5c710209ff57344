"""The cluster collector: training jobs of Kubernetes and Slurm, their attempts, faults and recovery."""
