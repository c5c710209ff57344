"""The queries that the collector's page gives say what it claims, on Prometheus' own engine."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from gpuscope.catalogue import CLUSTER_METRICS
from gpuscope.demo.programs import find

ROOT = Path(__file__).parents[3]
QUERIES = re.findall(r"```promql\n(.*?)```", (ROOT / "docs/collector.md").read_text(encoding="utf-8"), re.DOTALL)

OWN = 'scheduler="slurm",namespace="",workload="w",job_id='
RECOVERY = 'gpuscope_training_recovery_seconds_{part}{{scheduler="slurm",until="running",domain="{domain}"{le}}}'
STEPS = 30 * 24


def gpu_seconds(team: str, state: str, each: float) -> tuple[str, str]:
    series = (
        f'gpuscope_training_gpu_seconds_total{{scheduler="slurm",namespace="",team="{team}",queue="",state="{state}"}}'
    )
    return series, f"0+{each}x{STEPS}"


def recovery(part: str, domain: str, total: float, le: str = "") -> tuple[str, str]:
    label = f',le="{le}"' if le else ""
    return RECOVERY.format(part=part, domain=domain, le=label), f"0+{total / STEPS}x{STEPS}"


def interruptions(domain: str, each: float) -> tuple[str, str]:
    series = f'gpuscope_training_interruptions_total{{scheduler="slurm",namespace="",team="a",domain="{domain}"}}'
    return series, f"0+{each}x{STEPS}"


def constant(series: str, value: float) -> tuple[str, str]:
    return series, f"{value}+0x{STEPS}"


GPU_TIME = [gpu_seconds("a", "training", 900), gpu_seconds("b", "training", 900), gpu_seconds("b", "recovering", 600)]
CASES = [
    ("jobs_ended_total", [
        ('gpuscope_training_jobs_ended_total{team="a",outcome="succeeded"}', f"0+3x{STEPS}"),
        ('gpuscope_training_jobs_ended_total{team="b",outcome="failed"}', f"0+1x{STEPS}"),
        ('gpuscope_training_jobs_ended_total{team="b",outcome="cancelled"}', f"0+9x{STEPS}"),
    ], 0.75),
    ("faults_total", [
        ('gpuscope_training_faults_total{team="a",domain="unknown"}', f"0+1x{STEPS}"),
        ('gpuscope_training_faults_total{team="b",domain="workload"}', f"0+3x{STEPS}"),
    ], 0.25),
    ("jobs_ended_total", [('gpuscope_training_jobs_ended_total{team="a",outcome="failed"}', f"0+0x{STEPS}")], None),
    ("faults_total", [('gpuscope_training_faults_total{team="a",domain="unknown"}', f"0+0x{STEPS}")], None),
    ("> 0)\n", [*GPU_TIME, interruptions("infrastructure", 0.5), interruptions("planned", 7)], 4800),
    ("> 0)\n", [*GPU_TIME, interruptions("infrastructure", 0)], None),
    ("== 0)", [*GPU_TIME, interruptions("infrastructure", 0), interruptions("planned", 1)], 2400 * STEPS / 3),
    ("== 0)", [*GPU_TIME, interruptions("infrastructure", 0.5)], None),
    # One recovery of 1000 s and nine of 100 s: no mean of the two domains' means, which would be 550.
    ("recovery_seconds_sum", [
        recovery("sum", "infrastructure", 1000), recovery("count", "infrastructure", 1),
        recovery("sum", "unknown", 900), recovery("count", "unknown", 9),
        recovery("sum", "planned", 99_999), recovery("count", "planned", 1),
    ], 190),
    ("histogram_quantile", [
        recovery("bucket", "infrastructure", 0, "60.0"), recovery("bucket", "infrastructure", 9, "120.0"),
        recovery("bucket", "infrastructure", 10, "300.0"), recovery("bucket", "infrastructure", 10, "+Inf"),
    ], 120),
    # 8 GPUs that train half of the time, and 2 that always do.
    ("job_gpus", [
        constant(f'gpuscope_training_state_seconds_total{{{OWN}"1",state="training"}}', 50),
        constant(f'gpuscope_training_state_seconds_total{{{OWN}"1",state="queued"}}', 50),
        constant(f'gpuscope_training_state_seconds_total{{{OWN}"2",state="training"}}', 100),
        constant(f'gpuscope_training_job_gpus{{{OWN}"1"}}', 8), constant(f'gpuscope_training_job_gpus{{{OWN}"2"}}', 2),
    ], 0.6),
    ('state="training"}[1d]', GPU_TIME, 0.75),
]  # fmt: skip


def query(part: str) -> str:
    """The only query with these words; of those for MTBF the one without other words."""
    found = [one for one in QUERIES if part in one]
    if part == "> 0)\n":
        found = [one for one in found if "interruptions" in one]
    (one,) = found
    return one


@pytest.mark.parametrize(("part", "series", "expected"), CASES)
def test_a_query_of_the_page_gives_what_the_page_says(part: str, series, expected, tmp_path: Path) -> None:
    samples = [] if expected is None else [{"labels": "{}", "value": expected}]
    story = {
        "evaluation_interval": "1h",
        "tests": [
            {
                "interval": "1h",
                "input_series": [{"series": name, "values": values} for name, values in series],
                "promql_expr_test": [
                    {"expr": f"round({query(part)}, 0.0001)", "eval_time": "30d", "exp_samples": samples}
                ],
            }
        ],
    }
    file = tmp_path / "test.yaml"
    file.write_text(json.dumps(story), encoding="utf-8")
    program = find("promtool", ROOT / ".cache")
    result = subprocess.run(
        [program, "test", "rules", str(file)], capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_query_is_tried() -> None:
    assert {query(part) for part, _, _ in CASES} == set(QUERIES)


def test_queries_name_series_that_exist() -> None:
    names = {metric.name for metric in CLUSTER_METRICS}
    for one in QUERIES:
        for name in re.findall(r"gpuscope_\w+", one):
            assert re.sub(r"_(bucket|sum|count)$", "", name) in names
