"""Samples of the collector about training jobs."""

OWNER = 'cluster="c",instance="a:9837",job="collector",scheduler="kubernetes",namespace="ml",team="nlp",queue="q"'
UP = 'gpuscope_collector_source_up{cluster="c",instance="a:9837",job="collector",scheduler="kubernetes"}'


def counter(name: str, instance: str = "a:9837", **labels: str) -> str:
    """A counter of the collector."""
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    return f"gpuscope_training_{name}_total{{{OWNER.replace('a:9837', instance)}{more}}}"


def ended(outcome: str, instance: str = "a:9837") -> str:
    """Jobs that ended so."""
    return counter("jobs_ended", instance, workload_kind="TrainJob", outcome=outcome)


def interrupted(domain: str) -> str:
    """Interruptions of that domain."""
    return counter("interruptions", domain=domain).replace(',queue="q"', "")


def fault(fault_type: str, domain: str, scope: str = "gpu") -> str:
    """Faults of that kind."""
    return counter("faults", fault_type=fault_type, domain=domain, scope=scope).replace(',queue="q"', "")


def held(state: str) -> str:
    """GPU-time in that state."""
    return counter("gpu_seconds", state=state)


def of_job(name: str, workload: str = "llama", job_id: str = "1", **labels: str) -> str:
    """A series of one job."""
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    return (
        f'gpuscope_training_{name}{{cluster="c",instance="a:9837",job="collector",scheduler="kubernetes",'
        f'namespace="ml",workload="{workload}",job_id="{job_id}"{more}}}'
    )


def histogram(
    name: str, bounds: dict[str, int], total: float, when: str = "0x20 {}x40", **labels: str
) -> dict[str, str]:
    """A histogram of the collector, that is empty for a while and full from then on."""
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    base = f'cluster="c",instance="a:9837",job="collector",scheduler="kubernetes"{more}'
    found = {
        f'gpuscope_training_{name}_bucket{{{base},le="{bound}"}}': when.format(count) for bound, count in bounds.items()
    }
    count = bounds["+Inf"]
    return found | {
        f"gpuscope_training_{name}_count{{{base}}}": when.format(count),
        f"gpuscope_training_{name}_sum{{{base}}}": when.format(total),
    }
