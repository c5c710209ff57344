"""What a user may choose: thresholds, links, labels, prices. One object; alert and panel read the same number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuscope_generator.alertmanager.model import Alertmanager

__all__ = ["RISING", "AlertChange", "Intervals", "Settings", "Thresholds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Numbers at which something is worth a color, and an alert. Ratios are 0 to 1.

    Attributes:
        idle_ratio: below this compute activity a GPU counts as idle. Raise it where a monitoring agent itself keeps
            GPUs a little busy.
        idle_minutes: how long it must last.
        low_utilization_ratio: below this mean activity an allocated GPU is poorly used.
        memory_high_ratio: share of GPU memory in use above which little is left.
        temperature_margin_celsius: distance to the slowdown temperature below which a GPU is hot.
        kv_cache_high_ratio: share of the key-value cache in use above which requests will wait.
        ttft_slo_seconds: time to first token that a request should not exceed. Take a bound of your engine's histogram:
            what lies between two bounds cannot be told apart, and counts as too slow.
        inter_token_slo_seconds: time between two tokens that should not be exceeded; a bound likewise.
        slo_objective: share of requests that must meet these.
        storage_high_ratio: share of a file system in use above which it is nearly full.
        storage_critical_ratio: share at which writes are about to fail.
        checkpoint_age_seconds: age of the newest checkpoint above which too much work is at risk.
        unknown_fault_ratio: share of unexplained faults above which the shares of the others mean little.
        high_memory_ratio: share of GPU memory in use from which on a workload counts as large.
        high_busy_ratio: mean activity from which on a workload counts as busy.
        rare_busy_ratio: mean activity below which a large workload counts as resident without work.
        unused_memory_ratio: share of GPU memory up to which a GPU counts as never touched. Raise it where the driver
            itself keeps more.
        exporters_down_ratio: share of the nodes with GPUs whose exporter is down from which on it is one fault of all,
            and not many of single nodes.
        exporter_flapping_ratio: share of half an hour in which an exporter may be down that goes down again and again.
        check_stale_seconds: age of the last success of a check from which on its green means nothing. Raise it where
            the agent's intervals are longer than a minute.
        rule_misses: evaluations of a group of rules that may be left out within ten minutes.
        thermal_slowdown_ratio: share of ten minutes in which heat held the clocks of a GPU down from which on somebody
            should look at the cooling.
        thermal_slowdown_margin_celsius: distance to the GPU's own slowdown temperature at which it is so in any case.
        power_brake_ratio: share of five minutes under the power brake from which on somebody is woken: two minutes.
        rack_thermal_ratio: share of the GPUs of a rack in such a state from which on it is the rack's cooling.
        rack_thermal_gpus: and at least so many of them.
        straggler_clock_ratio: clock of a GPU over the median of the GPUs of its job below which it holds up the others.
        out_of_service_ratio: share of the GPUs on nodes that take no work from which on repairs lag behind.
        out_of_service_critical_ratio: share from which on somebody is woken for it.
        pages_per_day: alerts that wake somebody, of one team in a day, from which on our own noise is the problem.
        warnings_per_day: warnings a day likewise.
        stale_seconds: age of a sample above which its source is behind. Raise it where scrapes lie further apart.
        allocated_idle_ratio: mean activity over an hour below which the owner of a GPU is told that it does nothing.
        allocated_idle_peak_ratio: activity that no sample of that hour may reach.
        memory_held_ratio: share of GPU memory from which on a GPU that hardly works is told to hold it.
        free_gpus_low_ratio: share of free GPUs below which the cluster is full. Raise it where work wants many at once.
        queue_wait_slo_seconds: how long work should wait at most; a bound of Kueue's histogram (1, 2.5, 5, 10, …,
            1280, 2560, 5120), as what lies between two bounds counts as too long.
        queue_wait_objective: share of workloads that must not wait longer. Lower it where waiting is normal.
        queue_min_workloads: so many must have been admitted in the longer window, or the share means little.
        slo_min_requests: so many requests (or tokens) must there have been in the longer window, likewise.
        goodput_objective: share of the GPU-time of training jobs that should be productive.
        goodput_min_gpu_hours: so many GPU-hours must have been held in the longer window, likewise.
        link_flaps_per_hour: how often a port may lose its link in an hour.
        port_errors_per_hour: symbol errors of a port in an hour above which its cable or optics are bad.
        mounts_down_ratio: share of mounts of a shared file system that may be down before it counts as broken itself.
        statfs_slo_seconds: time in which a mount should tell its free space. Raise it for file systems that are far.
        metadata_slo_seconds: mean time of a metadata operation that should not be exceeded.
        storage_full_ratio: share of a file system in use above which somebody has to make room.
        storage_fill_hours: room that lasts less long than this, at the pace of the last hours, is told.
        inodes_low_ratio: share of inodes that is left below which files can soon not be made any more.
        stall_minutes: time without progress from which on a training job that trains stands still. It is at least five
            of its steps.
        first_step_minutes: the same after a start or restart, where it loads, compiles and fills its caches.
        checkpoint_write_minutes: the same while the job says that it writes a checkpoint.
        evaluating_ratio: activity of tensor cores from which on a job without steps counts as evaluating.
        stall_critical_gpus: a job of so many GPUs that stands still wakes somebody.
        failed_critical_gpus: a job of so many GPUs that the infrastructure ended wakes somebody.
        restarts_per_hour: restarts of a job in an hour without progress that are a loop.
        app_fault_workloads: different workloads that fail on one GPU within a day, each with an error that programs
            cause, from which on the GPU is suspect. Raise it where users run one program under many names.
        repeated_faults: faults of the machine on one GPU within seven days from which on it is to be replaced. Lower
            it where a spare is at hand.
        mass_fault_nodes: nodes with faults of the machine within ten minutes from which on one cause is likelier than
            many. Raise it with the size of the cluster.
        nvlink_errors_per_hour: errors of the NVLink links of a GPU that are too many; corrected symbols do not count.
        pcie_replays_per_hour: packets of a GPU that had to be sent again over PCIe that are too many.
    """

    idle_ratio: float = 0.01
    idle_minutes: int = 30
    low_utilization_ratio: float = 0.3
    memory_high_ratio: float = 0.95
    temperature_margin_celsius: float = 5.0
    kv_cache_high_ratio: float = 0.9
    ttft_slo_seconds: float = 2.5
    inter_token_slo_seconds: float = 0.1
    slo_objective: float = 0.99
    storage_high_ratio: float = 0.8
    storage_critical_ratio: float = 0.95
    checkpoint_age_seconds: float = 7200.0
    unknown_fault_ratio: float = 0.3
    high_memory_ratio: float = 0.6
    high_busy_ratio: float = 0.6
    rare_busy_ratio: float = 0.1
    unused_memory_ratio: float = 0.01
    exporters_down_ratio: float = 0.1
    exporter_flapping_ratio: float = 0.2
    check_stale_seconds: float = 300.0
    rule_misses: float = 5.0
    thermal_slowdown_ratio: float = 0.5
    thermal_slowdown_margin_celsius: float = 1.0
    power_brake_ratio: float = 0.4
    rack_thermal_ratio: float = 0.25
    rack_thermal_gpus: int = 4
    straggler_clock_ratio: float = 0.85
    out_of_service_ratio: float = 0.05
    out_of_service_critical_ratio: float = 0.15
    pages_per_day: float = 5.0
    warnings_per_day: float = 50.0
    stale_seconds: float = 120.0
    allocated_idle_ratio: float = 0.05
    allocated_idle_peak_ratio: float = 0.1
    memory_held_ratio: float = 0.8
    free_gpus_low_ratio: float = 0.05
    queue_wait_slo_seconds: float = 2560.0
    queue_wait_objective: float = 0.9
    queue_min_workloads: int = 20
    slo_min_requests: int = 100
    goodput_objective: float = 0.9
    goodput_min_gpu_hours: int = 64
    link_flaps_per_hour: int = 3
    port_errors_per_hour: int = 120
    mounts_down_ratio: float = 0.05
    statfs_slo_seconds: float = 5.0
    metadata_slo_seconds: float = 0.1
    storage_full_ratio: float = 0.9
    storage_fill_hours: int = 24
    inodes_low_ratio: float = 0.05
    stall_minutes: int = 10
    first_step_minutes: int = 30
    checkpoint_write_minutes: int = 30
    evaluating_ratio: float = 0.01
    stall_critical_gpus: int = 64
    failed_critical_gpus: int = 256
    restarts_per_hour: int = 3
    app_fault_workloads: int = 3
    repeated_faults: int = 3
    mass_fault_nodes: int = 5
    nvlink_errors_per_hour: float = 100.0
    pcie_replays_per_hour: float = 480.0


