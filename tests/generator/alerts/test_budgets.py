"""Alerts about budgets that burn: of model servers and of goodput."""

from pathlib import Path

import pytest
from tests.generator.alerting import fires, says
from tests.generator.rules.servers import histogram, pod, where

from gpuscope_generator.settings import Intervals, Settings, Thresholds

EVERY = "5m"
RARELY = Intervals(aggregate=300)
"""Evaluated as rarely as these samples come: sums over a window count with the distance of two."""
SETTINGS = Settings(intervals=RARELY)
RULES = ("level-objective", "serving")
SERVED = 'cluster="c",namespace="s",model="m",engine="vllm",workload="chat"'
FIRST, SUCCESS = "ServingFirstTokenBudgetBurn", "ServingSuccessBudgetBurn"


def observed(objective: str, bad: float, total: float = 1.0, samples: str = "x100") -> dict[str, str]:
    """First tokens, later ones or requests a second, of which so large a share is bad."""
    name = f'model:slo_observations:rate5m{{{SERVED},objective="{objective}",result='
    return {f'{name}"total"}}': f"{total}{samples}", f'{name}"good"}}': f"{total * (1 - bad)}{samples}"}


def firing(name: str, objective: str, severity: str) -> str:
    labels = SERVED.replace(",", ", ")
    return f'{name}{{{labels}, objective="{objective}", severity="{severity}"}}'


def first(severity: str) -> str:
    return firing(FIRST, "time_to_first_token", severity)


def test_a_fifth_too_late_wakes_somebody_within_minutes(tmp_path: Path) -> None:
    """A hundredth may be: more than 14.4 times as much. The slow pairs say so too, an hour later."""
    expected = {"0m": [], "10m": [first("critical")], "90m": [first("critical"), first("warning")]}
    fires(tmp_path, observed("time_to_first_token", 0.2), expected, every=EVERY, only=RULES, settings=SETTINGS)


def test_what_is_just_good_enough(tmp_path: Path) -> None:
    times = {f"{minute}m": [] for minute in range(0, 500, 25)}
    samples = observed("time_to_first_token", 0.0099) | observed("inter_token", 0) | observed("success", 0)
    fires(tmp_path, samples, times, every=EVERY, only=RULES, settings=SETTINGS)


def test_a_slow_loss_waits_for_working_hours(tmp_path: Path) -> None:
    found = [firing(SUCCESS, "success", "warning")]
    fires(
        tmp_path,
        observed("success", 0.02),
        {"55m": [], "70m": found, "480m": found},
        every=EVERY,
        only=RULES,
        settings=SETTINGS,
    )


def test_a_loss_that_is_over_is_silent_soon(tmp_path: Path) -> None:
    before, after = observed("inter_token", 0.5, samples=""), observed("inter_token", 0, samples="")
    samples = {key: f"{before[key]}x24 {after[key]}x76" for key in before}
    name = "ServingInterTokenBudgetBurn"
    critical = firing(name, "inter_token", "critical")
    found = {
        "90m": [critical, firing(name, "inter_token", "warning")],
        "165m": [firing(name, "inter_token", "warning")],
    }
    # The long windows remember it; the short ones do not: five and thirty minutes, then two and six hours.
    fires(tmp_path, samples, found | {"495m": []}, every=EVERY, only=RULES, settings=SETTINGS)


def test_three_requests_say_nothing(tmp_path: Path) -> None:
    """Of a hundred requests an hour one can tell; of fewer one cannot."""
    rare = observed("success", 1, total=90 / 3600)
    fires(tmp_path / "rare", rare, {"60m": []}, every=EVERY, only=RULES, settings=SETTINGS, alerts=SUCCESS)
    fires(tmp_path / "none", observed("success", 0, total=0), {"60m": []}, every=EVERY, only=RULES, settings=SETTINGS)


