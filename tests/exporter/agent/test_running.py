"""What one agent serves and minds while it goes on running: these tests share it, as a start is what costs."""

import os
import signal
import time

import pytest

RELOADED = "gpuscope_config_last_reload_successful"


def test_agent_serves_the_simulated_machine(shared) -> None:
    running, _ = shared
    assert running.gpus_up() == [1.0] * 8
    metrics = running.metrics()
    assert metrics["gpuscope_config_last_reload_successful"] == 1
    assert metrics["gpuscope_config_last_reload_success_timestamp_seconds"] > 1_700_000_000
    assert metrics["gpuscope_kernel_log_up"] == 1
    assert running.get("/api/v1/health").json()["node"] == "node-a"


def test_open_files_belong_to_the_agent_only(shared) -> None:
    running, _ = shared
    descriptors = os.listdir(f"/proc/{running.process.pid}/fd")
    assert len(descriptors) < 64


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("interval: {fast: soon}\n", ":1: interval.fast: 'soon' is not a duration"),
        ("xid-catalogue: /nowhere.csv\n", ":1: xid-catalogue: /nowhere.csv: cannot be read"),
        ("web: {config: {file: /nowhere.yml}}\n", ":1: web.config.file: /nowhere.yml: cannot be read"),
    ],
)
def test_a_bad_reload_changes_nothing(shared, wait_for, text: str, reason: str) -> None:
    running, file = shared
    loaded = running.value("gpuscope_config_last_reload_success_timestamp_seconds")
    file.write_text(text)
    running.send(signal.SIGHUP)
    running.logged(f"the old one stays in force: {file}{reason}")
    wait_for(lambda: running.value(RELOADED) == 0, "the failed reload in the metrics")
    assert running.value("gpuscope_config_last_reload_success_timestamp_seconds") == loaded
    assert running.gpus_up() == [1.0] * 8
    file.write_text("")
    running.send(signal.SIGHUP)
    wait_for(lambda: running.value(RELOADED) == 1, "the good reload in the metrics")


def test_what_needs_a_restart_is_refused_and_the_rest_taken(shared, wait_for) -> None:
    running, file = shared
    wait_for(lambda: [s for s in running.metrics() if "xid" in s], "faults")
    file.write_text("web: {telemetry-path: /gpu}\ncollector: {xid: false}\n")
    running.send(signal.SIGHUP)
    running.logged("--web.telemetry-path cannot be changed without a restart; it stays /metrics")
    wait_for(lambda: not [s for s in running.metrics() if "xid" in s], "faults to be gone")
    assert running.value(RELOADED) == 0


def test_released_driver_is_not_ready_but_healthy_and_comes_back(shared, wait_for) -> None:
    running, _ = shared
    running.send(signal.SIGUSR1)
    wait_for(lambda: not running.ready(), "the driver to be released")
    answer = running.get("/-/ready")
    assert answer.status_code == 503
    assert "released" in answer.text
    assert running.get("/-/healthy").status_code == 200
    wait_for(lambda: running.gpus_up() == [0.0] * 8, "the GPUs to be down")
    assert running.value('gpuscope_driver_unavailable_info{reason="released"}') == 1
    assert not [s for s in running.metrics() if "power_watts" in s]
    running.send(signal.SIGUSR2)
    wait_for(running.ready, "the driver to be back")
    assert running.gpus_up() == [1.0] * 8


def test_a_doubled_signal_does_no_harm(shared, wait_for) -> None:
    running, _ = shared
    running.send(signal.SIGUSR2)
    time.sleep(1.5)  # signals sent together arrive by number, not by time
    assert running.ready()
    running.send(signal.SIGUSR1)
    wait_for(lambda: not running.ready(), "the driver to be released")
    running.send(signal.SIGUSR1)
    time.sleep(1.5)
    assert "released" in running.get("/-/ready").text
    running.send(signal.SIGUSR2)
    wait_for(running.ready, "the driver to be back")