RISING = (
    ("idle_ratio", "low_utilization_ratio"),
    ("rare_busy_ratio", "high_busy_ratio"),
    ("unused_memory_ratio", "high_memory_ratio"),
    ("allocated_idle_ratio", "allocated_idle_peak_ratio"),
    ("storage_high_ratio", "storage_critical_ratio"),
    ("storage_full_ratio", "storage_critical_ratio"),
    ("out_of_service_ratio", "out_of_service_critical_ratio"),
)
"""Thresholds of which the first must not lie above the second: classes and colors between them would turn round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Seconds between two evaluations of the rules.

    Attributes:
        normalize: from sources to one series a GPU, and from these to nodes.
        aggregate: to workloads, teams, and the cluster.
        slow: over days, such as reliability over 30 days.
        cloudwatch: the ``period`` for which YACE asks CloudWatch: a sum is divided by it. Change it where YACE's job
            for ``AWS/FSx`` has another one.
    """

    normalize: int = 30
    aggregate: int = 60
    slow: int = 300
    cloudwatch: int = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertChange:
    """What a user wants otherwise of one alert; ``None`` leaves it as it is.

    Attributes:
        enabled: false leaves the alert out.
        severity: critical, warning or info.
        for_s: how long the condition must hold, in seconds.
        keep_firing_for_s: how long the alert goes on after it, in seconds.
    """

    enabled: bool = True
    severity: str | None = None
    for_s: int | None = None
    keep_firing_for_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that the generator can be told.

    Attributes:
        cluster_label: the label of the sources that names the cluster. Boards and rules call it ``cluster``.
        selectors: PromQL conditions by source, such as ``dcgm: job="dcgm-exporter"``; empty reads all series of that
            name.
        thresholds: numbers at which something is worth a color and an alert.
        intervals: of the rules.
        scrape_interval: the slowest scrape; no point of a graph lies closer, such as ``30s``.
        link_prefix: before ``/d/…`` where Grafana does not live at the root of its host.
        runbook_prefix: where the runbooks lie.
        panels_off: ``board/panel`` of panels to leave out, such as ``cluster/energy``.
        extra_tags: tags of all boards besides ``gpuscope``.
        editable: whether a board can be changed in Grafana.
        prices: cost of one GPU for an hour, by model name as the driver spells it.
        alerts: changes of alerts, by name, or by ``name/severity`` where an alert has two.
        maintenance_taints: keys of taints, as regular expressions, that stand for planned maintenance of a node: alerts
            about it keep still. Add the key with which you mark a node that is being worked on; leave out keys that
            software sets because of a fault.
        interactive_kinds: kinds of workloads, as regular expressions, whose GPUs may do nothing for hours: their owners
            are not told. Model servers that are scraped are left out by themselves.
        interactive_queues: queues and partitions for interactive work, likewise.
        rack_labels: labels of Kubernetes nodes that name the rack, the first that is there counts;
            kube-state-metrics must publish them: its list of allowed labels names them for nodes.
        rack_pattern: where names of nodes tell the rack: a regular expression of the whole name with one group, such as
            ``(r[0-9]+)-.*``. It comes before the labels.
        alert_labels: labels that every alert gets besides its own, such as ``environment``. None by which an alert says
            what it is about, such as ``namespace``.
        manifest_labels: labels of the PrometheusRule manifests, for the ``ruleSelector`` of the Prometheus operator,
            such as ``release``.
        currency: of the prices, as Grafana's unit spells it, such as ``currencyUSD``.
        alertmanager: who is told what, and in which words; docs/alertmanager.md lists what is below it.
    """

    cluster_label: str = "cluster"
    selectors: Mapping[str, str] = field(default_factory=dict)
    thresholds: Thresholds = field(default_factory=Thresholds)
    intervals: Intervals = field(default_factory=Intervals)
    scrape_interval: str = "30s"
    link_prefix: str = ""
    runbook_prefix: str = "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks"
    panels_off: frozenset[str] = frozenset()
    extra_tags: tuple[str, ...] = ()
    editable: bool = False
    prices: Mapping[str, float] = field(default_factory=dict)
    alerts: Mapping[str, AlertChange] = field(default_factory=dict)
    maintenance_taints: tuple[str, ...] = (
        "(.+/)?(scheduled-)?maintenance",
        "(.+/)?impending-node-termination",
        "karpenter.sh/disrupted",
        "ToBeDeletedByClusterAutoscaler",
        "(medik8s|kubevirt).io/drain",
    )
    interactive_kinds: tuple[str, ...] = (
        "Notebook",
        "Workspace",
        "InferenceService",
        "LLMInferenceService",
        "RayService",
        "NIMService",
        "LeaderWorkerSet",
    )
    interactive_queues: tuple[str, ...] = ("interactive.*",)
    rack_labels: tuple[str, ...] = ("topology.kubernetes.io/rack", "cloud.google.com/gce-topology-subblock", "rack")
    rack_pattern: str = ""
    alert_labels: Mapping[str, str] = field(default_factory=dict)
    manifest_labels: Mapping[str, str] = field(default_factory=dict)
    currency: str = "currencyUSD"
    alertmanager: Alertmanager = field(default_factory=Alertmanager)