def test_engines_lead_to_it(tmp_path: Path) -> None:
    """From a histogram of vLLM: a tenth of two requests a second took more than a second, as its bounds tell."""
    base = where("p", 'model_name="m",engine="0"')
    seconds = {"0.5": 1.0, "1.0": 1.6, "10.0": 2.0, "+Inf": 2.0}
    samples = histogram("vllm:time_to_first_token_seconds", base, seconds) | pod("p", "chat")
    samples |= {f"vllm:num_requests_running{{{base}}}": "8x8"}
    samples = {key: values.replace("x8", "x40") for key, values in samples.items()}
    found = [first("critical")]
    rules = ("vllm", "level-model", *RULES)
    fires(tmp_path, samples, {"15m": found}, every="1m", only=rules, alerts=FIRST)


def test_a_loose_objective_still_has_an_alert_that_can_fire(tmp_path: Path) -> None:
    """14.4 times a tenth is more than all: the threshold is never above nine in ten."""
    settings = Settings(thresholds=Thresholds(slo_objective=0.9), intervals=RARELY)
    down = observed("success", 0.95)
    critical = firing(SUCCESS, "success", "critical")
    fires(tmp_path, down, {"20m": [critical]}, every=EVERY, only=RULES, settings=settings, alerts=SUCCESS)


def gpus(lost: float, held: float = 100.0, samples: str = "x900") -> dict[str, str]:
    """GPUs that jobs of a team hold, of which so large a share does not train."""
    at = 'cluster="c",scheduler="kubernetes",namespace="ml",team="nlp",queue="q",state='
    return {
        f'team:training_gpus:rate5m{{{at}"training"}}': f"{held * (1 - lost)}{samples}",
        f'team:training_gpus:rate5m{{{at}"recovering"}}': f"{held * lost}{samples}",
        f'team:training_gpus:rate5m{{{at}"unknown"}}': f"{held}{samples}",
    }


def burn(severity: str) -> str:
    return f'JobGoodputBudgetBurn{{cluster="c", namespace="ml", team="nlp", severity="{severity}"}}'


@pytest.mark.parametrize(
    ("lost", "found"),
    [
        pytest.param(0.15, ["warning"], id="goodput of 85 % of 90 %: the slow pair, and no page"),
        pytest.param(0.11, [], id="just above the goal"),
        pytest.param(0.7, ["critical", "warning"], id="most is lost"),
    ],
)
def test_goodput_has_factors_of_its_own(lost: float, found: list[str], tmp_path: Path) -> None:
    expected = {"120m": [burn(severity) for severity in found]}
    fires(
        tmp_path,
        gpus(lost, samples="x30"),
        expected,
        every=EVERY,
        only=("level-objective", "goodput"),
        settings=SETTINGS,
    )


def test_a_small_job_does_not_page(tmp_path: Path) -> None:
    """An hour of 55 GPUs is too little to tell; after two of them the window of six hours has enough."""
    samples = gpus(0.9, held=55, samples="x80")
    rules = ("level-objective", "goodput")
    fires(
        tmp_path,
        samples,
        {"60m": [], "90m": [burn("warning")], "120m": [burn("warning")]},
        every=EVERY,
        only=rules,
        settings=SETTINGS,
    )
    small = gpus(0.9, held=0.5, samples="x80")
    fires(tmp_path, small, {"120m": [], "390m": []}, every=EVERY, only=rules, settings=SETTINGS)


def test_what_it_says(tmp_path: Path) -> None:
    says(
        tmp_path,
        observed("success", 0.2),
        SUCCESS,
        [
            {
                "labels": dict(part.split("=") for part in SERVED.replace('"', "").split(","))
                | {
                    "objective": "success",
                    "severity": "critical",
                    "scope": "job",
                    "component": "inference",
                    "audience": "platform",
                },
                "annotations": {
                    "summary": "Requests to a model fail.",
                    "description": "Model m on vllm: 20% of the requests failed; those whose client left do not "
                    "count. The "
                    "goal is that 99.0 % are well; measured over an hour or six hours, and still so.",
                    "location": "model m, namespace s, workload chat",
                    "owner": "s/chat",
                    "measured": "20% failed",
                    "recommended_action": "Look at the errors by reason, then at replicas that restart and at the "
                    "log of "
                    "the engine.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/"
                    "ServingSuccessBudgetBurn.md",
                    "dashboard_url": "/d/gpuscope-inference/inference?var-cluster=c&var-namespace=s&var-model=m",
                },
            }
        ],
        at="20m",
        every=EVERY,
        only=RULES,
        settings=SETTINGS,
    )
