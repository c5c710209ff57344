"""What the collector of a big cluster costs: memory, CPU of a look, time to catch up, events a second.

1,250 nodes, 2,000 jobs, and on Kubernetes their 10,000 pods. The real command runs in a process of its own, and asks
through the real client over HTTP on loopback, or through commands that print a recorded Slurm made big. Each number
stands beside the time that ``json.loads`` takes for the same bytes on the same machine at the same moment.

    python bench/collector.py [--nodes 1250] [--jobs 2000] [--pods 10000] [--events 20000] [--seconds 60]
"""

import argparse
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
INTERVAL_S = 5.0
TICKS = os.sysconf("SC_CLK_TCK")
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass
class Collector:
    """A running collector."""

    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def url(self) -> str:
        return self.log.read_text().partition("listening on ")[2].partition('"')[0].strip()

    def cpu_s(self) -> float:
        """Its own CPU and that of the commands that it ran."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(int(field) for field in fields[11:15]) / TICKS

    def memory_mib(self) -> tuple[float, float]:
        """Now, and at most."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        now, most = (int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ("VmRSS", "VmHWM"))
        return now, most

    def get(self, path: str) -> str:
        return OPENER.open(self.url + path, timeout=60).read().decode()

    def ready(self) -> bool:
        try:
            return bool(self.url) and "ready" in self.get("/-/ready")
        except OSError:
            return False

    def wait(self, condition: "callable", what: str, limit_s: float = 300) -> None:
        end = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit(f"waited in vain: {what}\n{self.log.read_text()}")
            time.sleep(0.1)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def start(folder: Path, *flags: str) -> Collector:
    log = folder / "log"
    with log.open("wb") as stderr:
        words = [sys.executable, "-m", "gpuscope", "collector", "--web.listen-address", "127.0.0.1:0", *flags]
        return Collector(subprocess.Popen(words, stderr=stderr, stdout=subprocess.DEVNULL), log)


