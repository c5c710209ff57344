"""What the mixin cannot follow, it refuses to change."""

import importlib
import json
from pathlib import Path

import _jsonnet
import pytest
from tests.generator.live.conftest import board, graph

from gpuscope_generator.output import dashboard_files, mixin_files, rule_texts
from gpuscope_generator.promql import Vector
from gpuscope_generator.publication import publish
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board


def _sevenfold(settings: Settings) -> Board:
    return board(graph("seven", Vector(f"x > {settings.thresholds.idle_minutes * 7}")))


def test_a_threshold_that_cannot_be_followed_needs_the_generator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.import_module("gpuscope_generator.dashboards.boards"), "BOARDS", (_sevenfold,))
    settings = Settings()
    publish(tmp_path, {**dashboard_files(settings), **rule_texts(settings), **mixin_files(settings)}, ())

    def evaluated(config: str) -> str:
        mixin = f"(import '{tmp_path}/mixin/mixin.libsonnet')"
        program = f"({mixin} + {{ _config+:: {config} }}).grafanaDashboards['cluster.json']"
        return str(_jsonnet.evaluate_snippet("mine", program, jpathdir=[str(tmp_path)]))

    assert "x > 210" in evaluated("{}")
    assert json.loads(evaluated("{ thresholds+: { idle_ratio: 0.02 } }"))["title"] == "Board"
    with pytest.raises(RuntimeError, match=r"thresholds\.idle_minutes needs the generator"):
        evaluated("{ thresholds+: { idle_minutes: 20 } }")
