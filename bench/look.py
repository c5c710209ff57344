"""Draws every board on a simulated cluster in headless Chromium; what cannot be read at 3 a.m. can be seen there.

`make look` runs it. It waits until every panel that must have data has some, and fails on an error in the console, a
failed query, a panel that cannot be drawn, and a panel without data that ``bench/look.yaml`` does not allow. A page with
any of these is drawn once more: only what is there twice counts, and an empty panel only while Prometheus has data for it.
Pictures lie in build/look/.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import requests
from arrival import missing_data, wait_for_data
from chromium import find as find_chromium
from started import free_port, running, wait_for

from gpuscope.errors import GpuscopeError
from gpuscope_generator.live.allowed import load_allowed
from gpuscope_generator.live.choice import choose
from gpuscope_generator.live.prometheus import Prometheus
from gpuscope_generator.preview.shelf import built
from gpuscope_generator.remote import Access
from gpuscope_generator.settings import Settings

ROOT = Path(__file__).parent.parent
OUT = ROOT / "build/look"
TOOLS = Path(sys.executable).parent
SLOW_S = 60
"""Seconds between evaluations of what looks back over days. It ends at the last full ten minutes: that is waiting enough."""
SIZES = {"1440": (1440, 900), "1280": (1280, 720)}


@dataclass
class Finding:
    """Something that somebody must look at."""

    page: str
    what: str


@dataclass
class Page:
    """One picture to take.

    Attributes:
        board: its noun.
        picked: the first value of every variable is chosen, in place of what the board opens with.
        ids: keys of the panels by number.
    """

    board: str
    name: str
    url: str
    size: tuple[int, int]
    picked: bool
    ids: Mapping[str, str]
    found: Mapping[str, Any] = field(default_factory=dict)


def main() -> int:
    options = _options()
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.glob("*.png"):
        old.unlink()
    with contextlib.ExitStack() as stack:
        url, demo = (options.prometheus, None) if options.prometheus else stack.enter_context(_cluster())
        missing = wait_for_data(url, options.allow_empty, options.profile, options.range, options.deadline)
        if missing and not options.anyway:
            for key, status in missing.items():
                print(f"  {key}: {status}")
            print(
                f"{len(missing)} panels have no data after {options.deadline:.0f} s; the cluster's log: {OUT}/cluster.log"
            )
            return 1
        page = stack.enter_context(_preview(url))
        shelf = built(Settings())
        known = [key for keys in shelf.keys.values() for key in keys.values()]
        allowed = load_allowed(options.allow_empty, options.profile, known)
        pages = list(_pages(page, url, options))
        _look(pages)
        full = _full(pages)
        again = [page for page in pages if any(_page_findings(page, allowed, full))]
        if again:
            print(f"{len(again)} pages once more", file=sys.stderr)
            _look(again)
        if demo is not None and demo.poll() is not None:
            print(f"the cluster ended while the boards were drawn; its last words stand in {OUT}/cluster.log")
            return 1
        allowed |= _gone(pages, allowed, url, options)
    findings = [finding for page in pages for finding in _page_findings(page, allowed, _full(pages))]
    _report(pages, findings)
    if options.pictures and not findings:
        for page in pages:
            shutil.copy(OUT / f"{page.name}.png", options.pictures / f"board-{page.board}.png")
    return 1 if findings else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prometheus", help="a running one, in place of a simulated cluster")
    parser.add_argument("--board", action="append", help="only this board; may be repeated")
    parser.add_argument("--theme", action="append", choices=("dark", "light"), help="only this theme")
    parser.add_argument("--size", action="append", choices=tuple(SIZES), help="only this width")
    parser.add_argument("--pictures", type=Path, help="draw the boards as they open, and put the pictures there")
    parser.add_argument("--deadline", type=float, default=1500, help="seconds for every panel to have data")
    parser.add_argument("--anyway", action="store_true", help="draw the boards though panels have no data")
    parser.add_argument("--range", default="15m", help="how far the boards look back")
    parser.add_argument("--allow-empty", type=Path, default=ROOT / "bench/look.yaml", help="panels that may be empty")
    parser.add_argument("--profile", default="all", help="which profile of that file holds, besides all")
    return parser.parse_args()


@contextlib.contextmanager
def _cluster() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The demo with our rules; gives the address of its Prometheus, and itself."""
    rules = OUT / "rules"
    shutil.rmtree(rules, ignore_errors=True)
    rules.mkdir()
    settings = rules / "settings.yaml"
    settings.write_text(f"intervals: {{slow: {SLOW_S}}}\n")
    command: list[str | Path] = [TOOLS / "gpuscope-generator", "rules", "--out", rules, "--settings", settings]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    files = [part for name in ("recording", "alerts") for part in ("--rules", rules / f"alert_rules/{name}/*.yaml")]
    start = [TOOLS / "gpuscope", "demo", "--no-color", "--no-boards", "--cache-dir", ROOT / ".cache"]
    with running([str(part) for part in (*start, "--prometheus-port", port, *files)], OUT / "cluster.log") as demo:
        wait_for(f"{url}/-/ready", demo, OUT / "cluster.log")
        yield url, demo


@contextlib.contextmanager
def _preview(prometheus: str) -> Iterator[str]:
    port = free_port()
    log = OUT / "preview.log"
    command = [str(TOOLS / "gpuscope-generator"), "preview", "--prometheus", prometheus]
    with running([*command, "--listen-address", f"127.0.0.1:{port}"], log) as server:
        wait_for(f"http://127.0.0.1:{port}/api/boards", server, log)
        yield f"http://127.0.0.1:{port}"