def loads_s(texts: list[bytes]) -> float:
    """CPU that ``json.loads`` takes for all of them, the best of three."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        for text in texts:
            json.loads(text)
        best = min(best, time.process_time() - began)
    return best


def fill(server: "object", nodes: int, jobs: int, pods: int) -> list[dict]:
    """Puts a busy cluster into the API server; returns its pods."""
    from tests.exporter.workloads.kubernetes import conftest as k

    for kind, plural in k.PLURALS.items():
        server.install(kind, k.WORKLOADS[kind]["apiVersion"], plural)
    for index in range(nodes):
        node = copy.deepcopy(k.NODE)
        node["metadata"] |= {"name": f"gpu-{index:05}", "uid": f"node-{index}"}
        server.put(node)
    made = []
    for index in range(jobs):
        meta = {"name": f"train-{index}", "namespace": f"team-{index % 40}", "uid": f"job-{index}"}
        owner = server.put(k.workload("PyTorchJob" if index % 2 else "Job", metadata=meta))
        for rank in range(index, pods, jobs):
            pod = k.running(k.pod(f"train-{index}-{rank}", owner, node=f"gpu-{rank % nodes:05}"), 60)
            pod["metadata"] |= {"namespace": meta["namespace"]}
            made.append(server.put(pod))
    return made


def serve(arguments: argparse.Namespace) -> None:
    """The API server, in a process of its own; obeys lines on stdin."""
    from tests.exporter.workloads.kubernetes.api_server import ApiServer

    server = ApiServer()
    pods = fill(server, arguments.nodes, arguments.jobs, arguments.pods)
    print(json.dumps({"url": server.url, "lists": [len(one) for one in server.objects.values()]}), flush=True)
    for line in sys.stdin:
        if line.startswith("bytes"):
            for path, objects in server.objects.items():
                Path(line.split()[1], path.replace("/", "_")).write_bytes(json.dumps(list(objects.values())).encode())
            print("done", flush=True)
            continue
        count, sent = int(line), 0
        while sent < count:
            with server.changed:
                for pod in pods[: min(len(pods), count - sent, 200)]:
                    server.put(pod)
                    sent += 1
                # Whoever watches has to be fast: the server looks through what it keeps for each of them.
                for path, history in server.history.items():
                    server.history[path] = history[-2000:]
            pods = pods[200:] + pods[:200]
        marker = copy.deepcopy(pods[0])
        marker["metadata"] |= {"name": "marker", "uid": "marker"}
        server.put(marker)
        print("sent", flush=True)


def report(name: str, value: float, unit: str, beside: str = "") -> None:
    print(f"  {name:<42} {value:>10.2f} {unit:<8} {beside}", flush=True)


def look_cost(one: Collector, seconds: float, loads: float) -> float:
    """CPU of a look while nothing happens."""
    began, cpu = time.monotonic(), one.cpu_s()
    time.sleep(seconds)
    looks = (time.monotonic() - began) / INTERVAL_S
    cost = (one.cpu_s() - cpu) / looks
    report(
        "CPU of a look",
        cost * 1000,
        "ms",
        f"{cost / loads:.2f} x json.loads of all objects; {cost / 15:.2%} of a core at 15s",
    )
    return cost


def kubernetes(arguments: argparse.Namespace, folder: Path) -> None:
    from tests.exporter.workloads.kubernetes.conftest import KUBECONFIG

    words = [
        sys.executable,
        __file__,
        "--serve",
        *(f"--{name}={getattr(arguments, name)}" for name in ("nodes", "jobs", "pods")),
    ]
    api = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        facts = json.loads(api.stdout.readline())
        (folder / "kubeconfig").write_text(KUBECONFIG % facts["url"])
        (folder / "bytes").mkdir()
        print(f"bytes {folder / 'bytes'}", file=api.stdin, flush=True)
        api.stdout.readline()
        texts = [file.read_bytes() for file in (folder / "bytes").iterdir()]
        loads = loads_s(texts)
        print(f"Kubernetes: {arguments.nodes} nodes, {arguments.jobs} jobs, {arguments.pods} pods")
        report("objects as JSON", sum(map(len, texts)) / 1e6, "MB", f"json.loads: {loads * 1000:.0f} ms CPU")
        began = time.monotonic()
        flags = ("--kubernetes", "--kubernetes.config", str(folder / "kubeconfig"), "--interval", f"{INTERVAL_S:.0f}s")
        one = start(folder, *flags, "--state-file", str(folder / "kubernetes.sqlite"))
        try:
            one.wait(one.ready, "everything listed")
            passed, cpu = time.monotonic() - began, one.cpu_s()
            report("cold start until all is published", passed, "s", f"CPU {cpu:.2f} s, {cpu / loads:.1f} x json.loads")
            idle = look_cost(one, arguments.seconds, loads)
            report("memory", one.memory_mib()[0], "MiB", f"at most {one.memory_mib()[1]:.0f} MiB")
            text = one.get("/metrics")
            report("series", text.count("\n") - text.count("\n#"), "", f"{len(text) / 1e6:.1f} MB")
            began, cpu = time.monotonic(), one.cpu_s()
            print(arguments.events, file=api.stdin, flush=True)
            threading.Thread(target=api.stdout.readline, daemon=True).start()
            one.wait(lambda: 'pod="marker"' in one.get("/metrics"), "the last event")
            passed = time.monotonic() - began
            spent = one.cpu_s() - cpu - idle * passed / INTERVAL_S
            event = (
                loads_s(
                    [
                        json.dumps({"type": "MODIFIED", "object": pod}).encode()
                        for pod in json.loads(pods_of(texts))[:1000]
                    ]
                )
                / 1000
            )
            report(
                "events a second, all heard",
                arguments.events / passed,
                "/s",
                f"{arguments.events} in {passed:.1f} s, with the server on the same cores",
            )
            report(
                "CPU of an event",
                spent / arguments.events * 1e6,
                "us",
                f"{spent / arguments.events / event:.2f} x json.loads of it",
            )
            report("memory after it", one.memory_mib()[0], "MiB", f"at most {one.memory_mib()[1]:.0f} MiB")
        finally:
            one.stop()
    finally:
        api.kill()
        api.wait()


def pods_of(texts: list[bytes]) -> bytes:
    return next(text for text in texts if b'"kind": "Pod"' in text[:4000])


def slurm(arguments: argparse.Namespace, folder: Path) -> None:
    from tests.exporter.workloads.slurm import conftest

    commands = folder / "slurm"
    shutil.copytree(conftest.DATA / "24.11-nodedead", commands)
    for name in ("scontrol", "squeue", "sinfo", "sacct"):
        (commands / name).write_text(conftest._SCRIPT.format(folder="bench"))
        (commands / name).chmod(0o755)
    text = (commands / "jobs.json").read_text()
    shift = int(time.time()) - max(int(found) for found in re.findall(r"\b179\d{7}\b", text))
    made = json.loads(re.sub(r"\b179\d{7}\b", lambda found: str(int(found[0]) + shift), text))
    whole = [job for job in made["jobs"] if not job.get("array_job_id", {}).get("number")]
    made["jobs"] = [
        {**copy.deepcopy(whole[index % len(whole)]), "job_id": 1000 + index} for index in range(arguments.jobs)
    ]
    (commands / "jobs.json").write_text(json.dumps(made))
    told = json.loads((commands / "nodes.json").read_text())
    names = [f"gpu-{index:05}" for index in range(arguments.nodes)]
    told["nodes"] = [{**told["nodes"][0], "name": name, "hostname": name, "address": name} for name in names]
    (commands / "nodes.json").write_text(json.dumps(told))
    texts = [(commands / name).read_bytes() for name in ("jobs.json", "nodes.json")]
    loads = loads_s(texts)
    print(f"Slurm: {arguments.nodes} nodes, {arguments.jobs} jobs")
    report("answers as JSON", sum(map(len, texts)) / 1e6, "MB", f"json.loads: {loads * 1000:.0f} ms CPU")
    began = time.monotonic()
    flags = ("--slurm", "--slurm.commands", str(commands), "--interval", f"{INTERVAL_S:.0f}s")
    one = start(folder, *flags, "--state-file", str(folder / "slurm.sqlite"))
    try:
        one.wait(one.ready, "an answer")
        passed = time.monotonic() - began
        report("cold start until all is published", passed, "s", f"{passed / loads:.1f} x json.loads")
        jobs = len(json.loads(one.get("/api/v1/jobs"))["jobs"])
        look_cost(one, arguments.seconds, loads)
        report("memory", one.memory_mib()[0], "MiB", f"at most {one.memory_mib()[1]:.0f} MiB; {jobs} jobs")
    finally:
        one.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1250)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", choices=("kubernetes", "slurm"))
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments)
        return
    for measure in (kubernetes, slurm):
        if arguments.only in {None, measure.__name__}:
            with tempfile.TemporaryDirectory() as folder:
                measure(arguments, Path(folder))


if __name__ == "__main__":
    main()
