from pathlib import Path

import pytest

from gpuscope.config import Loaded, load
from gpuscope.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "gpuscope.yaml"


def fails(file: Path | None = None, flags: dict[str, object] | None = None, **variables: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(flags or {}, file, variables)
    return str(caught.value)


def test_flag_wins_over_variable_over_file_over_default(file: Path) -> None:
    file.write_text("interval: {fast: 2s, slow: 2m, activity: 20s}\n")
    variables = {"GPUSCOPE_INTERVAL_FAST": "3s", "GPUSCOPE_INTERVAL_SLOW": "3m"}
    loaded = load({"interval.fast": "4s"}, file, variables)
    assert [loaded.settings[f"interval.{tier}"] for tier in ("fast", "slow", "activity", "processes")] == [
        4.0,
        180.0,
        20.0,
        15.0,
    ]
    assert loaded.origins == {
        "interval.fast": "--interval.fast",
        "interval.slow": "GPUSCOPE_INTERVAL_SLOW",
        "interval.activity": f"{file}:1",
    }


def test_file_may_nest_at_the_dots_or_write_them(file: Path) -> None:
    file.write_text("web.telemetry-path: /gpu\nweb:\n  config:\n    file: web.yml\n")
    settings = load({}, file, {}).settings
    assert settings["web.telemetry-path"] == "/gpu"
    assert settings["web.config.file"] == str(file.parent / "web.yml")


@pytest.mark.parametrize("text", ["simulate: h100x8\n", "simulate:\n  scenario: h100x8\n  speed: 10\n"])
def test_simulate_is_a_setting_and_a_section(file: Path, text: str) -> None:
    file.write_text(text)
    assert load({}, file, {}).settings["simulate"] == "h100x8"


def test_a_word_that_yaml_takes_for_false_stays_a_word(file: Path) -> None:
    file.write_text("kernel-log: off\ncollector: {pipes: yes, xid: off}\n")
    settings = load({}, file, {}).settings
    assert settings["kernel-log"] == "off"
    assert "pipes" in settings.collectors()
    assert "xid" not in settings.collectors()


def test_relative_paths_of_the_file_start_at_its_folder(file: Path) -> None:
    file.write_text("state-dir: state\nxid-catalogue: /etc/xids.csv\nkernel-log: auto\n")
    settings = load({}, file, {}).settings
    assert settings["state-dir"] == str(file.parent / "state")
    assert settings["xid-catalogue"] == "/etc/xids.csv"
    assert settings["kernel-log"] == "auto"
    assert load({"state-dir": "state"}, None, {}).settings["state-dir"] == "state"


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "~\n"])
def test_an_empty_file_is_fine(file: Path, text: str) -> None:
    file.write_text(text)
    assert load({}, file, {}).origins == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("interval:\n  fats: 1s\n", "{}:2: interval.fats: no such setting; did you mean interval.fast?"),
        ("# x\ncolector: {mig: true}\n", "{}:2: colector: no such setting"),
        (
            "collector:\n  nvlink_links: true\n",
            "{}:2: collector.nvlink_links: no such setting; did you mean collector.",
        ),
        ("interval:\n  fast: soon\n", "{}:2: interval.fast: 'soon' is not a duration"),
        (
            "interval:\n  fast: 5\n",
            "{}:2: interval.fast: '5' is not a duration like 500ms, 5s or 1m30s; it needs a unit",
        ),
        ("log:\n\n  level: loud\n", "{}:3: log.level: 'loud' is not one of"),
        ("expected-gpus: [8]\n", "{}:1: expected-gpus: must be one whole number, not a list"),
        ("expected-gpus:\n", "{}:1: expected-gpus: must be one whole number, not nothing"),
        ("node-name: {a: b}\n", "{}:1: node-name: must be one text, not a mapping"),
        ("collector: true\n", "{}:1: collector: must be a mapping of settings"),
        ("web:\n  config: x\n", "{}:2: web.config: must be a mapping of settings"),
        ("web:\n  listen-address: [[a]]\n", "{}:2: web.listen-address: must be a list of texts"),
        ("node-name: a\nnode-name: b\n", "{}:2: node-name: given twice, first in line 1"),
        ("log: {level: info}\nlog: {format: json}\n", "{}:2: log: given twice, first in line 1"),
        ("log.level: info\nlog: {level: info}\n", "{}:2: log.level: given twice, first in line 1"),
        ("simulate: {scenario: a, scenario: b}\n", "{}:1: simulate.scenario: given twice, first in line 1"),
        ("- a\n", "{}:1: must be a mapping of settings"),
        ("just words\n", "{}:1: must be a mapping of settings"),
        ("? [a]\n: b\n", "{}:1: key: keys must be plain words"),
        ("web:\n  ? {a: b}\n  : c\n", "{}:2: web.: keys must be plain words"),
        ("a: [1\nb: 2\n", "{}:2: not valid YAML"),
        ("a: \x00\n", "{}:1: not valid YAML"),
        ("a: &a [*b]\n", "{}:1: not valid YAML: found undefined alias"),
        ("[" * 1000, "{}:1: not valid YAML: nested too deeply"),
    ],
)
def test_mistakes_in_the_file_name_line_and_key(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    assert fails(file).startswith(message.format(file))


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    assert fails(file) == f"--config {file}: cannot be read: No such file or directory"
    file.write_bytes(b"\xff\xfe\x00")
    assert fails(file) == f"--config {file}: cannot be read: not UTF-8 text"


def test_mistakes_in_flags_and_variables_name_them() -> None:
    assert fails(flags={"interval.fast": "1"}).startswith("--interval.fast: '1' is not a duration")
    assert fails(GPUSCOPE_INTERVAL_FAST="1").startswith("GPUSCOPE_INTERVAL_FAST: '1' is not a duration")
    assert fails(GPUSCOPE_INTERVALL_FAST="1s") == (
        "GPUSCOPE_INTERVALL_FAST: no such setting; did you mean GPUSCOPE_INTERVAL_FAST?"
    )


def test_an_empty_variable_is_not_set() -> None:
    loaded = load({}, None, {"GPUSCOPE_INTERVAL_FAST": "", "GPUSCOPE_NODE_NAME": ""})
    assert loaded.origins == {}


def test_variables_of_kubernetes_services_named_gpuscope_are_left_alone() -> None:
    variables = {
        "GPUSCOPE_SERVICE_HOST": "10.0.0.1",
        "GPUSCOPE_SERVICE_PORT": "9836",
        "GPUSCOPE_SERVICE_PORT_HTTP_METRICS": "9836",
        "GPUSCOPE_PORT": "tcp://10.0.0.1:9836",
        "GPUSCOPE_PORT_9836_TCP": "tcp://10.0.0.1:9836",
        "GPUSCOPE_PORT_9836_TCP_ADDR": "10.0.0.1",
        "GPUSCOPE_AGENT_SERVICE_HOST": "10.0.0.2",
        "GPUSCOPE_AGENT_PORT_9836_TCP_PROTO": "tcp",
        "OTHER": "x",
    }
    assert load({}, None, variables).origins == {}


def test_lists_have_commas_in_a_variable(file: Path) -> None:
    loaded = load({}, None, {"GPUSCOPE_WEB_LISTEN_ADDRESS": "127.0.0.1:1,[::1]:2"})
    assert loaded.settings["web.listen-address"] == ("127.0.0.1:1", "[::1]:2")


def test_an_error_found_later_names_the_origin(file: Path) -> None:
    file.write_text("xid-catalogue: x.csv\n")
    loaded: Loaded = load({"simulate": "x"}, file, {"GPUSCOPE_STATE_DIR": "/x"})
    assert str(loaded.error("xid-catalogue", "bad")) == f"{file}:1: xid-catalogue: bad"
    assert str(loaded.error("simulate", "bad")) == "--simulate: bad"
    assert str(loaded.error("state-dir", "bad")) == "GPUSCOPE_STATE_DIR: bad"
    assert str(loaded.error("path.procfs", "bad")) == "--path.procfs: bad"
