"""Settings from files: what is right arrives, and what is wrong is named with file, line and key."""

import contextlib
import dataclasses
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.errors import ConfigError
from gpuscope_generator.loading import _READ, as_plain, bounds_of, load_settings
from gpuscope_generator.output import dashboard_files, rule_texts
from gpuscope_generator.rules.alerts import all_alerts
from gpuscope_generator.rules.annotations import labels_of
from gpuscope_generator.setting_reference import meanings, settings_table
from gpuscope_generator.settings import RISING, Intervals, Settings, Thresholds

FULL = """
cluster_label: k8s_cluster
selectors:
  dcgm: job="dcgm-exporter", environment!~"test|dev"
thresholds: {idle_ratio: 5e-2, idle_minutes: 10}
intervals:
  normalize: 15
scrape_interval: 1m30s
link_prefix: /grafana
runbook_prefix: https://wiki.example/runbooks
panels_off: [cluster/power]
extra_tags: [ml, gpu]
maintenance_taints: [corp/repair]
interactive_kinds: [Lab]
interactive_queues: [debug]
editable: true
prices:
  NVIDIA H100 80GB HBM3: 2.5
currency: currencyEUR
"""


def load(folder: Path, text: str, name: str = "my.yaml") -> Settings:
    file = folder / name
    file.write_text(text)
    return load_settings(file)


