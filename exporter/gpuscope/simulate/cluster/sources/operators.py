"""Operators that run training jobs: Kubeflow's training-operator 1.9, JobSet, and HyperPod's, per job."""

from functools import partial

from gpuscope.simulate.cluster.curves import spread
from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.sources.target import Source, Target, service
from gpuscope.simulate.cluster.world import Training, World

__all__ = ["HYPERPOD", "JOBSET", "TRAINING_OPERATOR"]

_LATENCY = (1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
_WINDOW_S = 86_400.0
_FAULTS = {"gpu_xid": "GPU_FAULT", "nccl_timeout": "JOB_HANG", "node_failure": "INSTANCE_FAULT"}
_MANUAL = 0.08


def _ended(world: World, training: Training, reason: str | None = None) -> int:
    return training.attempts.ended(world.since, world.t, reason) if training.attempts else 0


def _failures(world: World, training: Training) -> int:
    return _ended(world, training) - _ended(world, training, "")


def training_operator_page(world: World) -> str:
    """``training_operator_jobs_*``: by namespace and framework, not by job."""
    page = Page()
    for training in world.trainings:
        if training.workload.kind != "PyTorchJob":
            continue
        base = labels(job_namespace=training.workload.namespace, framework="pytorch")
        # Its pods restart in place, every quarter of an hour where things break.
        restarts = int((world.t - world.since) // 900) if world.shape.faults else 0
        for name, value in (
            ("created", 3), ("deleted", 1), ("successful", 1), ("failed", 1 if world.shape.faults else 0),
            ("restarted", restarts),
        ):  # fmt: skip
            page.counter(f"training_operator_jobs_{name}_total", f"Counts number of jobs {name}").add(value, base)
    return page.text()


def jobset_page(world: World) -> str:
    """``jobset_completed_total`` and ``jobset_failed_total``."""
    page = Page()
    for training in world.trainings:
        if training.workload.kind == "JobSet":
            base = labels(jobset_name=training.workload.name, namespace=training.workload.namespace)
            page.counter("jobset_completed_total", "The total number of JobSet completions").add(
                _ended(world, training, ""), base
            )
            page.counter("jobset_failed_total", "The total number of JobSet failures").add(
                _failures(world, training) // 20, base
            )
    return page.text()


def hyperpod_page(world: World) -> str:
    """HyperPod's operator: events with ``jobName``, and numbers of the last day with ``job_name``."""
    page = Page()
    for training in world.trainings:
        if training.attempts:
            _events(page, world, training)
            _numbers(page, world, training)
    return page.text()


def _events(page: Page, world: World, training: Training) -> None:
    base = labels(jobName=training.workload.name, namespace=training.workload.namespace)
    done = _ended(world, training, "")
    failures = _failures(world, training)
    for name, value in (("created", done + 1), ("successful", done), ("failed", failures // 20), ("deleted", done)):
        page.counter(f"hyperpod_training_operator_jobs_{name}_total", f"Total number of jobs {name}").add(value, base)
    restarted = page.counter("hyperpod_training_operator_jobs_restarted_total", "Total number of restarted jobs")
    attempts = training.attempts
    for reason in attempts.reasons() if attempts else ():
        restarted.add(_ended(world, training, reason), base, reason=_FAULTS[reason])
    for name, median in (("restart_latency", 190.0), ("fault_detection_latency", 28.0)):
        page.histogram(f"hyperpod_training_operator_jobs_{name}", f"Histogram of {name}").observe(
            ((spread(_LATENCY, median, 0.4), failures),), base
        )


def _numbers(page: Page, world: World, training: Training) -> None:
    attempts = training.attempts
    assert attempts is not None
    base = labels(job_name=training.workload.name)
    since = max(world.since, world.t - _WINDOW_S)
    passed = max(1.0, world.t - since)
    trained = attempts.seconds(since, world.t, "training")
    pause = attempts.cycle.every - attempts.runs_s
    faults = {reason: attempts.ended(since, world.t, reason) for reason in attempts.reasons()}
    total = sum(faults.values())
    manual = int(total * _MANUAL)
    for name, value in (
        ("training_uptime_percentage", round(100 * trained / passed, 3)),
        ("training_time_ms", int(trained * 1000)),
        ("training_fault_count", total),
        ("training_auto_recovery_count", total - manual),
        ("training_auto_recovery_downtime", int((total - manual) * pause * 1000)),
        ("training_manual_recovery_count", manual),
        ("training_manual_downtime_ms", int(manual * pause * 1000)),
    ):
        page.gauge(name, f"Of the last day: {name}").add(value, base)
    for reason, count in faults.items():
        page.gauge("training_fault_type_count", "Faults of the last day by type").add(
            count, base, fault_type=_FAULTS[reason]
        )
        page.gauge("training_fault_recovery_time_ms", "Time to recover from faults of the last day by type").add(
            int(count * pause * 1000), base, fault_type=_FAULTS[reason]
        )


def _kubeflow_targets(world: World) -> list[Target]:
    if not any(training.workload.kind == "PyTorchJob" for training in world.trainings):
        return []
    where = service("kubeflow", "training-operator", "10.244.7.3:8080")
    return [Target("operator", where, partial(training_operator_page, world))]


def _jobset_targets(world: World) -> list[Target]:
    if not any(training.workload.kind == "JobSet" for training in world.trainings):
        return []
    # Its exposition says `namespace` of the JobSet, which an installation without honorLabels renames.
    where = service(
        "jobset-system", "jobset-controller-manager-metrics-service", "10.244.7.4:8443", container="manager"
    )
    return [Target("controller", where, partial(jobset_page, world))]


def _hyperpod_targets(world: World) -> list[Target]:
    if not any(training.attempts for training in world.trainings):
        return []
    where = service("aws-hyperpod", "hp-training-operator", "10.244.7.5:8081")
    return [Target("operator", where, partial(hyperpod_page, world))]


TRAINING_OPERATOR = Source(
    "training-operator", "training-operator", "Kubeflow training-operator 1.9", _kubeflow_targets
)
JOBSET = Source("jobset", "jobset-controller-manager-metrics-service", "JobSet's controller", _jobset_targets)
HYPERPOD = Source("hyperpod", "hp-training-operator", "HyperPod's training operator", _hyperpod_targets)
