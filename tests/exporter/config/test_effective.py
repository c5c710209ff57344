from pathlib import Path

from gpuscope.config import OPTIONS, load
from gpuscope.config.effective import effective


def test_settings_in_force_are_a_file_that_gives_the_same_settings(tmp_path: Path) -> None:
    flags = {
        "web.listen-address": ["[::1]:1", "127.0.0.1:2"],
        "node-name": 'a "quoted": # name',
        "interval.slow": "1h30m",
        "simulate": "h100x8+xid-burst",
        "simulate.speed": "0.123456789",
        "kernel-log": "off",
        "collector.pipes": True,
        "collector.xid": False,
    }
    loaded = load(flags, None, {})
    file = tmp_path / "effective.yaml"
    file.write_text(effective(loaded))
    again = load({}, file, {})
    assert again.settings == loaded.settings
    assert len(again.origins) == len(OPTIONS)


def test_only_what_is_no_default_has_an_origin(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("log:\n  level: debug\n")
    lines = effective(load({"interval.fast": "1s"}, file, {"GPUSCOPE_EXPECTED_GPUS": "4"})).splitlines()
    assert [line for line in lines if "#" in line] == [
        "  fast: 1s  # --interval.fast",
        "expected-gpus: 4  # GPUSCOPE_EXPECTED_GPUS",
        f'  level: "debug"  # {file}:2',
    ]