def test_a_file_sets_all(tmp_path: Path) -> None:
    assert load(tmp_path, FULL) == Settings(
        cluster_label="k8s_cluster",
        selectors={"dcgm": 'job="dcgm-exporter", environment!~"test|dev"'},
        thresholds=Thresholds(idle_ratio=0.05, idle_minutes=10),
        intervals=Intervals(normalize=15),
        scrape_interval="1m30s",
        link_prefix="/grafana",
        runbook_prefix="https://wiki.example/runbooks",
        panels_off=frozenset({"cluster/power"}),
        extra_tags=("ml", "gpu"),
        maintenance_taints=("corp/repair",),
        interactive_kinds=("Lab",),
        interactive_queues=("debug",),
        editable=True,
        prices={"NVIDIA H100 80GB HBM3": 2.5},
        currency="currencyEUR",
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "thresholds:\n", "{}"])
def test_an_empty_file_changes_nothing(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == Settings() == load_settings(None)


def test_every_setting_can_be_read_and_is_explained() -> None:
    assert list(_READ) == [field.name for field in dataclasses.fields(Settings)]
    text = settings_table()
    for declared, prefix in ((Settings, ""), (Thresholds, "thresholds."), (Intervals, "intervals.")):
        for name, meaning in meanings(declared).items():
            assert meaning.endswith("."), name
            assert f"| `{prefix}{name}` |" in text or name in ("thresholds", "intervals")


def test_defaults_are_within_their_bounds() -> None:
    for field in dataclasses.fields(Thresholds):
        low, high = bounds_of(field.name)
        assert low <= getattr(Thresholds(), field.name) <= high, field.name


def test_a_tag_stands_once(tmp_path: Path) -> None:
    assert load(tmp_path, "extra_tags: [ml, gpuscope, ml]\n").extra_tags == ("ml",)


def test_settings_reach_boards_and_rules(tmp_path: Path) -> None:
    settings = load(tmp_path, FULL)
    rules = "".join(rule_texts(settings).values())
    assert 'environment!~"test|dev"' in rules
    assert "k8s_cluster" in rules
    board = json.loads({path.stem: text for path, text in dashboard_files(settings).items()}["cluster"])
    assert board["tags"] == ["gpuscope", "ml", "gpu"]
    assert board["editable"]
    plain = "".join(dashboard_files(Settings()).values())
    assert "(/grafana/d/" not in plain
    assert '"/grafana/d/gpuscope-cluster/cluster?' in "".join(dashboard_files(settings).values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", ":1: must be a mapping, not a list"),
        ("a: [\n", ":2: not valid YAML: "),
        ("\nthreshold: {}\n", ":2: threshold: no such setting; did you mean thresholds?"),
        ("x: 1\n", ":1: x: no such setting"),
        ("editable: true\nEditable: true\n", ":2: Editable: no such setting; did you mean editable?"),
        ("editable: true\neditable: true\n", ":2: editable: given twice, first in line 1"),
        ("editable: 1\n", ":1: editable: must be true or false, not '1'"),
        ("cluster_label: 1a\n", ":1: cluster_label: '1a' is not a label name"),
        ("cluster_label: __name__\n", ":1: cluster_label: '__name__' is not a label name"),
        *(
            (f"cluster_label: {label}\n", f":1: cluster_label: '{label}' names something else")
            for label in ("severity", "alertname", "audience", "scope", "team", "workload", "rack", "filesystem", "gpu")
        ),
        ("cluster_label: yes\n", ":1: cluster_label: must be a text, not 'yes'; quote it"),
        ("cluster_label: [a]\n", ":1: cluster_label: must be a text, not a list"),
        ("selectors:\n  dcgn: a\n", ":2: selectors.dcgn: no such source; did you mean dcgm?"),
        ("selectors:\n  zzz: a\n", ":2: selectors.zzz: no such source; there are "),
        ("selectors:\n  dcgm: job=x\n", ":2: selectors.dcgm: not a condition such as job=\"name\": 'job=x'"),
        ('selectors:\n  dcgm: job=~"("\n', ":2: selectors.dcgm: not a regular expression: '('"),
        ("thresholds: 3\n", ":1: thresholds: must be a mapping, not '3'"),
        ("thresholds:\n  idle_ratios: 3\n", ":2: thresholds.idle_ratios: no such setting; did you mean idle_ratio?"),
        ("thresholds:\n  idle_ratio: 1.5\n", ":2: thresholds.idle_ratio: 1.5 is not between 0 and 1"),
        ("thresholds:\n  idle_ratio: .nan\n", ":2: thresholds.idle_ratio: must be a finite number, not .nan"),
        ("thresholds:\n  idle_ratio: '0.1'\n", ":2: thresholds.idle_ratio: must be a number, not '0.1'"),
        ("thresholds:\n  idle_minutes: 1.5\n", ":2: thresholds.idle_minutes: 1.5 is not a whole number"),
        ("intervals:\n  slow: 1\n", ":2: intervals.slow: 1 is not between 5 and 3600"),
        ("intervals:\n  fast: 1\n", ":2: intervals.fast: no such setting"),
        ("intervals:\n  normalize: 90\n", ":1: intervals: 90, 60, 300: normalize, aggregate and slow must not fall"),
        ("scrape_interval: 30\n", ":1: scrape_interval: must be a text, not '30'; quote it"),
        ("scrape_interval: 30 s\n", ":1: scrape_interval: '30 s' is not a duration"),
        ("scrape_interval: 2h\n", ":1: scrape_interval: 2h is not between 1s and 1h"),
        ("link_prefix: grafana/\n", ":1: link_prefix: 'grafana/' is neither a path"),
        ("runbook_prefix: /x\n", ":1: runbook_prefix: '/x' is not a URL"),
        ("panels_off: cluster/power\n", ":1: panels_off: must be a list of texts, not 'cluster/power'"),
        (
            "panels_off: [cluster/powr]\n",
            ":1: panels_off: 'cluster/powr' is not a board/panel; did you mean cluster/power?",
        ),
        ('selectors:\n  dcgm: job=~"(?<=a)b"\n', ":2: selectors.dcgm: not a regular expression of Prometheus: "),
        ('selectors:\n  dcgm: __name__="x"\n', ":2: selectors.dcgm: the name of a series cannot be chosen"),
        (f'selectors:\n  dcgm: job="{"x" * 3000}"\n', ":2: selectors.dcgm: longer than 2000 characters"),
        ("cluster_label: node\n", ":1: cluster_label: 'node' names something else"),
        (
            f"thresholds:\n  idle_minutes: {'9' * 400}\n",
            ":2: thresholds.idle_minutes: must be a finite number, not 999",
        ),
        ("scrape_interval: ٣s\n", ":1: scrape_interval: '٣s' is not a duration"),
        ('"a\\nb": 1\n', ":1: a\\nb: no such setting"),
        ('"a\\0b": 1\n', ":1: keys must be plain words"),
        ('extra_tags: ["a\\0b"]\n', ":1: extra_tags: 'a\\x00b' has a character that cannot be written"),
        ('extra_tags: ["\\ud800"]\n', ":1: extra_tags: '\\ud800' has a character that cannot be written"),
        ('extra_tags: ["a\\nb"]\n', ":1: extra_tags: 'a\\nb': a tag has at most 50 letters, in one line"),
        (f"extra_tags: [{'x' * 51}]\n", ":1: extra_tags: 'xxx"),
        ("link_prefix: /$x\n", ":1: link_prefix: '/$x' is neither a path"),
        ("runbook_prefix: https://me:secret@x/y\n", ":1: runbook_prefix: 'https://me:secret@x/y' is not a URL"),
        ("prices:\n  $cluster: 1\n", ":2: prices.$cluster: no name of a model"),
        (
            "prices:\n" + "".join(f"  m{n}: 1\n" for n in range(101)),
            ":1: prices: 101 models: at most 100 can stand in a query",
        ),
        ("maintenance_taints: ['a(?=b)']\n", ":1: maintenance_taints: not a regular expression of Prometheus: "),
        ("maintenance_taints: ['(']\n", ":1: maintenance_taints: not a regular expression: '('"),
        ("interactive_kinds: ['(']\n", ":1: interactive_kinds: not a regular expression: '('"),
        ("interactive_queues: ['.*']\n", ":1: interactive_queues: '.*' takes all work for interactive"),
        ("maintenance_taints: ['.*']\n", ":1: maintenance_taints: '.*' takes every node for one under maintenance"),
        ("extra_tags: ['']\n", ":1: extra_tags: a tag is empty"),
        ("prices:\n  '': 1\n", ":2: prices: a price for no model"),
        ("prices:\n  H100: -1\n", ":2: prices.H100: -1 is not between 0 and 1e+06"),
        ("currency: EUR\n", ":1: currency: 'EUR' is not a unit of Grafana such as currencyEUR"),
        ("? [a]\n: b\n", ":1: keys must be plain words"),
        ("alerts:\n  GpuExporterDown: {severity: warning}\n", ":2: alerts.GpuExporterDown: would be warning twice"),
        (
            "alerts:\n  JobStalled/critical:\n    severity: warning\n",
            ":2: alerts.JobStalled/critical: would be warning twice, and nobody could tell one from the other; "
            "JobStalled/critical: {enabled: false} turns one off",
        ),
        ("alert_labels:\n  workload: x\n", ":2: alert_labels.workload: alerts have this label already"),
        ("alert_labels:\n  filesystem: x\n", ":2: alert_labels.filesystem: alerts have this label already"),
        ("alert_labels:\n  env: '{{ x'\n", ":2: alert_labels.env: '{{ x': Prometheus would read {{ as a template"),
        ("rack_pattern: '(?=r)(x)'\n", ":1: rack_pattern: not a regular expression of Prometheus: "),
        ("rack_pattern: '(r)\\Z'\n", ":1: rack_pattern: not a regular expression of Prometheus: "),
        (
            "thresholds:\n  checkpoint_age_seconds: 0.4\n",
            ":2: thresholds.checkpoint_age_seconds: 0.4 is not between 1 and 3.1536e+07",
        ),
    ],
)
def test_mistake_names_file_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path / 'my.yaml'}{message}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "{GpuExporterDown: {severity: warning}, GpuExporterDown/critical: {enabled: false}}",
        "{GpuExporterDown/critical: {severity: warning}, GpuExporterDown/warning: {severity: critical}}",
        "{GpuClusterSaturated: {severity: info}}",
        "{GpuExporterDown: {for: 0s, keep_firing_for: 7d}}",
    ],
)
def test_no_two_alerts_are_the_same(tmp_path: Path, text: str) -> None:
    settings = load(tmp_path, f"alerts: {text}\n")
    seen = [(one.name, *labels_of(one, settings).items()) for one in all_alerts(settings)]
    assert len(seen) == len(set(seen))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe")
    for name, reason in {
        "none.yaml": "No such file",
        "": "is not a regular file",
        "binary.yaml": "not UTF-8 text",
    }.items():
        with pytest.raises(ConfigError, match=f"--settings .*: {reason}"):
            load_settings(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "{ thresholds: { idle_ratio: 0.02 }, extra_tags: ['ml'] }",
        "{ _config+:: { thresholds+: { idle_ratio: 0.02 }, extra_tags+: ['ml'] } }",
        "{ _config+:: { thresholds+: { idle_ratio: super.idle_ratio * 2 }, extra_tags: ['ml'] } }",
        "(import 'mine.libsonnet') + { _config+:: { extra_tags+: ['ml'] } }",
    ],
)
def test_jsonnet_sets_all_or_changes_the_config(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.libsonnet").write_text("{ _config+:: { thresholds+: { idle_ratio: 0.02 } } }")
    found = load(tmp_path, text, "my.jsonnet")
    assert found == Settings(thresholds=Thresholds(idle_ratio=0.02), extra_tags=("ml",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{\n  a: ]\n}", ":2: not valid Jsonnet: unexpected: "),
        ("{\n  _config+:: {\n    extra_tags: error 'no tag',\n  },\n}", ":3: not valid Jsonnet: no tag"),
        ("{\n  local x = import 'none.libsonnet',\n  editable: x,\n}", ":2: not valid Jsonnet: couldn't open import"),
        ("{\n  thresholds: {\n    idle_ratio: 3,\n  },\n}", ":3: thresholds.idle_ratio: 3 is not between 0 and 1"),
        ("{\n  _config+:: { cluster_labl: 'a' },\n}", ":2: cluster_labl: no such setting; did you mean cluster_label?"),
        ("{ [x]: 'a' for x in ['nothing'] }", ": nothing: no such setting"),
        ("function(x) x", ": not valid Jsonnet: an object is wanted, not function"),
        ("[1]", ": not valid Jsonnet: an object is wanted, not array"),
        (
            "{\n  _config+:: {\n    thresholds+: { storage_critical_ratio: 0.7 },\n  },\n}",
            ":3: thresholds.storage_critical_ratio: 0.7 is below storage_high_ratio, 0.8",
        ),
    ],
)
def test_mistake_in_jsonnet_names_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text, "my.libsonnet")
    assert str(raised.value).startswith(f"{tmp_path / 'my.libsonnet'}{message}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("lower", "upper"), RISING)
def test_thresholds_that_belong_together_do_not_turn_round(tmp_path: Path, lower: str, upper: str) -> None:
    default = getattr(Thresholds(), upper)
    for text, message in {
        f"{lower}: 1": f"2: thresholds.{lower}: 1 is above {upper}, {default:g}",
        f"{upper}: 0": f"2: thresholds.{upper}: 0 is below ",
    }.items():
        with pytest.raises(ConfigError) as raised:
            load(tmp_path, f"thresholds:\n  {text}\n")
        assert str(raised.value).startswith(f"{tmp_path / 'my.yaml'}:{message}")
    low = {name: 0.0 for name, _ in RISING}
    both = {"thresholds": {**low, lower: 0.7, upper: 0.7}}
    assert getattr(load(tmp_path, json.dumps(both)).thresholds, lower) == 0.7
    both["thresholds"][lower] = 0.75
    with pytest.raises(ConfigError, match=rf"thresholds.{lower}: 0.75 is above {upper}, 0.7$"):
        load(tmp_path, json.dumps(both))


def test_defaults_written_down_are_the_defaults(tmp_path: Path) -> None:
    plain = as_plain(Settings())
    assert load(tmp_path, yaml.safe_dump(plain)) == Settings()
    assert load(tmp_path, json.dumps(plain), "my.jsonnet") == Settings()


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from([*_READ, "idle_ratio", "normalize", "x"]), inner)
        ),
        max_leaves=12,
    )
)
def test_nothing_but_a_settings_or_a_named_error_comes_out(
    tmp_path_factory: pytest.TempPathFactory, found: object
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_text(yaml.safe_dump(found, allow_unicode=True), encoding="utf-8")
    told = str(file)
    with contextlib.suppress(ConfigError):
        try:
            load_settings(file)
        except ConfigError as error:
            told = str(error)
            raise
    assert told.startswith(str(file))
