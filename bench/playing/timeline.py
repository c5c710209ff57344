"""Which alerts fire when, by the real rules in the real promtool."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from gpuscope_generator.output import rule_texts
from gpuscope_generator.settings import Settings
from playing.cluster import START_S, Series
from playing.series import labels_of, notation

__all__ = ["Firing", "names_read", "table", "timeline"]

_WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_ALWAYS = "Watchdog"
_TIME = re.compile(r"^    alertname: \S+, time: (\S+),\s*$")
_LABELS = re.compile(r"^\s+Labels:\{(.*)\}$")
_TEXTS = re.compile(r"^\s+Annotations:\{(.*)\},?$")
_DURATION = re.compile(r"(\d+)([dhms])")
_SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
_LIMIT_S = 3600
_SOURCES = {
    "dcgm": ("DCGM_",), "amd": ("amd_", "gpu_"), "vllm": ("vllm",), "sglang": ("sglang",), "tgi": ("tgi_",),
    "triton": ("nv_",), "trtllm": ("trtllm",), "dynamo": ("dynamo",), "hyperpod-inference": ("hyperpod", "model_"),
    "volcano": ("volcano",), "slurm-native": ("slurm",), "slurm-exporters": ("slurm",), "lustre": ("lustre_",),
    "nfs": ("node_mountstats",), "gpfs": ("gpfs",), "fsx": ("aws_",),
}  # fmt: skip
"""How the series begin without which a file of rules records nothing, and takes promtool more time than any other."""


@dataclass(frozen=True, slots=True)
class Firing:
    """An alert that fired without a break.

    Attributes:
        name: of the alert.
        labels: all others.
        begin: first minute in which it fired.
        end: first minute in which it did not; ``None``: it fired to the end.
        texts: its annotations in that first minute.
    """

    name: str
    labels: Mapping[str, str]
    begin: int
    end: int | None
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def severity(self) -> str:
        """How soon somebody must act."""
        return self.labels.get("severity", "")


@functools.cache
def _rules() -> Mapping[str, str]:
    """The files of rules, without what no alert depends on: a day takes promtool long enough."""
    files = {str(path): yaml.load(text, yaml.CSafeLoader) for path, text in rule_texts(Settings()).items()}
    rules = [rule for one in files.values() for group in one["groups"] for rule in group["rules"]]
    makers: dict[str, list[str]] = {}
    for rule in rules:
        makers.setdefault(rule.get("record", ""), []).append(rule["expr"])
    needed: set[str] = set()
    ahead = [word for rule in rules if "alert" in rule for word in _WORD.findall(rule["expr"])]
    while ahead:
        word = ahead.pop()
        if word in makers and word not in needed:
            needed.add(word)
            ahead += [other for expression in makers[word] for other in _WORD.findall(expression)]
    # What the texts ask for is recorded, too.
    asked = [word for rule in rules for text in rule.get("annotations", {}).values() for word in _WORD.findall(text)]
    needed.update(word for word in asked if word in makers)
    found = {}
    for path, one in files.items():
        for group in one["groups"]:
            group["rules"] = [rule for rule in group["rules"] if "alert" in rule or rule["record"] in needed]
        one["groups"] = [group for group in one["groups"] if group["rules"]]
        if one["groups"]:
            found[path] = yaml.dump(one, Dumper=yaml.CSafeDumper, sort_keys=False, width=1 << 30)
    return found


@functools.cache
def names_read() -> frozenset[str]:
    """Every word of every expression on which an alert depends, the names of series among them."""
    groups = (group for text in _rules().values() for group in yaml.load(text, yaml.CSafeLoader)["groups"])
    return frozenset(word for group in groups for rule in group["rules"] for word in _WORD.findall(rule["expr"]))


def _alerts(texts: Iterable[str]) -> set[str]:
    """Names of the alerts in files of rules."""
    groups = (group for text in texts for group in yaml.load(text, yaml.CSafeLoader)["groups"])
    return {rule["alert"] for group in groups for rule in group["rules"] if "alert" in rule} - {_ALWAYS}


def _useful(series: Sequence[str]) -> Mapping[str, str]:
    """The files of rules whose source is there."""
    absent = {stem for stem, wanted in _SOURCES.items() if not any(one.startswith(wanted) for one in series)}
    return {path: text for path, text in _rules().items() if Path(path).stem not in absent}


def timeline(
    series: Series, scrapes: int, folder: Path, *, promtool: str | Path = "promtool", step_s: int = 60,
    also: Mapping[str, str] | None = None, everything: bool = False,
) -> list[Firing]:  # fmt: skip
    """Evaluates all rules as often as is scraped.

    Args:
        series: one value, or ``None``, for each scrape.
        scrapes: how many.
        folder: an empty folder.
        promtool: program.
        step_s: seconds between them.
        also: further series, in promtool's notation.
        everything: also files of rules whose source is not there.

    Returns:
        Every alert but the dead-man's switch, in the order of its beginning.

    Raises:
        RuntimeError: promtool cannot evaluate the rules.
    """
    rules = _rules() if everything else _useful([*series, *(also or {})])
    for path, text in rules.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    order = [group["name"] for text in rules.values() for group in yaml.load(text, yaml.CSafeLoader)["groups"]]
    names = sorted(_alerts(rules.values()))
    before = int(START_S // step_s)
    inputs = [{"series": key, "values": f"_x{before} {notation(values)}"} for key, values in series.items()]
    inputs += [{"series": key, "values": f"_x{before} {values}"} for key, values in (also or {}).items()]
    document = {
        "rule_files": list(rules),
        "evaluation_interval": f"{step_s}s",
        # Without it promtool takes the groups in an order that is another one each time.
        "group_eval_order": order,
        "tests": [
            {
                "interval": f"{step_s}s",
                "input_series": inputs,
                # Nothing is expected, so that promtool complains of all that fires, and says what it tells.
                "alert_rule_test": [
                    {"alertname": name, "eval_time": f"{(place + before) * step_s}s", "exp_alerts": []}
                    for place in range(scrapes)
                    for name in names
                ],
            }
        ],
    }
    test = folder / "test.yaml"
    with test.open("w") as stream:
        yaml.dump(document, stream, yaml.CSafeDumper, sort_keys=False, width=1 << 30)
    command = [promtool, "test", "rules", test.name]
    # There is room enough: collecting garbage as often as usual takes half of the time.
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=_LIMIT_S, check=False,
        env={**os.environ, "GOGC": "800", "GOMAXPROCS": "2"},
    )  # fmt: skip
    found = _found(done.stdout + done.stderr)
    if done.returncode and not found:
        raise RuntimeError(f"promtool: {(done.stdout + done.stderr)[-4000:]}")
    return _joined(found, range(0, scrapes * step_s // 60, step_s // 60 or 1))


def _found(output: str) -> dict[int, dict[str, str]]:
    """Labels and texts of what fired in each minute in which something did, out of promtool's complaints."""
    found: dict[int, dict[str, str]] = {}
    minute, labels = 0, ""
    for line in output.splitlines():
        if match := _TIME.match(line):
            parts = _DURATION.findall(match[1])
            minute = sum(int(count) * _SECONDS[unit] for count, unit in parts) // 60 - int(START_S // 60)
        elif match := _LABELS.match(line):
            labels = match[1]
        elif match := _TEXTS.match(line):
            found.setdefault(minute, {})[labels] = match[1]
    return found


