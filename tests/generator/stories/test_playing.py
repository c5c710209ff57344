"""The parts with which stories are played: notation, changes, what is held against what, and time that is not real."""

import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from gpuscope.demo.programs import find

BENCH = Path(__file__).parents[3] / "bench"
CACHE = Path(__file__).parents[3] / ".cache"


@pytest.fixture
def playing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH))
    return lambda name: importlib.import_module(f"playing.{name}")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0] * 5, "1+0x4"),
        ([0.0, 60.0, 120.0, 180.0, 7.0], "0+60x3 7"),
        ([9.0, 6.0, 3.0, 3.0, 3.0], "9-3x2 3 3"),
        ([None, None, 1.5, None, None, 2.5], "_x2 1.5 stale _x1 2.5"),
        ([0.1, 0.2, 0.3], "0.1 0.2 0.3"),
        ([1.0, None], "1 stale"),
        ([None], "_x1"),
        ([], ""),
    ],
)
def test_promtools_notation_says_the_values(playing, values, expected: str) -> None:
    assert playing("series").notation(values) == expected


def test_promtool_reads_each_value_as_it_was(playing, tmp_path: Path) -> None:
    values = [None, 1.0, 2.0, 3.0, None, 0.1, 0.2, 1e16, 1e16, 1e16, -4.0, -4.0, -4.0, -5.0, None, None, 8.0]
    tests = [
        {"expr": "a", "eval_time": f"{place}m", "exp_samples": [{"labels": "a", "value": value}] if value else []}
        for place, value in enumerate(values)
    ]
    series = [{"series": "a", "values": playing("series").notation(values)}]
    document = {
        "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": series, "promql_expr_test": tests}],
    }
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(document | {"rule_files": []}))
    command = [find("promtool", CACHE), "test", "rules", "test.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_scrape_gives_series_the_labels_of_the_target(playing) -> None:
    recorder = playing("series").Recorder({"job": "j", "node": "n"}, frozenset({"a", "up"}))
    recorder.take('# TYPE a gauge\na{node="x",path="c:\\\\{}"} 1\nb 2\n')
    recorder.take(None)
    recorder.take("a 3\n")
    assert recorder.series == {
        'up{job="j",node="n"}': [1.0, 0.0, 1.0],
        'a{exported_node="x",job="j",node="n",path="c:\\\\{}"}': [1.0, None, None],
        'a{job="j",node="n"}': [None, None, 3.0],
    }


def test_labels_of_the_exposition_win_where_they_are_honored(playing) -> None:
    recorder = playing("series").Recorder({"job": "j", "node": "n"}, honor_labels=True)
    recorder.take('a{node="x"} 1')
    assert recorder.series['a{job="j",node="x"}'] == [1.0]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"set": 9, "from": 1, "to": 3}, [1.0, 9.0, 9.0, 8.0, 16.0]),
        ({"add": 10, "from": 3}, [1.0, 2.0, 4.0, 18.0, 26.0]),
        ({"drop": True, "from": 3}, [1.0, 2.0, 4.0, None, None]),
        ({"down": True, "from": 1, "to": 2}, [1.0, None, 4.0, 8.0, 16.0]),
        ({"gone": True, "from": 4}, [1.0, 2.0, 4.0, 8.0, None]),
        ({"frozen": True, "from": 2, "to": 4}, [1.0, 2.0, 2.0, 2.0, 16.0]),
        ({"reset": True, "from": 3}, [1.0, 2.0, 4.0, 0.0, 8.0]),
        ({"gain": 3, "from": 2, "to": 4}, [1.0, 2.0, 8.0, 20.0, 28.0]),
    ],
)
def test_changes(playing, entry: dict[str, object], expected: list[float | None]) -> None:
    module = playing("changes")
    series = {'a_total{x="1"}': [1.0, 2.0, 4.0, 8.0, 16.0], 'a_total{x="2"}': [0.0]}
    found = module.changed(series, [module.Change.of(entry | {"where": {"x": "1"}})])
    assert found == {'a_total{x="1"}': expected, 'a_total{x="2"}': [0.0]}