def _pages(preview: str, prometheus: str, options: argparse.Namespace) -> Iterator[Page]:
    asked = Prometheus(prometheus, Access())
    now = time.time()
    menu = requests.get(f"{preview}/api/boards", timeout=30).json()["boards"]
    for entry in menu:
        noun = entry["uid"].removeprefix("gpuscope-")
        if options.board and noun not in options.board:
            continue
        board = requests.get(f"{preview}/api/boards/{entry['uid']}", timeout=30).json()
        picked = choose(board, asked, now - 900, now).picked
        common = [("from", f"now-{options.range}"), ("to", "now"), ("refresh", "")]
        if options.pictures:
            query = urlencode([*common, ("theme", "dark")])
            url = f"{preview}{entry['url']}?{query}"
            yield Page(noun, f"{noun}-opening-dark-1280", url, SIZES["1280"], False, {})
            continue
        for theme in options.theme or ("dark", "light"):
            for size in options.size or SIZES:
                name = f"{noun}-{theme}-{size}"
                query = urlencode([*common, ("theme", theme), ("open", "all")])
                yield Page(noun, name, f"{preview}{entry['url']}?{query}", SIZES[size], False, entry["keys"])
        theme, size = (options.theme or ["dark"])[0], (options.size or ["1440"])[0]
        chosen = [(f"var-{key}", one) for key, value in picked.items() for one in _several(value)]
        query = urlencode([*common, ("theme", theme), ("open", "all"), *chosen])
        url = f"{preview}{entry['url']}?{query}"
        yield Page(noun, f"{noun}-picked-{theme}-{size}", url, SIZES[size], True, entry["keys"])
        query = urlencode([*common, ("theme", theme)])
        yield Page(noun, f"{noun}-opening-{theme}-{size}", f"{preview}{entry['url']}?{query}", SIZES[size], False, {})


def _several(value: str | Sequence[str]) -> Sequence[str]:
    return [value] if isinstance(value, str) else value


def _look(pages: Sequence[Page]) -> None:
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("look: no Chromium on PATH; `make look` fetches one")
    plan = OUT / "plan.json"
    plan.write_text(
        json.dumps(
            {
                "chromium": chromium,
                "pages": [
                    {
                        "name": page.name,
                        "url": page.url,
                        "width": page.size[0],
                        "height": page.size[1],
                        "picture": str(OUT / f"{page.name}.png"),
                        "whole": "-opening-" not in page.name,
                    }
                    for page in pages
                ],
            }
        )
    )
    by_name = {page.name: page for page in pages}
    command = ["node", str(ROOT / "generator/preview/look.mjs"), str(plan)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            found = json.loads(line)
            by_name[found["name"]].found = found
            print(f"{found['name']}: {len(found['panels'])} panels in {found['took_s']:.1f} s", file=sys.stderr)
    if process.returncode:
        raise SystemExit(f"look: Chromium could not be driven: exit code {process.returncode}")


def _gone(pages: Sequence[Page], allowed: Mapping[str, str], url: str, options: argparse.Namespace) -> dict[str, str]:
    """Panels that had data and are empty now in Prometheus itself, as free GPUs while none is free: nothing to draw."""
    full = _full(pages)
    if not any(any(_page_findings(page, allowed, full)) for page in pages):
        return {}
    missing = missing_data(url, options.allow_empty, options.profile, options.range)
    empty = {key: "It has no data at this moment." for key, status in missing.items() if status == "empty"}
    if empty:
        print(f"without data by now: {', '.join(empty)}", file=sys.stderr)
    return empty


def _full(pages: Sequence[Page]) -> set[tuple[str, str]]:
    """Panels that have data once something is chosen."""
    return {
        (page.board, panel["id"])
        for page in pages
        if page.picked
        for panel in page.found["panels"]
        if panel["state"] == "ok"
    }


def _page_findings(page: Page, allowed: Mapping[str, str], full: set[tuple[str, str]]) -> Iterator[Finding]:
    for text in [*page.found["console"], *page.found["problems"]]:
        yield Finding(page.name, text)
    for panel in page.found["panels"]:
        key = page.ids.get(panel["id"], "")
        state = panel["state"]
        # A panel that needs a choice has data once it is made; after one, another panel's entity may be gone.
        excused = state in ("empty", "nan") and (
            not key
            or page.picked
            or key in allowed
            or (page.board, panel["id"]) in full
            # No alert is good news.
            or panel["kind"] == "alertlist"
        )
        if state != "ok" and not excused:
            yield Finding(page.name, f"{key or panel['title']}: {state} {panel['message']}".strip())


def _report(pages: Sequence[Page], findings: Sequence[Finding]) -> None:
    print(f"{'picture':40} {'panels':>6} {'ok':>4} {'empty':>6} {'bad':>4} {'s':>6}")
    for page in pages:
        states = [panel["state"] for panel in page.found["panels"]]
        good, empty = states.count("ok"), states.count("empty") + states.count("nan")
        bad = len(states) - good - empty
        print(f"{page.name:40} {len(states):6} {good:4} {empty:6} {bad:4} {page.found['took_s']:6.1f}")
    for text in sorted({f"{finding.page}: {finding.what}" for finding in findings}):
        print(f"  {text}")
    print(f"{len(findings)} findings; pictures in {OUT.relative_to(ROOT)}/ (rendered with Grafana's UI library)")


if __name__ == "__main__":
    # Ended from outside, it ends what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except GpuscopeError as error:
        sys.exit(f"look: {error}")
