"""Scenario files: what ships loads, what joins fits, and a mistake is named with file, line and key."""

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuscope import simulate
from gpuscope.errors import ConfigError
from gpuscope.simulate.scenario import EVENTS

NODES = ("a100-mig", "gb200", "h100-mig", "h100-pretrain", "h100x8", "l40s")
FAULTS = (
    "blank-sentinels", "call-wedged", "driver-535-early", "driver-580-65", "driver-580-82", "driver-reloaded",
    "ecc-storm", "gpu-lost", "kubelet-restarts", "mig-reconfigured", "mount-hangs", "no-driver", "row-remap",
    "thermal", "xid-burst",
)  # fmt: skip


def test_the_promised_scenarios_ship() -> None:
    assert [(info.name, info.kind) for info in simulate.scenarios()] == [
        *((name, "node") for name in NODES),
        *((name, "fault") for name in FAULTS),
    ]
    for info in simulate.scenarios():
        assert 10 < len(info.title) < 110
        assert simulate.load(info.name).title == info.title


def test_a_file_of_ones_own_loads(write) -> None:
    path = write(
        """
title: Mine
extends: h100-mig
driver: {version: 595.45.04}
events:
  - {at: 7.5, do: xid, gpu: 5, code: 94, gi: 1}
  - {at: 1, do: lost, gpu: 0}
"""
    )
    mine = simulate.load(path)
    assert (mine.name, mine.title, len(mine.gpus)) == ("mine", "Mine", 8)
    assert [(event.at, event.kind) for event in mine.events] == [(1.0, "lost"), (7.5, "xid")]
    assert mine.driver["version"] == "595.45.04"


def test_faults_join_a_node_and_keep_their_order() -> None:
    joined = simulate.load("h100-mig+xid-burst+driver-reloaded")
    assert joined.gpus == simulate.load("h100-mig").gpus
    assert [event.at for event in joined.events] == sorted(event.at for event in joined.events)
    assert len(joined.events) == sum(len(simulate.load(name).events) for name in ("xid-burst", "driver-reloaded"))
    assert joined.driver["version"] == "580.65.06"
    assert joined.title.startswith(simulate.load("h100-mig").title)
    assert simulate.load("h100x8+blank-sentinels").blank_sentinels
    assert simulate.load("thermal+gpu-lost").gpus == simulate.load("h100x8").gpus