def test_a_target_that_is_down_says_so_and_one_that_is_gone_says_nothing(playing) -> None:
    module = playing("changes")
    changed = lambda entry: module.changed({"up{}": [1.0, 1.0, 1.0]}, [module.Change.of(entry)])["up{}"]  # noqa: E731
    assert changed({"down": True, "from": 1, "to": 2}) == [1.0, 0.0, 1.0]
    assert changed({"gone": True, "from": 1}) == [1.0, None, None]
    assert changed({"frozen": True, "from": 1}) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"sett": 1}, "none of set, add"),
        ({"set": 1, "form": 2}, "unknown form"),
        ({"set": 1, "series": "b"}, "no series is met"),
    ],
)
def test_a_mistake_in_a_change_is_named(playing, entry: dict[str, object], message: str) -> None:
    module = playing("changes")
    with pytest.raises(ValueError, match=message):
        module.changed({"a{}": [1.0]}, [module.Change.of(entry)])


def test_a_story_is_held_against_what_fired(playing) -> None:
    module = playing("story")
    firing = playing("timeline").Firing
    story = module.Story(
        "s",
        "",
        None,
        alerts=[module.Expected.of({"alert": "A", "node": "n", "from": 10, "to": [20, 30]})],
        allowed=["B.*"],
    )
    right = firing("A", {"node": "n", "severity": "critical"}, 11, 25)
    assert module.missed(story, [right, firing("C", {"severity": "info"}, 1, 2), firing("Bx", {}, 1, None)]) == []
    wrong = {
        "does not fire": [],
        "fires from 14 to 25": [firing("A", {"node": "n"}, 14, 25)],
        "fires from 10 to None": [firing("A", {"node": "n"}, 10, None)],
        "nobody expects it": [right, firing("A", {"node": "m", "severity": "warning"}, 11, 25)],
    }
    for message, found in wrong.items():
        assert [message in line for line in module.missed(story, found)] == [True]


def test_rules_whose_source_is_missing_make_no_difference(playing, tmp_path: Path) -> None:
    timeline = playing("timeline")
    series = {
        'up{cluster="c",instance="n:1",job="gpuscope",node="n"}': [1.0] * 8,
        'gpuscope_gpu_up{cluster="c",gpu="0",instance="n:1",node="n",uuid="u"}': [1.0] * 8,
        'gpuscope_gpu_xid_errors_total{cluster="c",gpu="0",instance="n:1",node="n",uuid="u",xid="79"}': [0.0] * 4
        + [1.0] * 4,
    }
    found = []
    for everything in (False, True):
        folder = tmp_path / str(everything)
        folder.mkdir()
        program = find("promtool", CACHE)
        found.append(timeline.timeline(series, 8, folder, promtool=program, everything=everything))
    assert found[0] == found[1]
    assert [(one.name, one.begin, one.end) for one in found[0]] == [("GpuFellOffBus", 4, None)]
    assert "4m" in timeline.table(found[0])


def test_what_an_alert_tells_is_what_it_told_when_it_began(playing, tmp_path: Path) -> None:
    at = 'cluster="c",instance="n:1",job="gpuscope",node="n"'
    series = {
        f"up{{{at}}}": [1.0] * 8,
        f'gpuscope_gpu_up{{{at},gpu="0",uuid="u"}}': [1.0] * 8,
        f'gpuscope_gpu_xid_errors_total{{{at},gpu="0",uuid="u",xid="94"}}': [0.0] * 4 + [1.0, 3.0, 3.0, 3.0],
    }
    (found,) = playing("timeline").timeline(series, 8, tmp_path, promtool=find("promtool", CACHE))
    assert found.texts["measured"] == "1 error in 10 minutes"
    assert found.texts["location"] == "node n, GPU 0, u"


