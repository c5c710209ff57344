"""Expositions of a whole simulated cluster, made once and then served while their counters go on.

To simulate 1,250 nodes anew for each scrape would take longer than the scrape interval. So each exposition is taken twice,
a minute of the story apart; what a counter gained in that minute it goes on to gain.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

import requests
import yaml
from started import free_port, running, wait_for
from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler

from gpuscope.simulate.clock import ManualClock
from gpuscope.simulate.cluster.endpoints import Endpoint, endpoints
from gpuscope.simulate.cluster.plan import BLOCK, scenarios_of
from gpuscope.simulate.cluster.profiles import planned
from gpuscope.simulate.cluster.shape import Shape
from gpuscope.simulate.cluster.world import World

__all__ = ["Exposition", "agents", "others", "serving"]

APART_S = 60
_TYPE = re.compile(r"# TYPE (\S+) (\S+)")
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_UUID = re.compile(r"\b(GPU|MIG)-[0-9a-f]{4}")


class Exposition:
    """What one target says.

    Args:
        first: its text.
        second: its text a minute later.
        keep: names of the series that are wanted; the others are left out.
        seconds: between both texts.
    """

    def __init__(self, first: str, second: str, keep: frozenset[str], seconds: float = APART_S) -> None:
        before = dict(line.rsplit(" ", 1) for line in first.splitlines() if line and line[0] != "#")
        self._parts: list[str | tuple[str, float, float]] = []
        self.series = 0
        still: list[str] = []
        counts = False
        for line in second.splitlines():
            if kind := _TYPE.match(line):
                counts = kind[2] in ("counter", "histogram", "summary")
            found = _NAME.match(line)
            if not found or found[0] not in keep:
                continue
            self.series += 1
            head, value = line.rsplit(" ", 1)
            gained = float(value) - float(before.get(head, value)) if counts else 0.0
            if gained > 0:
                self._parts += ["".join(still), (head, float(value), gained / seconds)]
                still = []
            else:
                still.append(line + "\n")
        self._parts.append("".join(still))

    def text(self, age: float) -> bytes:
        """What it says so many seconds later."""
        parts = (one if isinstance(one, str) else f"{one[0]} {one[1] + age * one[2]:.3f}\n" for one in self._parts)
        return "".join(parts).encode()


def others(nodes: int, profile: str, keep: frozenset[str]) -> tuple[list[Endpoint], dict[str, Exposition], World]:
    """Everything but the agents: the endpoints, what each path says, and the cluster."""
    clock = ManualClock(time.time())
    shape = Shape(nodes)
    plan = planned(shape, (profile,))
    world = World(shape, clock)
    found = endpoints(plan, [world])
    clock.advance(APART_S)
    first = {one.path: one.target.render() for one in found}
    clock.advance(APART_S)
    made = {one.path: Exposition(first.pop(one.path), one.target.render(), keep) for one in found}
    return found, made, world


def agents(world: World, keep: frozenset[str]) -> dict[str, Exposition]:
    """What the agent of each node says, by node.

    The kinds of nodes repeat, so that real agents run for the first of each; the others say the same of other pods,
    other GPUs and another node.
    """
    names = [machine.name for machine in world.machines[:BLOCK]]
    first, second = _agents_twice(world.shape, names)
    found = {}
    for number, machine in enumerate(world.machines):
        kind = names[number % BLOCK]
        told = _renamed(world, number)
        found[machine.name] = Exposition(told(first[kind]), told(second[kind]), keep)
    return found


def _renamed(world: World, number: int) -> Callable[[str], str]:
    machine, model = world.machines[number], world.machines[number % BLOCK]
    names: dict[str, str] = {}
    for mine, other in zip(machine.plans(), model.plans(), strict=True):
        names |= dict(zip(model.identity(other, 0), machine.identity(mine, 0), strict=True))
    names[model.name] = machine.name
    pattern = re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)))
    block = number // BLOCK

    def told(text: str) -> str:
        text = pattern.sub(lambda match: names[match[0]], text)
        return _UUID.sub(rf"\g<1>-{block:04x}", text)

    return told


def _agents_twice(shape: Shape, names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    ports = {name: free_port() for name in names}
    program = Path(sys.executable).parent / "gpuscope"
    with tempfile.TemporaryDirectory(prefix="gpuscope-agents-") as folder, contextlib.ExitStack() as stack:
        for name, scenario in list(scenarios_of(shape).items())[:BLOCK]:
            file, log = Path(folder) / f"{name}.yaml", Path(folder) / f"{name}.log"
            file.write_text(yaml.safe_dump(scenario, sort_keys=False))
            command: list[object] = [program, "agent", "--simulate", file, "--simulate.seed", name]
            command += ["--node-name", name, "--web.listen-address", f"127.0.0.1:{ports[name]}"]
            process = stack.enter_context(running(command, log))
            wait_for(f"http://127.0.0.1:{ports[name]}/-/ready", process, log)
        time.sleep(APART_S)
        first = {
            name: requests.get(f"http://127.0.0.1:{port}/metrics", timeout=30).text for name, port in ports.items()
        }
        time.sleep(APART_S)
        return first, {
            name: requests.get(f"http://127.0.0.1:{port}/metrics", timeout=30).text for name, port in ports.items()
        }


@contextlib.contextmanager
def serving(found: Mapping[str, Exposition]) -> Iterator[str]:
    """Serves each exposition under its path, from a thread of its own; gives the address."""
    began = time.monotonic()

    class Answer(RequestHandler):
        def get(self) -> None:
            one = found.get(self.request.path)
            if one is None:
                raise HTTPError(404)
            self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.finish(one.text(time.monotonic() - began))

    async def serve(ready: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
        stop = asyncio.Event()
        listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        listener.setblocking(False)
        server = HTTPServer(Application([("/.*", Answer)], log_function=lambda _: None))
        server.add_socket(listener)
        ready.set_result((f"127.0.0.1:{listener.getsockname()[1]}", asyncio.get_running_loop(), stop))
        await stop.wait()
        server.stop()

    ready: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(serve(ready)), daemon=True)
    thread.start()
    address, loop, stop = ready.result(timeout=60)
    try:
        yield address
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=30)
