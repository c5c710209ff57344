import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def finish(process: subprocess.Popen[bytes], tmp_path: Path) -> tuple[int, str]:
    return process.wait(timeout=60), (tmp_path / "stderr").read_text(encoding="utf-8")


def test_start_is_told_in_single_lines(agent, wait_for) -> None:
    running = agent("--log.format", "json")
    wait_for(running.ready, "first full cycle")
    lines = [json.loads(line) for line in running.log.splitlines()]
    assert all({"ts", "level", "logger", "msg"} <= set(line) for line in lines)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["ts"]) for line in lines)
    messages = [line["msg"] for line in lines]
    assert any(re.fullmatch(r"gpuscope \S+ on node node-a, simulated driver h100-mig", one) for one in messages)
    assert "driver 595.45.04, 8 GPUs" in messages
    assert any(one.startswith("listening on http://127.0.0.1:") for one in messages)
    assert not [line for line in lines if line["level"] in {"warning", "error"}]


@pytest.mark.parametrize(
    ("flags", "variables", "node"),
    [
        (["--node-name", "by-flag"], {"NODE_NAME": "by-variable"}, "by-flag"),
        ([], {"NODE_NAME": "by-variable"}, "by-variable"),
        (["--simulate.seed", "rack-7"], {}, "rack-7"),
    ],
)
def test_name_of_the_node(agent, flags: list[str], variables: dict[str, str], node: str) -> None:
    assert agent(*flags, **variables).get("/api/v1/health").json()["node"] == node


def test_without_a_driver_the_agent_stays_up_and_says_so(agent, wait_for) -> None:
    running = agent(simulate="no-driver")
    running.logged("driver not available (library_not_found)")
    reason = 'gpuscope_driver_unavailable_info{reason="library_not_found"}'
    wait_for(lambda: running.value(reason) == 1, "the state of the driver")
    assert running.value("gpuscope_up") == 0
    assert running.get("/-/healthy").status_code == 200
    assert running.get("/-/ready").status_code == 503


def test_on_the_real_driver_the_node_is_the_host(agent) -> None:
    running = agent("--kernel-log", "off", simulate="")
    assert running.get("/api/v1/health").json()["node"] == socket.gethostname()
    assert "gpuscope_kernel_log_up" not in running.metrics()
    assert f"on node {socket.gethostname()}, NVML" in running.log


def test_the_kernel_log_of_the_real_machine_is_read_or_the_reason_is_told(agent, wait_for) -> None:
    running = agent(simulate="")
    wait_for(
        lambda: (
            "reading the kernel log from /dev/kmsg" in running.log or "kernel log not read: /dev/kmsg" in running.log
        ),
        "a word about the kernel log",
    )


def test_what_a_pid_namespace_hides_is_told_at_start(agent, tmp_path: Path) -> None:
    namespaces = tmp_path / "proc/self/ns"
    namespaces.mkdir(parents=True)
    (namespaces / "pid").symlink_to("pid:[4026532000]")
    running = agent("--path.procfs", str(tmp_path / "proc"))
    running.logged("process counts are absent: this PID namespace is not the host's")


def test_a_proc_file_system_that_says_nothing_is_told_at_start(agent, tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    running = agent("--path.procfs", str(tmp_path / "proc"))
    running.logged(f"process counts may be absent: {tmp_path}/proc/self/ns/pid cannot be read")


def test_no_place_for_the_simulated_machine_starts_nothing(tmp_path: Path) -> None:
    words = f"{sys.executable} -m gpuscope agent --web.listen-address 127.0.0.1:0 --simulate h100x8"
    # Without room for coverage's file either, measuring this process would only add a complaint of its own.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GPUSCOPE_", "COVERAGE_"))}
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 0; exec {words}"],
        env={**kept, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("gpuscope: error: --simulate: no place for a temporary folder: ")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_collectors_and_faults_can_be_switched_off(agent, wait_for) -> None:
    running = agent("--no-collector.power", "--no-collector.xid", "--collector.pipes")
    wait_for(lambda: [s for s in running.metrics() if s.startswith("gpuscope_gpu_pipe_")], "pipes")
    names = {series.partition("{")[0] for series in running.metrics()}
    assert "gpuscope_gpu_memory_used_bytes" in names
    assert not {name for name in names if "power_watts" in name or "xid" in name}


def test_a_port_in_use_starts_nothing(command: Callable[..., subprocess.Popen[bytes]], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        words = ["--web.listen-address", "127.0.0.1:0", "--web.listen-address", address, "--simulate", "h100x8"]
        code, text = finish(command(*words), tmp_path)
    assert code == 2
    assert text == (f"gpuscope: error: --web.listen-address '{address}': the port is in use by another program\n")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_file_is_no_folder_for_the_state(command: Callable[..., subprocess.Popen[bytes]], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    code, text = finish(
        command("--web.listen-address", "127.0.0.1:0", "--simulate", "h100x8", "--state-dir", str(file)), tmp_path
    )
    assert (code, text) == (2, f"gpuscope: error: --state-dir: {file}: not a folder that can be written to\n")


def test_two_agents_do_not_share_a_state_folder(
    agent, command: Callable[..., subprocess.Popen[bytes]], wait_for, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    first = agent("--state-dir", str(state))
    wait_for(lambda: first.url, "the first agent")
    words = ["--web.listen-address", "127.0.0.1:0", "--simulate", "h100x8", "--state-dir", str(state)]
    done = subprocess.run(
        [sys.executable, "-m", "gpuscope", "agent", *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (2, f"gpuscope: error: --state-dir: {state}: another agent uses it\n")
    assert first.stop() == 0
    third = agent("--state-dir", str(state))
    assert third.stop() == 0


def test_systemd_gives_the_folder_for_the_position_in_the_kernel_log(agent, wait_for, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    running = agent(simulate="xid-burst", STATE_DIRECTORY=f"{state}:/elsewhere")
    wait_for(running.ready, "first full cycle")
    assert running.stop() == 0
    assert [entry.name for entry in state.iterdir()] == ["kernel-log.json"]


def test_faults_come_from_the_kernel_log_that_is_named(agent, wait_for, tmp_path: Path) -> None:
    log = tmp_path / "kern.log"
    log.write_text("")
    running = agent("--kernel-log", str(log), simulate="h100x8")
    wait_for(running.ready, "first full cycle")
    bus = running.get("/api/v1/gpus").json()
    address = next(gpu for gpu in bus["gpus"] if gpu["index"] == 0)["pci_bus_id"].lower()[4:]
    with log.open("a", encoding="utf-8") as out:
        out.write(f"Jan  1 00:00:00 host kernel: NVRM: Xid (PCI:{address[:10]}): 79, pid=1, name=x, lost\n")
    wait_for(
        lambda: sum(v for s, v in running.metrics().items() if "xid_errors_total" in s and 'xid="79"' in s) == 1,
        "the fault in the metrics",
    )


def test_an_empty_variable_and_service_links_do_not_stop_the_agent(agent) -> None:
    links = {"GPUSCOPE_PORT": "tcp://10.0.0.1:9836", "GPUSCOPE_SERVICE_HOST": "10.0.0.1", "GPUSCOPE_NODE_NAME": ""}
    assert agent(**links).get("/-/healthy").status_code == 200


def test_no_folder_of_the_simulation_stays_behind(agent, tmp_path: Path) -> None:
    running = agent()
    assert len(list((tmp_path / "tmp").iterdir())) == 1
    assert running.stop() == 0
    assert list((tmp_path / "tmp").iterdir()) == []