def test_what_fired_is_kept_whole_and_compared_without_what_was_measured(playing) -> None:
    firing, kept = playing("timeline").Firing, playing("kept")
    texts = {"summary": "Of 8 GPUs.", "description": "12.5 W in 10 minutes", "measured": "12.5 W"}
    first = firing("A", {"node": "n1"}, 3, 4, texts)
    again = firing("A", {"node": "n1"}, 6, None, texts | {"measured": "99 W"})
    text = kept.kept({"s": [first, again], "quiet": [], "": [first]})
    assert json.loads(text) == {"s": [{"labels": {"alertname": "A", "node": "n1"}, "annotations": texts}]}
    later = kept.kept({"s": [again]})
    assert kept.without_numbers(later) == kept.without_numbers(text)
    other = kept.kept({"s": [firing("A", {"node": "n2"}, 3, 4, texts)]})
    assert kept.without_numbers(other) != kept.without_numbers(text)
    reworded = kept.kept({"s": [firing("A", {"node": "n1"}, 3, 4, texts | {"summary": "Of 9 GPUs."})]})
    assert kept.without_numbers(reworded) != kept.without_numbers(text)


def test_virtual_time_passes_only_when_nobody_has_anything_to_do(playing) -> None:
    world = playing("virtual_time").VirtualTime(100.0)
    threads = playing("virtual_time")._Threads(world)
    told: list[tuple[float, str]] = []
    go, end = threads.Event(), threads.Event()

    def ticks() -> None:
        while not end.wait(10):
            told.append((world.now(), "tick"))
            if world.now() == 130:
                go.set()

    def waits() -> None:
        go.wait()
        told.append((world.now(), "went"))
        ended = end.wait(5)
        told.append((world.now(), str(ended)))

    for run in (ticks, waits):
        threads.Thread(target=run, daemon=True).start()
    world.advance(45)
    assert sorted(told) == [(110, "tick"), (120, "tick"), (130, "tick"), (130, "went"), (135, "False"), (140, "tick")]
    end.set()
    world.advance(0)
    assert world.now() == 145
    assert threads.get_ident() == threading.get_ident()


def test_a_real_agent_lives_in_virtual_time(tmp_path: Path) -> None:
    scenario = tmp_path / "node.yaml"
    event = {"at": 150, "do": "xid", "gpu": 0, "code": 79, "message": "GPU has fallen off the bus."}
    scenario.write_text(yaml.safe_dump({"title": "one GPU", "gpus": [{"model": "h100-sxm"}], "events": [event]}))
    request = {"node": "n", "scenario": str(scenario), "start": 600, "scrapes": 5, "step": 60, "labels": {"node": "n"}}
    command = [sys.executable, str(BENCH / "playing/agent.py")]
    done = subprocess.run(
        command, input=json.dumps(request), capture_output=True, text=True, timeout=240, check=True
    )  # fmt: skip
    series = {key: values for key, values in json.loads(done.stdout).items() if 'xid="79"' in key or "gpu_up" in key}
    errors = next(values for key, values in series.items() if key.startswith("gpuscope_gpu_xid_errors_total"))
    assert errors == [0, 0, 0, 1, 1]
    assert next(values for key, values in series.items() if "gpu_up" in key) == [1, 1, 1, 1, 1]


def test_what_other_exporters_said_once_is_not_asked_again_and_what_differs_is(playing, tmp_path: Path) -> None:
    cluster = playing("cluster")
    nodes = {"n1": {"gpus": [{"model": "h100-sxm", "job": "idle"}]}}
    fleet = cluster.Fleet(nodes=nodes, agents=[], sources=("kube-state",), minutes=3)
    keep = frozenset({"kube_node_info"})
    said = cluster.played(fleet, keep, tmp_path)
    assert said
    assert said == cluster.played(fleet, keep)
    (known,) = tmp_path.iterdir()
    known.write_text('{"a": [1.0]}')
    assert cluster.played(fleet, keep, tmp_path) == {"a": [1.0]}
    assert all(len(values) == 4 for values in cluster.played(replace(fleet, minutes=4), keep, tmp_path).values())
    others = cluster.played(fleet, frozenset({"kube_node_status_condition"}), tmp_path)
    assert {series.partition("{")[0] for series in others} >= {"kube_node_status_condition"}
