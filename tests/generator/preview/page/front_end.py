"""What the page does that needs no browser, run by Node.js."""

import json
import os
import subprocess
from pathlib import Path

from gpuscope_generator.promql.filling import Filling, filled, step

FRONT_END = Path(__file__).parents[4] / "generator/preview"

VALUES = {"node": ["gpu-1.x", "gpu(2)"], "one": ['a"b\\c'], "top": ["5"]}
TEXTS = (
    'up{node=~"$node"}',
    'up{node=~"${node}", top="$top"}',
    'rate(x{one=~"$one"}[$__rate_interval])',
    "increase(x[${__range}]) / $__range_s + $__interval_ms / $__range_ms",
    'x{node=~"${node:regex}"} or x{node=~"${node:pipe}"} or x{n="[[top]]"}',
    'label_replace(x{node=~"$node"}, "a", "$1", "b", "(.*)")',
    "avg_over_time(x[$__interval]) ${top:raw} ${node:csv}",
)


def test_the_page_does_as_grafana_and_as_the_command_check(tmp_path: Path) -> None:
    how = [{"range_s": 3600, "step_s": 15, "scrape_s": 30}, {"range_s": 86400, "step_s": 0.5, "scrape_s": 15}]
    fillings = [
        {"text": text, "values": VALUES, **one, "filled": filled(text, Filling(values=VALUES, **one))}
        for text in TEXTS
        for one in how
    ]
    steps = [
        {"range_s": range_s, "points": points, "least_s": least_s, "step_s": step(range_s, points, least_s)}
        for range_s in (60, 900, 21_600, 604_800, 63_072_000)
        for points in (120, 720, 1440)
        for least_s in (1, 15, 60)
    ]
    (tmp_path / "fillings.json").write_text(json.dumps(fillings))
    (tmp_path / "steps.json").write_text(json.dumps(steps))
    done = subprocess.run(
        ["node", "test.mjs"],
        cwd=FRONT_END,
        env=os.environ | {"FILLING_CASES": str(tmp_path / "fillings.json"), "STEP_CASES": str(tmp_path / "steps.json")},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 13" in done.stdout
