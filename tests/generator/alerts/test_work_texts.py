"""What alerts about work, the network and storage say, word for word: labels, place, owner, value, and the board."""

from collections.abc import Mapping
from pathlib import Path

import yaml
from tests.generator.alerting import says_all

from gpuscope_generator.rules.alerts import all_alerts
from gpuscope_generator.settings import Settings

TEXTS = Path(__file__).parent / "work_texts.yaml"
"""By name and severity: labels, and the annotations that change."""
FILES = ("usage", "queues", "network", "storage", "jobs", "goodput", "serving")
AT, EVERY, STEPS = "300m", "5m", "x80"
RUNBOOKS = "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks"
GPU = 'cluster="c",node="n1",gpu="3",uuid="GPU-3"'
WORK = 'cluster="c",namespace="ml",workload_kind="JobSet",workload="train",team="nlp",queue="q"'
JOB = 'cluster="c",scheduler="kubernetes",namespace="ml",workload="llama",job_id="1"'
SERVED = 'cluster="c",namespace="s",model="m",engine="vllm",workload="chat"'
LUSTRE = 'cluster="c",filesystem="lustre01"'


def levels() -> dict[str, float]:
    """Recorded series that do not change."""
    found: dict[str, float] = {
        f'pod:gpu_share:ratio{{{WORK},pod="train-0",node="n1",gpu="3",uuid="GPU-3"}}': 0.5,
        f"gpu:compute_active:ratio_union{{{GPU}}}": 0.07,
        f"gpu:memory_used_bytes:union{{{GPU}}}": 90,
        f"gpu:memory_total_bytes:union{{{GPU}}}": 100,
        f'workload:pods_waiting:count{{{WORK},size="8"}}': 1,
        'cluster:gpu_slots:count{cluster="c",size="8"}': 0,
        'cluster:gpus_free:sum{cluster="c"}': 8,
        f'filesystem:mounts:count{{{LUSTRE},state="up"}}': 10,
        f'target:clients_down:count{{{LUSTRE},target="OST0001"}}': 2,
        f'target:used:ratio_union{{{LUSTRE},target="OST0001"}}': 0.975,
        f'filesystem:operation_seconds:rate5m{{{LUSTRE},operation="open"}}': 5,
        f'filesystem:operations:rate5m{{{LUSTRE},operation="open"}}': 20,
        f"filesystem:files_free:min{{{LUSTRE}}}": 5,
        f"filesystem:files:max{{{LUSTRE}}}": 1000,
        f'job:training_info:union{{{JOB},team="nlp",held_by="llama"}}': 1,
        f"job:training_gpus:union{{{JOB}}}": 256,
        f'job:training_state:bool{{{JOB},state="training"}}': 1,
        f"job:checkpoint_timestamp_seconds:union{{{JOB}}}": 600,
        f'job:training_end_timestamp_seconds:union{{{JOB},outcome="interrupted",domain="infrastructure"}}': 17_400,
    }
    for window in ("6h", "30m"):
        found[f'queue:slow_waits:ratio{{cluster="c",source="kueue",queue="q",window="{window}"}}'] = 0.4
    for window in ("1h", "5m"):
        found[f'team:training_badput:ratio{{cluster="c",namespace="ml",team="nlp",window="{window}"}}'] = 0.7
        for objective in ("time_to_first_token", "inter_token"):
            found[f'model:slo_bad:ratio{{{SERVED},objective="{objective}",window="{window}"}}'] = 0.2
    for number in range(1, 4):
        port = f'cluster="c",node="n{number}",device="mlx5_0",port="1"'
        found |= {f"port:expected:bool{{{port}}}": 1, f"port:up:bool{{{port}}}": 0}
        found[f'node:filesystem_up:bool{{cluster="c",node="n{number}",filesystem="lustre01",mountpoint="/l"}}'] = 0
    other = 'cluster="c",node="n9",device="mlx5_0",port="1"'
    found |= {f"port:expected:bool{{{other}}}": 1, f"port:up:bool{{{other}}}": 1}
    return found | {f"port:rate_bytes:union{{{other}}}": 10, f"port:rate_bytes:max7d{{{other}}}": 20}


def samples() -> dict[str, str]:
    """Those, and counters that rise."""
    found = {series: f"{value}{STEPS}" for series, value in levels().items()}
    found['port:link_downs_total:union{cluster="c",node="n9",device="mlx5_0",port="1"}'] = f"0+0.5{STEPS}"
    found[f"job:training_restarts_total:union{{{JOB}}}"] = f"0+0.5{STEPS}"
    return found


def test_every_text(tmp_path: Path) -> None:
    known = {one.key: one for one in all_alerts(Settings())}
    expected: dict[str, list[dict[str, Mapping[str, str]]]] = {}
    for told_of in yaml.safe_load(TEXTS.read_text()):
        one, labels, texts = known[told_of["alert"]], told_of["labels"], told_of["annotations"]
        fixed = {"severity": one.severity.value, "scope": one.scope.value, "component": one.component.value}
        fixed |= {"audience": one.audience.value} | ({"fault_class": one.fault_class} if one.fault_class else {})
        told = {
            "summary": one.summary,
            "recommended_action": one.action,
            "runbook_url": f"{RUNBOOKS}/{one.name}.md",
        }
        expected.setdefault(one.name, []).append({"labels": fixed | labels, "annotations": told | texts})
    says_all(tmp_path, samples(), expected, at=AT, every=EVERY, only=FILES)
