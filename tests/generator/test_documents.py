"""What the documents say about the generator is so."""

import re
from pathlib import Path

import pytest
import yaml

from gpuscope_generator.cli import generator
from gpuscope_generator.jsonnet import evaluate
from gpuscope_generator.live.allowed import load_allowed
from gpuscope_generator.loading import load_settings
from gpuscope_generator.mixin.text import GENERATOR_ONLY
from gpuscope_generator.tables import fill

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/generator.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(generator.commands))
def test_every_command_stands_in_the_page_of_commands(name: str) -> None:
    assert f"| `gpuscope-generator {name}" in (ROOT / "docs/commands.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_documented_commands_and_flags_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for call in re.findall(r"gpuscope-generat(?:or|e) ([a-z][^`\n]*)", text):
        name, *words = call.split()
        command = generator.commands.get(name)
        assert command is not None, call
        flags = {flag for option in command.params for flag in option.opts}
        assert {word for word in words if word.startswith("--")} <= flags, call


def test_flags_named_in_prose_exist() -> None:
    known = {flag for command in generator.commands.values() for option in command.params for flag in option.opts}
    named = set(re.findall(r"[` ](--[a-z-]+)", PAGE))
    assert named
    assert named <= known
    told = {flag for name in ("check", "push") for option in generator.commands[name].params for flag in option.opts}
    assert {flag for flag in told if flag.startswith("--")} - named <= {
        "--prometheus", "--grafana", "--settings", "--timeout",
    }  # fmt: skip


def test_examples_of_settings_can_be_loaded(tmp_path: Path) -> None:
    examples = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "my.yaml").write_text(examples[0])
    assert load_settings(tmp_path / "my.yaml").thresholds.idle_ratio == 0.02
    (tmp_path / "alerts.yaml").write_text(examples[1])
    changed = load_settings(tmp_path / "alerts.yaml").alerts
    assert {name for name, one in changed.items() if not one.enabled} == {"GpuAppFault", "GpuExporterDown/critical"}
    known = {
        f"{board}/{key}"
        for found in yaml.safe_load(examples[2]).values()
        for board, _, key in (name.partition("/") for name in found)
    } | {"inference/x"}
    (tmp_path / "allowed.yaml").write_text(examples[2])
    assert len(load_allowed(tmp_path / "allowed.yaml", "slurm", known - {"inference/*"})) == 3
    jsonnets = re.findall(r"^```jsonnet\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "my.jsonnet").write_text(jsonnets[0])
    assert load_settings(tmp_path / "my.jsonnet").extra_tags == ("ml",)
    (tmp_path / "gpuscope/mixin").mkdir(parents=True)
    (tmp_path / "gpuscope/mixin/mixin.libsonnet").write_text("{ _config+:: { thresholds: {} } }")
    assert evaluate("mine", f"({jsonnets[1]})._config.link_prefix", tmp_path) == '"/grafana"\n'


def test_page_names_what_needs_the_generator() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| `selectors`, "))
    assert re.findall(r"`(\w+)`", row) == list(GENERATOR_ONLY)


def test_table_of_settings_is_current() -> None:
    assert fill(PAGE) == PAGE