def test_a_file_joins_too(write) -> None:
    path = write("kind: fault\nextends: h100x8\nevents: [{at: 1, do: lost, gpu: 1}]\n")
    assert [event.kind for event in simulate.load(f"gb200+{path}").events] == ["lost"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("h100x9", "scenario 'h100x9': neither a shipped scenario nor a file; did you mean h100x8"),
        ("qqq", "scenario 'qqq': neither a shipped scenario nor a file; known: a100-mig, blank-sentinels"),
        ("h100x8+thermall", "scenario 'thermall': neither a shipped scenario nor a file; did you mean thermal?"),
        ("h100x8+gb200", "scenario 'gb200': is a machine of its own; only faults can be joined with +"),
        ("gb200+ecc-storm", "ecc-storm.yaml:5: events.0.gpu: 6 is not a whole number from 0 to 3; the machine has 4"),
        ("l40s+mig-reconfigured", "mig-reconfigured.yaml:7: events.0.gpu: Tesla V100-SXM2-32GB has no MIG"),
        ("a" * 5000, "neither a shipped scenario nor a file"),
        ("", "scenario '': neither a shipped scenario nor a file"),
        ("h100x8+", "scenario '': neither a shipped scenario nor a file"),
    ],
)
def test_a_name_that_leads_nowhere_is_told(name: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        simulate.load(name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


MISTAKES = [
    ("gpus: [", "mine.yaml:1: not YAML: "),
    ("- 1", "mine.yaml:1: must be a mapping"),
    ("title: 5\ngpus: [{model: l40s}]", "mine.yaml:1: title: 5 is no text"),
    ("titel: x", "mine.yaml:1: titel: unknown key; did you mean title?"),
    ("title: a\ntitle: b", "mine.yaml:2: title: given twice"),
    ("kind: cluster\ngpus: [{model: l40s}]", "mine.yaml:1: kind: 'cluster' is not one of fault, node"),
    ("kind: [node]\ngpus: [{model: l40s}]", "mine.yaml:1: kind: ['node'] is not one of"),
    ("title: empty", "mine.yaml:1: gpus: a scenario needs at least one GPU"),
    ("extends: [h100x8]", "mine.yaml:1: extends: ['h100x8'] is no text"),
    ("extends: h100x7", "scenario 'h100x7': neither a shipped scenario nor a file; did you mean h100x8"),
    ("driver: {version: 590.48}\ngpus: [{model: l40s}]", "mine.yaml:1: driver.version: 590.48 is no driver version"),
    ("driver:\n  cuda: new\ngpus: [{model: l40s}]", "mine.yaml:2: driver.cuda: 'new' is not a whole number"),
    ("driver: {present: none}\ngpus: [{model: l40s}]", "driver.present: 'none' is neither true nor false"),
    ("driver: {kernel_module: closed}\ngpus: [{model: l40s}]", "driver.kernel_module: 'closed' is not one of open"),
    ("driver: {nvml: 12}\ngpus: [{model: l40s}]", "driver.nvml: 12 is no text; put it in quotes"),
    ("driver: 590\ngpus: [{model: l40s}]", "mine.yaml:1: driver: must be a mapping with the keys cuda"),
    ("blank_sentinels: 1\ngpus: [{model: l40s}]", "blank_sentinels: 1 is neither true nor false"),
    ("gpus: {model: l40s}", "mine.yaml:1: gpus: must be a list of GPUs"),
    ("gpus:\n  - {model: l40s}\n  - {modell: l40s}", "mine.yaml:3: gpus.1.modell: unknown key; did you mean model?"),
    ("gpus:\n  - {}", "mine.yaml:2: gpus.0.model: is missing; it is one of"),
    ("gpus:\n  - model: l40s\n    count: 17", "mine.yaml:3: gpus.0.count: 17 is not a whole number from 1 to 16"),
    ("gpus:\n  - model: l40s\n    count: true", "mine.yaml:3: gpus.0.count: True is not a whole number"),
    ("gpus:\n  - {model: l40s, count: 9}\n  - {model: l40s, count: 9}", "gpus: 18 GPUs; a machine has at most 16"),
    ("gpus:\n  - {model: l40s, job: mining}", "mine.yaml:2: gpus.0.job: 'mining' is not one of"),
    ("gpus:\n  - {model: l40s, mig: []}", "mine.yaml:2: gpus.0.mig: l40s has no MIG"),
    ("gpus:\n  - model: h100-sxm\n    mig: 3g.40gb", "mine.yaml:3: gpus.0.mig: must be a list of MIG devices"),
    ("gpus:\n  - model: h100-sxm\n    mig:\n      - 3g.40gb", "mine.yaml:4: gpus.0.mig.0: must be a mapping"),
    (
        "gpus:\n  - model: h100-sxm\n    mig:\n      - {profile: 3g.20gb}",
        "mine.yaml:4: gpus.0.mig.0.profile: '3g.20gb' is not one of 1g.10gb",
    ),
    (
        "gpus:\n  - model: h100-sxm\n    mig:\n      - {profile: 4g.40gb}\n      - {profile: 4g.40gb}",
        "mine.yaml:3: gpus.0.mig: 8 compute and 8 memory slices; a GPU has 7 and 8",
    ),
    (
        "gpus:\n  - model: h100-sxm\n    mig: [{profile: 3g.40gb}, {profile: 3g.40gb}, {profile: 1g.10gb}]",
        "mine.yaml:3: gpus.0.mig: 7 compute and 9 memory slices; a GPU has 7 and 8",
    ),
    (
        "gpus:\n  - model: h100-sxm\n    mig:\n      - {profile: 3g.40gb, ci: [2, 2]}",
        "mine.yaml:4: gpus.0.mig.0.ci: [2, 2] is not a list of slices that fit into 3",
    ),
    (
        "gpus:\n  - model: h100-sxm\n    mig:\n      - {profile: 3g.40gb, cis: [1]}",
        "mine.yaml:4: gpus.0.mig.0.cis: unknown key; did you mean ci?",
    ),
    ("extends: h100x8\nevents: none", "mine.yaml:2: events: must be a list of events"),
    ("extends: h100x8\nevents:\n  - lost", "mine.yaml:3: events.0: must be a mapping with at, do"),
    ("extends: h100x8\nevents:\n  - {at: 1}", "mine.yaml:3: events.0.do: is missing; it is one of driver_loaded"),
    ("extends: h100x8\nevents:\n  - {do: lost, gpu: 1}", "mine.yaml:3: events.0.at: is missing; it is a number"),
    ("extends: h100x8\nevents:\n  - {at: .inf, do: lost, gpu: 1}", "mine.yaml:3: events.0.at: inf is not a number"),
    ("extends: h100x8\nevents:\n  - {at: -1, do: lost, gpu: 1}", "events.0.at: -1 is not a number from 0"),
    ("extends: h100x8\nevents:\n  - {at: 1, do: lost, gpu: 8}", "mine.yaml:3: events.0.gpu: 8 is not a whole number"),
    ("extends: h100x8\nevents:\n  - {at: 1, do: lost}", "mine.yaml:3: events.0.gpu: lost needs it"),
    (
        "extends: h100x8\nevents:\n  - at: 1\n    do: mig\n    gpu: 1\n    instances:\n      - {profile: 8g}",
        "mine.yaml:7: events.0.instances.0.profile: '8g' is not one of",
    ),
    ("extends: h100x8\nevents: &a\n  - *a", "an alias refers to what it stands in"),
    ("extends: ''", "scenario '': neither a shipped scenario nor a file"),
    ("gpus: " + "[" * 1000, "mine.yaml: not usable YAML: RecursionError"),
    ("? {a: 1}\n: 2", "mine.yaml:1: not YAML"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_in_a_file_is_named(write, text: str, message: str) -> None:
    path = write(text)
    with pytest.raises(ConfigError) as error:
        simulate.load(path)
    assert message in str(error.value)


def test_scenarios_cannot_extend_each_other_in_a_circle(tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text(f"extends: {two}\n", encoding="utf-8")
    two.write_text(f"extends: {one}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"two\.yaml:1: extends: .*one\.yaml extends itself"):
        simulate.load(str(one))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"title: \xff\n")
    with pytest.raises(ConfigError, match=r"latin\.yaml: cannot be read"):
        simulate.load(str(path))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 99)
    | st.floats()
    | st.sampled_from(["l40s", "h100-sxm", "3g.40gb", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["model", "count", "job", "mig", "profile", "ci", "at", "do", "gpu"]), inner)
    ),
    max_leaves=8,
)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "title": VALUES,
        "kind": st.sampled_from(["node", "fault", "other"]) | VALUES,
        "extends": st.just("h100-mig") | VALUES,
        "driver": VALUES,
        "gpus": VALUES,
        "events": st.lists(
            st.fixed_dictionaries(
                {"at": st.integers(0, 9), "do": st.sampled_from(sorted(EVENTS))},
                optional={"gpu": VALUES, "code": VALUES},
            ),
            max_size=3,
        )
        | VALUES,
        "blank_sentinels": VALUES,
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DOCUMENTS)
def test_any_yaml_is_a_scenario_that_runs_or_one_line_of_error(write, document: dict) -> None:
    path = write(yaml.safe_dump(document))
    try:
        scenario = simulate.load(path)
    except ConfigError as error:
        problem = str(error)
    else:
        _run(scenario)
        return
    assert "\n" not in problem


def _run(scenario: simulate.Scenario) -> None:
    clock = simulate.ManualClock()
    driver = simulate.SimulatedDriver(scenario, clock=clock)
    clock.advance(10)
    driver.node.tick()
    assert all(event.at <= 10 for event in scenario.events)
    driver.close()
