"""Failure stories, and what must not change a verdict."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from gpuscope.faults.xids import XidCatalogue, XidEntry
from gpuscope.workloads.classification import classify
from gpuscope.workloads.classification_rules import load_rules, parse_rules, words
from gpuscope.workloads.fault import Classification, Domain, Scope, Trigger
from gpuscope.workloads.observation import (
    Attempt,
    Evidence,
    JobFacts,
    JobKey,
    JobState,
    ObservedJob,
    Outcome,
)
from gpuscope.workloads.trigger import resubmission_trigger, trigger_of

STORIES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "classification_stories.yaml").read_text(encoding="utf-8")
)
XIDS = XidCatalogue.load()
ENDED = 1_700_000_000.0

Verdict = tuple[str, Domain, Scope, str]


def verdict(what: Classification) -> Verdict:
    return what.fault_type, what.domain, what.scope, what.confidence


def evidence_of(story: dict[str, Any]) -> Evidence:
    def frozen(value: Any) -> Any:
        return tuple(frozen(item) for item in value) if isinstance(value, list) else value

    return Evidence(**{key: frozen(value) for key, value in story.get("evidence", {}).items()})


def judge(story: dict[str, Any], evidence: Evidence | None = None) -> Classification:
    return classify(evidence or evidence_of(story), Outcome(story["outcome"]), XIDS)


@pytest.mark.parametrize("story", STORIES, ids=[story["story"][:60] for story in STORIES])
def test_story(story: dict[str, Any]) -> None:
    found = judge(story)
    fault_type, domain, scope, confidence = story["verdict"]
    assert verdict(found) == (fault_type, Domain(domain), Scope(scope), confidence), found.why
    assert story.get("why", "") in found.why
    assert found.why
    assert "\n" not in found.why


@pytest.mark.parametrize("story", [s for s in STORIES if "again" in s], ids=lambda story: story["story"][:60])
def test_who_started_the_next_attempt(story: dict[str, Any]) -> None:
    again = story["again"]
    before = Attempt(0, ENDED - 3600, ended=ENDED, outcome=Outcome(story["outcome"]), evidence=evidence_of(story))
    if "new_job" in again:
        found = resubmission_trigger(before, ENDED + again["new_job"], by_user=again.get("by_user"))
    else:
        key = JobKey(again["same_job"], "", "7")
        after = Attempt(1, ENDED + 60)
        job = ObservedJob(key, JobFacts("a", "Job"), 0.0, JobState.TRAINING, (after, before))
        found = trigger_of(job, after)
    assert found is Trigger(story["trigger"])


def test_every_rule_decides_a_story() -> None:
    told = [(evidence_of(story), Outcome(story["outcome"]), judge(story)) for story in STORIES]
    for number, rule in enumerate(load_rules()):
        without = load_rules()[:number] + load_rules()[number + 1 :]
        assert any(classify(evidence, outcome, XIDS, without) != found for evidence, outcome, found in told), rule.when


def test_a_story_with_a_next_attempt_says_who_started_it() -> None:
    assert all(("again" in story) == ("trigger" in story) for story in STORIES)
    assert len(STORIES) >= 45
    assert len({story["story"] + str(story.get("evidence")) for story in STORIES}) == len(STORIES)


# --- what must not change a verdict ---

TEARDOWN = st.lists(st.tuples(st.sampled_from([43, 45]), st.floats(-1e4, 1e4)), max_size=5)
INFORMATION = st.lists(st.tuples(st.sampled_from([37, 63, 92, 106, 162]), st.floats(-1e4, 1e4)), max_size=5)
ELSEWHEN = st.lists(
    st.tuples(st.sampled_from([13, 48, 79, 119]), st.floats(600.1, 1e6) | st.floats(-1e6, -300.1)), max_size=5
)


@given(st.sampled_from(STORIES), st.data())
def test_noise_and_order_change_no_verdict(story: dict[str, Any], data: st.DataObject) -> None:
    told = evidence_of(story)
    xids = [*told.xids, *data.draw(TEARDOWN), *data.draw(INFORMATION), *data.draw(ELSEWHEN)]
    noisy = replace(
        told,
        xids=tuple(data.draw(st.permutations(xids))),
        exit_codes=(*told.exit_codes, *data.draw(st.lists(st.sampled_from([0, 137, 143, -9, -15]), max_size=4))),
        signals=(*told.signals, *data.draw(st.lists(st.sampled_from([0, 9, 15]), max_size=4))),
        container_reasons=(*data.draw(st.permutations(told.container_reasons)), "Error", "Completed"),
        pod_reasons=tuple(data.draw(st.permutations(told.pod_reasons))),
        node_signals=(*data.draw(st.permutations(told.node_signals)), ("pci_absent", 601.0), ("nothing", 1.0)),
        log_signals=(*data.draw(st.permutations(told.log_signals)), "nothing"),
    )
    assert verdict(judge(story, noisy)) == verdict(judge(story))


@given(st.sampled_from([story for story in STORIES if len(evidence_of(story).exit_codes) > 0]), st.data())
def test_exit_codes_after_the_first_failure_change_no_verdict(story: dict[str, Any], data: st.DataObject) -> None:
    told = evidence_of(story)
    failed = [code for code in told.exit_codes if code not in (0, 137, 143, -9, -15)]
    more = data.draw(st.lists(st.integers(-20, 300), max_size=4)) if failed else []
    assert verdict(judge(story, replace(told, exit_codes=(*told.exit_codes, *more)))) == verdict(judge(story))


@given(st.sampled_from(STORIES))
def test_the_same_evidence_gives_the_same_words(story: dict[str, Any]) -> None:
    told = evidence_of(story)
    mirrored = replace(
        told,
        xids=told.xids[::-1],
        node_signals=told.node_signals[::-1],
        log_signals=told.log_signals[::-1],
        pod_reasons=told.pod_reasons[::-1],
    )
    assert judge(story, mirrored) == judge(story)


WORD = st.text(max_size=20) | st.sampled_from([word for rule in load_rules() for t in rule.terms for word in t.words])
NUMBER = st.floats() | st.floats(-700, 700)
EVIDENCE = st.builds(
    Evidence,
    state=WORD,
    reason=WORD,
    exit_codes=st.lists(st.integers(), max_size=4).map(tuple),
    signals=st.lists(st.integers(), max_size=4).map(tuple),
    container_reasons=st.lists(WORD, max_size=3).map(tuple),
    pod_reasons=st.lists(WORD, max_size=3).map(tuple),
    xids=st.lists(st.tuples(st.integers() | st.integers(1, 200), NUMBER), max_size=4).map(tuple),
    nodes_lost=st.lists(WORD, max_size=3).map(tuple),
    maintenance=st.booleans(),
    requested_by_user=st.none() | st.booleans(),
    log_signals=st.lists(WORD, max_size=3).map(tuple),
    node_signals=st.lists(st.tuples(WORD, NUMBER), max_size=4).map(tuple),
    nodes_watched=st.booleans(),
    nodes_shared=st.booleans(),
    gpu_jobs=st.integers(),
    shared_by=st.integers(),
)


@given(EVIDENCE, st.sampled_from(Outcome))
@example(Evidence(xids=((79, math.nan), (79, math.inf)), node_signals=(("", math.nan),)), Outcome.FAILED)
def test_anything_is_classified(evidence: Evidence, outcome: Outcome) -> None:
    found = classify(evidence, outcome, XIDS)
    assert found.confidence in ("high", "medium", "low")
    assert (found.fault_type == "none") == (found.domain is Domain.PLANNED)
    assert (found.fault_type == "unknown") <= (found.domain is Domain.UNKNOWN and found.confidence == "low")
    assert outcome is not Outcome.SUCCEEDED or found.fault_type == "none"


# --- the rank of several candidates ---

RANK = (79, 95, 48, 64, 119, 74, 94, 31)


@given(st.permutations(RANK), st.integers(0, len(RANK) - 1))
def test_the_highest_rank_wins_among_xids(order: list[int], best: int) -> None:
    codes = [code for code in order if RANK.index(code) >= best]
    found = classify(Evidence(xids=tuple((code, 10.0) for code in codes)), Outcome.FAILED, XIDS)
    assert f"XID {RANK[best]} " in found.why


def test_classes_that_operators_give_to_codes_count() -> None:
    own = XidCatalogue([XidEntry(901, fault_class="off_bus"), XidEntry(79, fault_class="info")])
    told = Evidence(xids=((901, 5.0),))
    assert classify(told, Outcome.FAILED, own).fault_type == "off_bus"
    assert classify(Evidence(xids=((79, 5.0),)), Outcome.FAILED, own).fault_type == "unknown"


def test_an_xid_that_operators_ignore_is_no_cause() -> None:
    own = XidCatalogue([XidEntry(31, fault_class="app", action="ignore")])
    assert classify(Evidence(xids=((31, 5.0),)), Outcome.FAILED, own).why == "nothing that is known explains it"


def test_two_jobs_are_not_many() -> None:
    told = Evidence(nodes_lost=("n1",), shared_by=2)
    assert classify(told, Outcome.INTERRUPTED, XIDS).fault_type == "node_down"


def test_a_mistake_that_many_share_stays_a_mistake() -> None:
    told = Evidence(log_signals=("python_traceback",), shared_by=40)
    assert classify(told, Outcome.FAILED, XIDS).fault_type == "app_error"


@pytest.mark.parametrize(
    "message",
    [
        "grpc: StatusCode.DEADLINE_EXCEEDED: deadline after 3 retries, preempted?",
        "Timeout: no answer of the tracker",
        "CUDA error: launch failed",
        "the OOM killer is disabled: oom_killer=0",
        "RESOURCE_EXHAUSTED: exceeded quota of the API",
    ],
)
def test_no_word_of_a_message_is_taken_for_a_state(message: str) -> None:
    told = Evidence(exit_codes=(1,), reason=message)
    assert classify(told, Outcome.FAILED, XIDS).domain is Domain.UNKNOWN


def test_rules_of_ones_own() -> None:
    header = "when,fault_type,domain,scope,confidence,shared,meaning\n"
    rules = parse_rules("own.csv", header + "log:gremlins,gremlins,platform,job,high,,gremlins were seen\n")
    assert classify(Evidence(log_signals=("gremlins",)), Outcome.FAILED, XIDS, rules).fault_type == "gremlins"
    assert classify(Evidence(nodes_lost=("n1",)), Outcome.FAILED, XIDS, ()).fault_type == "unknown"
    assert words(rules, "log") == ("gremlins",)
    killed = parse_rules("own.csv", header + "killed:9,killed,unknown,job,low,,killed\n")
    assert classify(Evidence(exit_codes=(137,)), Outcome.FAILED, XIDS, killed).fault_type == "killed"
    assert classify(Evidence(exit_codes=(137, 1)), Outcome.FAILED, XIDS, killed).fault_type == "unknown"
