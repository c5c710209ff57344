"""Rules and queries on known samples, through the real promtool."""

import functools
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from gpuscope_generator.output import rule_texts
from gpuscope_generator.promql import Expression
from gpuscope_generator.promql.filling import Filling, filled
from gpuscope_generator.settings import Settings

ALL = dict.fromkeys(
    ("cluster", "node", "gpu", "namespace", "workload_kind", "workload", "pod", "team", "queue", "model"), ".*"
)
"""Every variable as it stands while nothing is chosen."""


@functools.cache
def _default_rules() -> Mapping[PurePosixPath, str]:
    return rule_texts(Settings())


def expect(
    folder: Path,
    samples: Mapping[str, str],
    expected: Mapping[str | Expression, Mapping[str, float] | None],
    *,
    at: str = "10m",
    every: str = "30s",
    settings: Settings | None = None,
    variables: Mapping[str, str | Sequence[str]] | None = None,
    range_s: int = 600,
    rules: bool = True,
    only: Sequence[str] = (),
) -> None:
    """Asserts what queries give on known samples, with all recording rules loaded.

    Args:
        folder: an empty folder.
        samples: values by series in promtool's notation, as ``{'up{job="x"}': "1x20"}``.
        expected: for each query, the value by label set, as ``{'{node="a"}': 3.0}``; ``None`` or ``{}``: nothing.
        at: when.
        every: distance of the samples.
        settings: of the rules.
        variables: what is chosen on the board; everything where not given.
        range_s: length of the time range of the board.
        rules: load the recording rules.
        only: load no more than these rule files, such as ``dcgm``: all of them take a second and more to evaluate.
    """
    texts = _default_rules() if settings is None else rule_texts(settings)
    filling = Filling(values=ALL | dict(variables or {}), range_s=range_s)
    tests = [
        {
            "expr": filled(str(query), filling),
            "eval_time": at,
            "exp_samples": [{"labels": labels, "value": value} for labels, value in (found or {}).items()],
        }
        for query, found in expected.items()
    ]
    chosen = {path: text for path, text in texts.items() if rules and (not only or path.stem in only)}
    run(folder, chosen, samples, {"promql_expr_test": tests}, every=every)


def run(
    folder: Path,
    rules: Mapping[PurePosixPath, str],
    samples: Mapping[str, str],
    tests: Mapping[str, Any],
    *,
    every: str,
    timeout_s: float = 120,
) -> None:
    """Asserts that promtool passes tests.

    Args:
        folder: an empty folder.
        rules: text of each rule file, those first on which others build.
        samples: values by series in promtool's notation.
        tests: what promtool calls ``promql_expr_test`` and ``alert_rule_test``.
        every: distance of samples and evaluations.
        timeout_s: when promtool is taken to hang.
    """
    files: list[str] = []
    order: list[str] = []
    for path, text in rules.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        files.append(str(target))
        order += re.findall(r"^- name: (\S+)$", text, re.MULTILINE)
    inputs = [{"series": series, "values": values} for series, values in samples.items()]
    document = {
        "rule_files": files,
        "evaluation_interval": every,
        # Without it promtool takes the groups in an order that is another one each time.
        "group_eval_order": order,
        "tests": [{"interval": every, "input_series": inputs, **tests}],
    }
    test = folder / "test.yaml"
    test.write_text(yaml.safe_dump(document, sort_keys=False, width=10_000))
    done = subprocess.run(
        ["promtool", "test", "rules", test.name], cwd=folder, capture_output=True, text=True, timeout=timeout_s
    )
    assert done.returncode == 0, done.stdout + done.stderr
