import json
import logging
import re
import threading
from collections.abc import Iterator

import pytest

from gpuscope import logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root, hook = logging.getLogger(), threading.excepthook
    before, level = list(root.handlers), root.level
    root.handlers[:] = []
    yield
    root.handlers[:] = before
    root.setLevel(level)
    threading.excepthook = hook


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def test_logfmt_is_one_line_with_utc_time_and_quotes_where_needed(capsys: pytest.CaptureFixture[str]) -> None:
    logs.setup()
    logging.getLogger("gpuscope.agent").info('GPU 1 said "no"\nand left')
    logging.getLogger("gpuscope.agent").debug("unseen")
    (line,) = lines(capsys)
    assert re.fullmatch(
        r'ts=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z level=info logger=agent msg="GPU 1 said \\"no\\"\\nand left"', line
    )


def test_json_lines_parse_also_with_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    logs.setup("debug", "json")
    try:
        int("broken\nin two lines")
    except ValueError:
        logging.getLogger("x").exception("it failed: %s", "é")
    (line,) = lines(capsys)
    found = json.loads(line)
    assert (found["level"], found["logger"], found["msg"]) == ("error", "x", "it failed: é")
    assert found["exception"].startswith("Traceback")
    assert "\nValueError: invalid literal" in found["exception"]


def test_the_same_warning_is_held_back_and_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("gpuscope.logs.time.monotonic", lambda: now[0])
    logs.setup()
    log = logging.getLogger("x")
    for _ in range(100):
        log.warning("GPU %d hangs", 1)
        log.info("tick")
    log.warning("GPU %d hangs", 2)
    logs.setup("info", "json")  # a reload does not forget
    log.warning("GPU %d hangs", 1)
    now[0] += 61
    log.warning("GPU %d hangs", 1)
    shown = [line for line in lines(capsys) if "tick" not in line]
    assert len(shown) == 3
    assert json.loads(shown[2])["repeated"] == 100


def test_many_different_warnings_do_not_fill_the_memory(capsys: pytest.CaptureFixture[str]) -> None:
    logs.setup()
    for number in range(2500):
        logging.getLogger("x").warning("warning %d", number)
    assert len(lines(capsys)) == 2500


def test_a_thread_that_dies_says_so_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    logs.setup(form="json")
    thread = threading.Thread(target=lambda: 1 / 0, name="worker-7")
    thread.start()
    thread.join()
    (line,) = lines(capsys)
    assert json.loads(line)["msg"] == "thread worker-7 ended by an error"
    assert "ZeroDivisionError" in json.loads(line)["exception"]
