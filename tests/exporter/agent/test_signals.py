import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

RELOADED = "gpuscope_config_last_reload_successful"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_the_agent_with_0(agent, wait_for, number: int) -> None:
    running = agent()
    wait_for(running.ready, "first full cycle")
    assert running.stop(number) == 0
    assert running.log.rstrip().endswith("msg=stopping")


def test_a_hanging_driver_does_not_keep_the_agent_from_ending(agent, wait_for) -> None:
    running = agent("--nvml.deadline", "500ms", "--simulate.speed", "10", simulate="call-wedged")
    wait_for(lambda: 0.0 in running.gpus_up(), "the wedged GPU")
    assert running.stop() == 0


def test_a_driver_that_hangs_too_long_ends_the_agent_with_3(agent) -> None:
    flags = ["--nvml.deadline", "500ms", "--simulate.speed", "10", "--exit-on-stuck", "1s"]
    running = agent(*flags, simulate="call-wedged")
    assert running.process.wait(timeout=60) == 3
    assert "hangs for longer than --exit-on-stuck" in running.log


def test_reload_puts_the_file_in_force_without_an_empty_scrape(agent, wait_for, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("collector: {power: true}\n")
    running = agent("--config", str(file))
    wait_for(running.ready, "first full cycle")
    seen: list[dict[str, float]] = []
    ended = threading.Event()

    def scrape() -> None:
        while not ended.is_set():
            seen.append(running.metrics())

    scraper = threading.Thread(target=scrape)
    scraper.start()
    try:
        file.write_text("collector: {power: false}\nlog: {level: debug, format: json}\n")
        running.send(signal.SIGHUP)
        running.logged("configuration reloaded")
        wait_for(lambda: not [s for s in running.metrics() if "power_watts" in s], "power to be gone")
        file.write_text("collector: {power: true}\n")
        running.send(signal.SIGHUP)
        wait_for(lambda: [s for s in running.metrics() if "power_watts" in s], "power to come back")
    finally:
        ended.set()
        scraper.join(60)
    for before, after in pairwise(seen):
        assert [value for series, value in after.items() if series.startswith("gpuscope_gpu_up{")] == [1.0] * 8
        # What power is switched off for, and the driver calls behind it, may go; nothing else may, not for one scrape.
        gone = {s for s in before if "_gpu_" in s or "_mig_" in s} - set(after)
        assert {s for s in gone if "power" not in s and "energy" not in s} == set()
        counters = [s for s in before if "_total" in s and s in after]
        assert [s for s in counters if after[s] < before[s]] == []
    assert len(seen) > 10
    assert running.value(RELOADED) == 1
    assert '"msg": "configuration reloaded"' in running.log


def test_reload_takes_a_new_xid_catalogue(agent, wait_for, tmp_path: Path) -> None:
    override = tmp_path / "xids.csv"
    override.write_text("code,critical\n48,true\n")
    running = agent("--xid-catalogue", str(override))
    wait_for(running.ready, "first full cycle")

    def zeros(code: int) -> int:
        return len([s for s in running.metrics() if "xid_errors_total" in s and f'xid="{code}"' in s])

    assert (zeros(48), zeros(9123)) == (8, 0)
    override.write_text("code,meaning,critical\n48,x,false\n9123,ours,true\n")
    running.send(signal.SIGHUP)
    wait_for(lambda: (zeros(48), zeros(9123)) == (0, 8), "the new catalogue")


def test_reload_takes_new_users_of_the_web_configuration(agent, wait_for, tmp_path: Path) -> None:
    web = tmp_path / "web.yml"
    web.write_text("")
    running = agent("--web.config.file", str(web))
    assert running.get("/-/healthy").status_code == 200
    web.write_text("basic_auth_users:\n  prometheus: $2b$04$VbL5QeIRgdQyo8m8PpWmiOWMiKUKWcfcgmpZ4ezMDUI5r0t3iVCS6\n")
    running.send(signal.SIGHUP)
    wait_for(lambda: running.get("/metrics").status_code == 401, "a password to be asked for")


def test_a_released_driver_is_taken_up_after_the_timeout(agent, wait_for) -> None:
    running = agent("--nvml.release-timeout", "1s")
    wait_for(running.ready, "first full cycle")
    running.send(signal.SIGUSR1)
    running.logged("--nvml.release-timeout is over")
    wait_for(running.ready, "the driver to be back")


def test_a_reload_does_not_take_a_released_driver_up(agent, wait_for, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("")
    running = agent("--config", str(file))
    wait_for(running.ready, "first full cycle")
    running.send(signal.SIGUSR1)
    wait_for(lambda: not running.ready(), "the driver to be released")
    file.write_text("interval: {slow: 30s}\n")
    running.send(signal.SIGHUP)
    running.logged("configuration reloaded")
    assert not running.ready()
    running.send(signal.SIGUSR2)
    wait_for(running.ready, "the driver to be back")


COMMAND = [sys.executable, "-m", "gpuscope", "agent", "--simulate", "h100x8", "--web.listen-address", "127.0.0.1:0"]


def _started(number: signal.Signals) -> "subprocess.Popen[bytes]":
    """An agent so young that it has just begun to mind the signal: it still imports its parts."""
    process = subprocess.Popen(COMMAND, stderr=subprocess.DEVNULL)
    status = Path(f"/proc/{process.pid}/status")
    for _ in range(3000):
        blocked = next(line for line in status.read_text().splitlines() if line.startswith("SigBlk:"))
        if int(blocked.split()[1], 16) >> (number - 1) & 1:
            return process
        time.sleep(0.01)
    raise AssertionError("the signal was never minded")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2])
def test_a_signal_during_start_ends_nothing(number: signal.Signals) -> None:
    process = _started(number)
    for _ in range(5):
        process.send_signal(number)
        time.sleep(0.3)
    assert process.poll() is None
    process.terminate()
    assert process.wait(20) == 0


def test_sigterm_during_start_ends_in_order() -> None:
    process = _started(signal.SIGTERM)
    process.terminate()
    assert process.wait(20) == 0


def test_a_released_agent_ends_too(agent, wait_for) -> None:
    running = agent()
    running.send(signal.SIGUSR1)
    running.logged("releasing the driver")
    assert running.stop() == 0
