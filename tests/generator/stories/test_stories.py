"""Stories of a small simulated cluster: exactly the expected alerts fire, when they should, and they clear.

Real agents on the simulated driver and simulated exporters live through them in simulated time; the real promtool
evaluates the real rules once a simulated minute. ``python bench/alerts.py NAME`` shows one story's alerts as a table.
"""

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from gpuscope.demo.programs import find

BENCH = Path(__file__).parents[3] / "bench"
CACHE = Path(__file__).parents[3] / ".cache"
HERE = Path(__file__).parent
# Hours of simulated time take minutes where other tests run beside.
pytestmark = pytest.mark.timeout(1800)


@pytest.fixture
def playing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH))
    return lambda name: importlib.import_module(f"playing.{name}")


@pytest.mark.parametrize("file", ["gpus", "watchers", "work"])
def test_exactly_the_expected_alerts_fire_and_clear(playing, tmp_path_factory, file: str) -> None:
    story = playing("story")
    told = story.stories(HERE / f"{file}.yaml")
    # Healthy nodes are in many stories; each of them is played once, whichever process of pytest comes first. Without
    # such processes the parent folder outlives this run, and what was said there came of other code.
    base = tmp_path_factory.getbasetemp()
    cache = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "agents"
    cache.mkdir(exist_ok=True)
    found = story.play(list(told.values()), promtool=find("promtool", CACHE), cache=cache)
    wrong = {name: story.missed(told[name], firing) for name, firing in found.items() if name}
    assert {name: lines for name, lines in wrong.items() if lines} == {}
    assert set(found) == set(told), "an alert that names no cluster"
    # What fired is kept as data for the tests of Alertmanager.
    kept = playing("kept")
    saved = (HERE / "fired" / f"{file}.json").read_text(encoding="utf-8")
    same = kept.without_numbers(kept.kept(found)) == kept.without_numbers(saved)
    assert same, f"texts or labels are others now: python bench/alerts.py {file} --save"


def test_every_story_is_played() -> None:
    """The cluster is what the stories are of; the day takes minutes, and is played by `make test-day`."""
    assert {path.stem for path in HERE.glob("*.yaml")} == {"cluster", "day", "gpus", "watchers", "work"}
