"""Every board on every kind of cluster: which panels carry data, and whether each store answers each query alike.

For each profile `gpuscope simulate cluster` serves what the exporters of such a cluster would say; agents of the product
run where the profile has any, and its collector. One or more Prometheus scrape all of it with the generated rules, the
first one feeds VictoriaMetrics, and every query of every board is asked, again and again until all panels carry data that
must, or a deadline passes. ``bench/profiles.yaml`` names the panels that may be empty in a profile, with the reason.

    python bench/profiles.py [--profile native ...] [--prometheus PROGRAM ...] [--victoria-metrics PROGRAM ...]
        [--reader PROGRAM ...]

Exit code 1: an error, an empty panel that may not be, nothing but NaN, or a rule that cannot be evaluated.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from profile_cluster import PROFILES, SCRAPE_S, Store, cluster, reader, write_rules
from store_answers import Comparison, broken_rules, compare, rule_queries

from gpuscope_generator.dashboards import boards
from gpuscope_generator.live.allowed import load_allowed
from gpuscope_generator.live.panels import BoardResult, PanelResult, Status, TimeRange, check_board
from gpuscope_generator.live.prometheus import Prometheus
from gpuscope_generator.live.report import json_report
from gpuscope_generator.remote import Access
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, LabelValues

ROOT = Path(__file__).parent.parent
PROMETHEUS = ROOT / ".cache/programs/usr/bin/prometheus"
ALLOWED = ROOT / "bench/profiles.yaml"
SETTINGS = Settings()
BOARDS = boards(SETTINGS)
RANGE_S = 900
AGAIN_S = 30
ARRIVAL_S = 15
"""Until what was scraped has arrived by remote write."""
SAME, NEAR = 0.01, 0.25
"""Shares by which values may differ: of the same samples, and of samples that were scraped at other moments."""
ENDED = threading.Event()
Report = Mapping[str, BoardResult]
"""What a store says, by board."""


@dataclass
class Found:
    """What was found on a kind of cluster.

    Attributes:
        reports: what each store says.
        rules: those that cannot be evaluated.
        compared: with the first store, by store.
    """

    seconds: float = 0.0
    reports: dict[str, Report] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    compared: dict[str, Comparison] = field(default_factory=dict)


def main() -> int:
    """Runs the profiles; 1 when any has findings."""
    options = _options()
    # Ended from outside, it ends what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    names = options.profile or list(PROFILES)
    found = {}
    with tempfile.TemporaryDirectory(prefix="gpuscope-rules-") as rules:
        write_rules(Path(rules))
        with ThreadPoolExecutor(options.at_once) as pool:
            runs = {name: pool.submit(_run, name, Path(rules), options) for name in names}
            try:
                for name, run in runs.items():
                    found[name] = run.result()
                    for line in _told(name, found[name]):
                        print(line, flush=True)
            finally:
                ENDED.set()
    print()
    for line in _table(found):
        print(line)
    failed = [
        name for name, one in found.items() if one.rules or any(_findings(report) for report in one.reports.values())
    ]
    print(f"\n{len(found)} profiles, with findings: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="append", choices=tuple(PROFILES), help="only this one; may be repeated")
    parser.add_argument(
        "--prometheus", type=Path, action="append", help="program that scrapes and evaluates; may be repeated"
    )
    parser.add_argument(
        "--victoria-metrics", type=Path, action="append", default=[], help="program to feed and to ask, too"
    )
    parser.add_argument(
        "--reader",
        type=Path,
        action="append",
        default=[],
        help="another release, to read what the first one has stored",
    )
    parser.add_argument("--least", type=float, default=960, help="seconds until it is asked for the first time")
    parser.add_argument("--deadline", type=float, default=1500, help="seconds until what is empty stays so")
    parser.add_argument("--at-once", type=int, default=1, help="profiles that run beside each other")
    parser.add_argument("--rules", action="store_true", help="ask readers for the result of every rule, too")
    parser.add_argument("--keep", type=Path, help="folder for the reports as JSON")
    options = parser.parse_args()
    options.prometheus = options.prometheus or [PROMETHEUS]
    return options


def _run(name: str, rules: Path, options: argparse.Namespace) -> Found:
    found = Found()
    with tempfile.TemporaryDirectory(prefix="gpuscope-profile-") as folder, contextlib.ExitStack() as readers:
        programs = (options.prometheus, options.victoria_metrics)
        with cluster(PROFILES[name], Path(folder), rules, *programs) as live:
            began = time.monotonic()
            _pause(options.least)
            at = _wait(name, live, began + options.deadline)
            _pause(ARRIVAL_S)
            found.seconds = time.monotonic() - began
            readers_of = [readers.enter_context(reader(program, live[0])) for program in options.reader]
            stores = [*live, *readers_of]
            with ThreadPoolExecutor(len(stores)) as pool:
                runs = {store.name: pool.submit(_check, store, name, at) for store in stores}
                found.reports = {store: run.result() for store, run in runs.items()}
            found.rules = [text for store in live if store.scrapes for text in broken_rules(store.url)]
            boards = list(dict.fromkeys(_queries(found.reports[live[0].name])))
            for store in stores[1:]:
                # Rules that no other release evaluates are asked there like panels.
                asked = [*boards, *rule_queries(live[0].url)] if store in readers_of and options.rules else boards
                tolerance = NEAR if store.scrapes else SAME
                found.compared[store.name] = compare(live[0].url, store.url, asked, at, tolerance)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        for store in stores:
            file = options.keep / f"{name} {store.name}.json".replace(" ", "-")
            file.write_text(json_report(list(found.reports[store.name].values()), store.url, _range(at)))
        (options.keep / f"{name}.txt").write_text("\n".join(_told(name, found)) + "\n")
    return found


def _pause(seconds: float) -> None:
    if ENDED.wait(seconds):
        raise SystemExit("ended from outside")


def _wait(name: str, stores: Sequence[Store], end: float) -> float:
    """Asks the first store until nothing is empty that may not be; gives the moment at which that was so."""
    unsure: list[str] = []
    while True:
        at = time.time()
        missing = _findings(_check(stores[0], name, at, unsure))
        if not missing or time.monotonic() > end:
            return at
        print(f"{name}: waits for {', '.join(missing[:20])} ({len(missing)})", file=sys.stderr, flush=True)
        unsure = missing
        _pause(min(AGAIN_S, max(1.0, end - time.monotonic())))


def _check(store: Store, profile: str, at: float, only: Sequence[str] = ()) -> Report:
    """What `gpuscope-generator check` does, board beside board; of a few panels where they are named."""
    known = {f"{board.noun.value}/{panel.key}" for board in BOARDS for panel in board.panels}
    known |= {
        f"{board.noun.value}/variable:{variable.name}"
        for board in BOARDS
        for variable in board.variables
        if isinstance(variable, LabelValues)
    }
    allowed = load_allowed(ALLOWED, profile, known)
    nouns = {key.partition("/")[0] for key in only}
    chosen = [_part(board, only) for board in BOARDS if not only or board.noun.value in nouns]
    with ThreadPoolExecutor(len(chosen)) as pool:
        runs = [
            pool.submit(check_board, board, SETTINGS, Prometheus(store.url, Access(timeout_s=300)), _range(at), allowed)
            for board in chosen
        ]
        return {run.result().noun: run.result() for run in runs}


def _part(board: Board, only: Sequence[str]) -> Board:
    if not only:
        return board
    rows = [
        replace(row, panels=tuple(panel for panel in row.panels if f"{board.noun.value}/{panel.key}" in only))
        for row in board.rows
    ]
    return replace(board, rows=tuple(row for row in rows if row.panels))


def _range(at: float) -> TimeRange:
    return TimeRange(start=at - RANGE_S, end=at, scrape_s=SCRAPE_S, slow_s=300)


def _results(report: Report) -> Iterator[tuple[str, PanelResult]]:
    for noun, board in report.items():
        for one in board.results:
            yield f"{noun}/{one.key}", one


def _findings(report: Report) -> list[str]:
    return [key for key, one in _results(report) if one.is_finding]


def _queries(report: Report) -> Iterator[str]:
    for key, one in _results(report):
        if "/variable:" not in key:
            yield from (asked.query for asked in one.queries if asked.answer.series)


def _counts(report: Report) -> str:
    results = [one for _, one in _results(report)]
    good = sum(one.status is Status.OK for one in results)
    empty = [one for one in results if one.status is Status.EMPTY]
    excused = sum(not one.is_finding for one in empty)
    hollow, error = (sum(one.status is state for one in results) for state in (Status.NAN, Status.ERROR))
    return f"{good} / {excused} / {len(empty) - excused} / {hollow} / {error}"


def _told(name: str, found: Found) -> Iterator[str]:
    """What was found on one kind of cluster."""
    for store, report in found.reports.items():
        yield f"{name}, {store}, after {found.seconds:.0f} s: {_counts(report)}"
        results = dict(_results(report))
        for key in _findings(report):
            yield f"    {results[key].status:8} {key}"
            yield from (f"        {asked.answer.error}" for asked in results[key].queries if asked.answer.error)
        needless = [key for key, one in results.items() if one.reason and one.status is Status.OK]
        if needless:
            yield f"    have data for all that may be empty: {', '.join(needless)}"
    yield from (f"    rule {text}" for text in found.rules)
    for store, one in found.compared.items():
        yield f"{name}, {store}: {one.alike} of {one.queries} queries alike, {len(one.missing)} without an answer"
        yield from (f"    no answer: {query}" for query in one.missing)
        yield from (f"    {here} series, there {there}: {query}" for query, here, there in one.series)
        yield from (
            f"    {here:g}, there {there:g} {dict(labels)}: {query}" for query, labels, here, there in one.values
        )


def _table(found: Mapping[str, Found]) -> Iterator[str]:
    stores = list(dict.fromkeys(store for one in found.values() for store in one.reports))
    yield "ok / empty for a reason / empty / NaN / errors"
    yield f"| Profile | {' | '.join(stores)} | Queries alike |"
    yield f"|---|{'---|' * (len(stores) + 1)}"
    for name, one in found.items():
        cells = [_counts(one.reports[store]) for store in stores]
        alike = ", ".join(f"{each.alike} of {each.queries}" for each in one.compared.values())
        yield f"| {name} | {' | '.join(cells)} | {alike} |"


if __name__ == "__main__":
    sys.exit(main())
