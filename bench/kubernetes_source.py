"""What following a Kubernetes cluster costs: time to catch up after a cold start, memory, a look, and events a second.

The API server is the one of the tests, in a process of its own; the objects are whole ones, with the fields that nobody
reads. Server and source share the machine: on few cores the times are those of both.

    python bench/kubernetes_source.py [--pods 10000] [--jobs 2000] [--nodes 1250] [--seconds 10]
"""

import argparse
import copy
import multiprocessing
import resource
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import KUBECONFIG, NODE, WORKLOADS, pod, running, workload

FILLER = [{"name": f"VARIABLE_{index}", "value": "a value of some length"} for index in range(60)]


def rss_mib() -> float:
    """Memory of this process now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def serve(args: argparse.Namespace, line: Connection) -> None:
    """The server, and changes of pods as fast as it can make them when told to."""
    server = ApiServer()
    for kind, one in WORKLOADS.items():
        server.install(kind, one["apiVersion"], f"{kind.lower()}s")
    for index in range(args.nodes):
        server.put(copy.deepcopy(NODE) | {"metadata": NODE["metadata"] | {"name": f"gpu-{index}", "uid": f"n{index}"}})
    pods = []
    for index in range(args.jobs):
        ranks = args.pods // args.jobs
        job = workload("Job", metadata={"name": f"job-{index}", "uid": f"job-{index}"}, spec={"parallelism": ranks})
        job["spec"]["completions"] = ranks
        server.put(job)
        for rank in range(ranks):
            one = running(pod(f"job-{index}-{rank}", job, node=f"gpu-{len(pods) % args.nodes}"), 60)
            one["spec"]["containers"][0]["env"] = FILLER
            pods.append(server.put(one))
    line.send(server.url)
    while line.recv() == "change":
        until, made = time.monotonic() + args.seconds, 0
        while time.monotonic() < until:
            one = pods[made % len(pods)]
            one["metadata"]["annotations"]["touched"] = str(made)
            server.put(one)
            made += 1
        marker = workload("Job", metadata={"name": "last", "uid": "last"})
        server.put(marker)
        server.put(pod("last", marker))
        line.send(made)


def main() -> None:
    """Prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("pods", 10_000), ("jobs", 2_000), ("nodes", 1_250), ("seconds", 10)):
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    line, end = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(args, end), daemon=True)
    process.start()
    url = line.recv()
    before = rss_mib()
    from gpuscope.workloads.kubernetes import KubernetesSource, Session

    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "kubeconfig"
        config.write_text(KUBECONFIG % url)
        source = KubernetesSource(Session(str(config)))
    imported, cpu, began = rss_mib(), time.process_time(), time.monotonic()
    source.start()
    while not (seen := source.observe(time.time())).complete:
        time.sleep(0.2)
    print(f"objects              {args.pods} pods, {args.jobs} jobs, {args.nodes} nodes; told: {len(seen.jobs)} jobs")
    print(
        f"memory               {before:.1f} MiB before, {imported:.1f} with the client, {rss_mib():.1f} after the lists"
    )
    print(f"cold start           {time.monotonic() - began:.1f} s, {time.process_time() - cpu:.1f} s of CPU")
    looks = []
    for _ in range(5):
        cpu = time.thread_time()
        source.observe(time.time())
        looks.append(time.thread_time() - cpu)
    print(f"a look               {min(looks) * 1e3:.0f} ms of CPU, {rss_mib():.1f} MiB")
    cpu, began = time.process_time(), time.monotonic()
    line.send("change")
    made = line.recv()
    while not any(name == "last" for _, name in source.observe(time.time()).pods):
        time.sleep(0.1)
    passed = time.monotonic() - began
    print(
        f"changes of pods      {made / passed:.0f} a second, {(time.process_time() - cpu) / made * 1e6:.0f} µs of CPU each"
    )
    print(
        f"memory at the end    {rss_mib():.1f} MiB, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f} at most"
    )
    source.stop()
    line.send("end")


if __name__ == "__main__":
    main()