def _joined(found: Mapping[int, Mapping[str, str]], minutes: range) -> list[Firing]:
    done: list[Firing] = []
    since: dict[str, int] = {}
    for minute in [*minutes, None]:
        now = {} if minute is None else found.get(minute, {})
        for key in [key for key in since if key not in now]:
            labels = labels_of(key)
            name = labels.pop("alertname")
            begin = since.pop(key)
            done.append(Firing(name, labels, begin, minute, _unquoted(found[begin][key])))
        for key in now.keys() - since.keys():
            assert minute is not None
            since[key] = minute
    return sorted(done, key=lambda one: (one.begin, one.name, sorted(one.labels.items())))


def _unquoted(texts: str) -> dict[str, str]:
    """Annotations without the escapes with which Go prints them."""
    return {name: json.loads(f'"{text}"') for name, text in labels_of(texts).items()}


def table(found: Sequence[Firing]) -> str:
    """The timeline for people."""
    rows = [("from", "to", "severity", "alert", "of")]
    for one in found:
        where = " ".join(f"{key}={value}" for key, value in sorted(one.labels.items()) if key in _SHOWN and value)
        rows.append((f"{one.begin}m", f"{one.end}m" if one.end is not None else "", one.severity, one.name, where))
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    return "\n".join(
        "  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[4]]) for row in rows
    )


_SHOWN = ("node", "gpu", "namespace", "workload", "team", "queue", "model", "filesystem", "mountpoint", "port", "check")
