"""Every exposition: valid, with counters that rise and histograms that add up."""

import math
import re
from collections.abc import Callable

import pytest
from tests.exporter.simulate.cluster.conftest import Cluster, Key, parsed

from gpuscope.simulate.cluster.curves import Cycle, Wave, spread
from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.shape import Shape
from gpuscope.simulate.cluster.sources.registry import SOURCES

SETS = (
    ("efa", "amd"), ("dcgm-modern", "kube-state-pair", "no-mig"), ("slurm",), ("no-inference",), ("healthy", "native"),
)  # fmt: skip
# A rate that dcgm-exporter types as a counter.
NO_COUNTER = {"DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "DCGM_FI_DEV_NVLINK_THROUGHPUT_TOTAL"}


def _kinds(text: str) -> dict[str, str]:
    return {line.split()[2]: line.split()[3] for line in text.splitlines() if line.startswith("# TYPE")}


def _go(made: Cluster, moment: float) -> None:
    made.clock.advance(made.world.epoch + moment - made.clock.now())


@pytest.mark.parametrize("profiles", SETS, ids="+".join)
def test_every_sample_is_there_once_and_is_a_number(profiles: tuple[str, ...], cluster: Callable[..., Cluster]) -> None:
    made = cluster(*profiles)
    for moment in (0, 250, 1100):
        _go(made, moment)
        for path, text in made.texts().items():
            for key, value in parsed(text).items():
                assert math.isfinite(value) or key[0].endswith("borrowing_limit"), (path, key)


def _one_of_each(made: Cluster) -> dict[str, str]:
    return {one.source.name: one.target.render() for one in made.endpoints()}


def test_promtool_reads_every_source(cluster: Callable[..., Cluster], promtool: Callable[[str], str]) -> None:
    texts: dict[str, str] = {}
    for profiles in ((), ("dcgm-modern", "kube-state-pair", "efa", "amd"), ("slurm",)):
        made = cluster(*profiles)
        _go(made, 1100)
        texts = {**_one_of_each(made), **texts}
    assert texts.keys() == SOURCES.keys()
    for name, text in texts.items():
        # Names of others need not follow the rules of style; what cannot be read is told as an error of parsing.
        assert "error while" not in promtool(text), name
    assert "error while" in promtool('x{a="1} 2')


def _counters(text: str) -> dict[Key, float]:
    kinds = _kinds(text)
    return {
        key: value
        for key, value in parsed(text).items()
        if (kinds.get(key[0]) == "counter" and key[0] not in NO_COUNTER)
        or kinds.get(re.sub("_(bucket|sum|count)$", "", key[0])) == "histogram"
    }


def test_counters_never_fall(cluster: Callable[..., Cluster]) -> None:
    made = cluster("efa")
    before = {path: _counters(text) for path, text in made.texts().items()}
    risen = set()
    for moment in (90, 400, 2300, 3500):
        _go(made, moment)
        for path, text in made.texts().items():
            now = _counters(text)
            for key, value in now.items():
                old = before[path].get(key, value)
                assert value >= old, (path, key)
                if value > old:
                    risen.add(path.split("/")[2])
            before[path] = now
    levels_only = {
        "amd",
        "nccl",
        "ray-train",
        "fsx",
        "nvidia-mig",
        "kube-state",
        "keda",
        "slurm",
        "slurm-vpenso",
        "slurm-rivosinc",
    }
    assert {one.source.name for one in made.endpoints()} - levels_only - risen == set()


def test_histograms_add_up(cluster: Callable[..., Cluster]) -> None:
    made = cluster()
    _go(made, 700)
    seen = 0
    for source in ("vllm", "sglang", "tgi", "kueue", "hyperpod", "nvsentinel", "dynamo", "trtllm"):
        for text in made.texts(source).values():
            buckets: dict[Key, list[tuple[float, float]]] = {}
            samples = parsed(text)
            for (name, pairs), value in samples.items():
                if name.endswith("_bucket"):
                    own = tuple(pair for pair in pairs if pair[0] != "le")
                    buckets.setdefault((name[:-7], own), []).append((float(dict(pairs)["le"]), value))
            for (name, own), found in buckets.items():
                found.sort()
                counts = [count for _, count in found]
                assert counts == sorted(counts), name
                assert found[-1] == (math.inf, samples[f"{name}_count", own])
                total = samples[f"{name}_sum", own]
                steps = [now - old for now, old in zip(counts, [0, *counts], strict=False)]
                bounds = [bound for bound, _ in found]
                low = sum(step * bound for step, bound in zip(steps[1:], bounds, strict=False))
                # Each bucket may be cut off by one.
                assert total >= low - sum(bounds[:-1])
                if steps[-1] == 0:
                    assert total <= sum(step * bound for step, bound in zip(steps, bounds[:-1], strict=False)) + sum(
                        bounds[:-1]
                    )
                seen += 1
    assert seen > 50


def test_the_same_seed_gives_the_same_text(cluster: Callable[..., Cluster]) -> None:
    texts = []
    for seed in ("", "", "other"):
        made = cluster(shape=Shape(nodes=4, seed=seed))
        _go(made, 300)
        texts.append(made.texts())
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_labels_are_escaped_and_empty_ones_left_out() -> None:
    page = Page()
    page.gauge("x", "Help").add(1.5, labels(a='say "a\\b"\n', b=""), value="v", class_="c")
    page.counter("never")
    assert page.text() == '# HELP x Help\n# TYPE x gauge\nx{a="say \\"a\\\\b\\"\\n",value="v",class="c"} 1.5\n'
    assert Page().text() == ""


def test_a_level_and_its_total_agree() -> None:
    wave, cycle = Wave(2.0, 0.5, 100.0), Cycle(60.0, 10.0)
    assert wave.total(0, 100) == pytest.approx(200.0)
    assert wave.total(30, 30.001) / 0.001 == pytest.approx(wave.at(30), rel=1e-3)
    assert cycle.seconds(-110, 70, 0, 20) == pytest.approx(60.0)
    assert (cycle.number(9), cycle.number(10), cycle.place(75)) == (-1, 0, 5.0)
    assert cycle.times(0, 190, 0) == 4
    flat = spread((1.0, 2.0), 1.0, 0.1)
    assert flat.shares[0] == pytest.approx(0.5)
    assert 0.5 < flat.mean < 2.0
