"""What attribution costs: CPU per look, and memory, on a node with 8 GPUs x 7 MIG instances and 110 pods.

Two agents run at the same time on the same simulated machine, one with attribution and one without. kubelet is the
look-alike of the simulator, in this process; every MIG instance is shared by about two pods, which have a process each.
The cost of a look is CPU time of the agent's own thread, gRPC and parsing included, and is compared with the cost of
making one snapshot of the same machine in the same process.

    python bench/attribution.py [--looks 100] [--settle 20]
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from agent import SCENARIO, Exporter, free_port, wait_ready

PODS = 110
BUDGET_RSS_MIB = 70.0
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def child(port: int, socket: str) -> None:
    """An agent in this process, which measures itself on request."""
    from gpuscope.agent import Agent
    from gpuscope.config import load

    flags = {
        "web.listen-address": [f"127.0.0.1:{port}"],
        "simulate": str(SCENARIO),
        "log.level": "warning",
        "pod-resources.socket": socket or "off",
        "collector.attribution": bool(socket),
    }
    loaded = load(flags)
    agent = Agent(loaded, lambda: loaded)
    agent.start()
    for line in sys.stdin:
        looks = int(line)
        # From here on this thread alone looks and publishes; RSS was read before.
        agent._attributor.stop()
        agent._supervisor.publisher.stop()
        time.sleep(1)
        print(json.dumps({"look": cost(agent._attributor.refresh, looks),
                          "snapshot": cost(agent._supervisor.publisher.publish, looks)}), flush=True)  # fmt: skip
    agent.stop()


def cost(work, times: int) -> float:
    """CPU milliseconds of one call, on average."""
    work()
    began = time.thread_time()
    for _ in range(times):
        work()
    return 1000 * (time.thread_time() - began) / times


def start(name: str, socket: str) -> Exporter:
    port = free_port()
    command = [sys.executable, __file__, "--child", str(port), "--socket", socket]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return Exporter(name, process, f"http://127.0.0.1:{port}/metrics")


def mig_uuids(agent: Exporter) -> list[str]:
    with OPENER.open(agent.url.replace("/metrics", "/api/v1/mig"), timeout=30) as answer:
        return [instance["uuid"] for instance in json.load(answer)["mig_instances"]]


def answer_of(uuids: list[str]):
    """110 pods, of which each holds a share of a MIG instance; and as many containers without a device."""
    from gpuscope.podresources import ListPodResourcesResponse

    answer = ListPodResourcesResponse()
    for number in range(PODS):
        pod = answer.pod_resources.add(namespace=f"team-{number % 7}", name=f"inference-{number:03d}-7c9f8d6b5-x2k4q")
        main = pod.containers.add(name="server")
        share = f"{uuids[number % len(uuids)]}::{number // len(uuids)}"
        main.devices.add(resource_name="nvidia.com/mig-1g.10gb.shared", device_ids=[share])
        pod.containers.add(name="sidecar")
    return answer


def measure(arguments: argparse.Namespace) -> int:
    from gpuscope.simulate.kubelet import SimulatedKubelet

    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder) / "kubelet.sock"
        with SimulatedKubelet(socket) as kubelet:
            plain, attributed = start("without", ""), start("with", str(socket))
            try:
                for one in (plain, attributed):
                    wait_ready(one, b"gpuscope_mig_sm_active_seconds_total{")
                uuids = mig_uuids(attributed)
                kubelet.answer(answer_of(uuids))
                wait_ready(attributed, b'pod="inference-109-')
                print(f"{len(uuids)} MIG instances, {PODS} pods; settling for {arguments.settle} s", flush=True)
                end = time.monotonic() + arguments.settle
                while time.monotonic() < end:
                    for one in (plain, attributed):
                        one.scrape()
                    time.sleep(2)
                series = attributed.scrape()[1].count(b"gpuscope_pod_allocation_info{")
                calls = kubelet.calls
                rss = {one.name: one.rss_mib() for one in (plain, attributed)}
                attributed.process.stdin.write(f"{arguments.looks}\n")
                attributed.process.stdin.flush()
                costs = json.loads(attributed.process.stdout.readline())
            finally:
                for one in (plain, attributed):
                    one.process.stdin.close()
                    one.process.wait(20)
    delta = rss["with"] - rss["without"]
    print(f"pod_allocation_info series     {series}")
    print(f"calls of kubelet               {calls}")
    print(f"CPU per look                   {costs['look']:.2f} ms")
    print(
        f"CPU per snapshot, same run     {costs['snapshot']:.2f} ms   a look is {costs['look'] / costs['snapshot']:.2f}x"
    )
    print(f"RSS without attribution        {rss['without']:.1f} MiB")
    print(f"RSS with attribution           {rss['with']:.1f} MiB   {delta:+.1f} MiB")
    good = rss["with"] <= BUDGET_RSS_MIB
    print(
        f"{'within' if good else 'OVER'} the budget of {BUDGET_RSS_MIB:.0f} MiB for the whole agent, simulated driver included"
    )
    return 0 if good else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--looks", type=int, default=100)
    parser.add_argument("--settle", type=float, default=20.0)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--socket", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, arguments.socket)
        return 0
    return measure(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
