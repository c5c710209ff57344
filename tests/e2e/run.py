"""Installs the chart on the cluster that KUBECONFIG names, looks, upgrades, goes back, tests, and takes all away again.

    KUBECONFIG=... python -m tests.e2e.run [--values FILE] [--set KEY=VALUE] [--agents N] [--timeout 300] [--keep]

Exit codes: 0 all is well; 1 something is not, and it is named; 2 nothing was tried.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from tests.e2e.cluster import ROOT, Cluster, Failed, Unusable, find_program
from tests.e2e.leftovers import labeled, wait_until_gone
from tests.e2e.steps import check_agents, check_collector, check_manifest, check_monitoring, pod_template, wait_for

__all__ = ["main"]

# Changed in the upgrade: seen in the arguments of agent or collector.
CHANGES = ("agent.logLevel=debug", "collector.logLevel=debug")
CHANGED = "--log.level=debug"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the steps; gives the exit code."""
    options = _parser().parse_args(arguments)
    try:
        cluster = _reach(options)
    except Unusable as missing:
        print(f"e2e: {missing}", file=sys.stderr)
        return 2
    values = [word for file in options.values for word in ("--values", file)]
    values += [word for setting in options.set for word in ("--set", setting)]
    began = time.monotonic()
    code = 0
    try:
        _play(cluster, options, values)
    except Failed as failure:
        print(f"FAILED  {failure}", file=sys.stderr)
        _explain(cluster)
        code = 1
    finally:
        if not options.keep and not _clean(cluster):
            code = 1
    if not code:
        print(f"all is well, after {time.monotonic() - began:.0f} s")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="e2e", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--values", action="append", default=[], metavar="FILE", help="values of the chart")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="one value of the chart")
    parser.add_argument("--chart", default=str(ROOT / "helm/gpuscope"), help="folder or package of the chart")
    parser.add_argument("--agents", type=int, metavar="N", help="agents that must be there; else none is also right")
    parser.add_argument("--namespace", help="a namespace that does not exist; default a new one")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS", help="longest wait of a step")
    parser.add_argument("--no-test", action="store_true", help="leave out helm test, where no pod can run")
    parser.add_argument("--no-scrape", action="store_true", help="leave out asking pods, where no pod can run")
    parser.add_argument("--keep", action="store_true", help="leave all of it there, also after a failure")
    return parser


def _reach(options: argparse.Namespace) -> Cluster:
    if not os.environ.get("KUBECONFIG"):
        raise Unusable("KUBECONFIG is not set; it names the cluster on which the chart is tried")
    for file in filter(None, os.environ["KUBECONFIG"].split(os.pathsep)):
        if not os.path.isfile(file):
            raise Unusable(f"KUBECONFIG: {file} is no file")
    name = f"gpuscope-e2e-{secrets.token_hex(3)}"
    cluster = Cluster(name, options.namespace or name, find_program("helm"), find_program("kubectl"))
    try:
        version = cluster.raw("/version")
        there = cluster.list("namespaces", f"--field-selector=metadata.name={cluster.namespace}")
    except Failed as failure:
        raise Unusable(f"the cluster cannot be asked: {str(failure).splitlines()[-1]}") from None
    if there:
        raise Unusable(f"--namespace: {cluster.namespace} is there already; what is in it would not be told from ours")
    print(f"cluster {' '.join(version.split())[:200]}")
    return cluster


def _play(cluster: Cluster, options: argparse.Namespace, values: list[str]) -> None:
    wait = options.timeout
    timeout = ("--wait", "--timeout", f"{wait:.0f}s")

    def look() -> str:
        said = [check_manifest(cluster), check_monitoring(cluster)]
        if not options.no_scrape:
            said += [check_agents(cluster, wait, options.agents), check_collector(cluster, wait)]
        return "; ".join(said)

    def install() -> str:
        cluster.helm("install", cluster.release, options.chart, "--create-namespace", *timeout, *values)
        return f"release {cluster.release} in namespace {cluster.namespace}"

    def upgrade() -> str:
        changes = [word for change in CHANGES for word in ("--set", change)]
        cluster.helm("upgrade", cluster.release, options.chart, *timeout, *values, *changes)
        if CHANGED not in pod_template(cluster)["containers"][0]["args"]:
            raise Failed("the upgrade changed no pod")
        return "values were changed"

    def roll_back() -> str:
        before = cluster.helm("get", "manifest", cluster.release, "--revision", "1")
        cluster.helm("rollback", cluster.release, "1", *timeout)
        if cluster.helm("get", "manifest", cluster.release) != before:
            raise Failed("the manifest after going back is another one")
        if CHANGED in pod_template(cluster)["containers"][0]["args"]:
            raise Failed("the pods were not changed back")
        return "as it was at first"

    def test() -> str:
        cluster.helm("test", cluster.release, "--timeout", f"{wait:.0f}s")
        return "helm test says that all is well"

    def uninstall() -> str:
        cluster.helm("uninstall", cluster.release, *timeout)
        wait_until_gone(cluster, wait)
        return "nothing is left behind, in no namespace and of no kind"

    steps: list[tuple[str, Callable[[], str]]] = [("install", install), ("look", look), ("upgrade", upgrade)]
    steps += [("look", look), ("rollback", roll_back), ("look", look)]
    steps += [] if options.no_test else [("test", test)]
    steps += [] if options.keep else [("uninstall", uninstall)]
    for name, step in steps:
        began = time.monotonic()
        said = step()
        print(f"{name:<10}{time.monotonic() - began:6.1f} s  {said}", flush=True)


def _explain(cluster: Cluster) -> None:
    """Prints what somebody would look at next."""
    space = ("--namespace", cluster.namespace)
    for title, command in (
        ("pods", ("get", "pods", "--output=wide", *space)),
        ("events", ("get", "events", "--sort-by=.lastTimestamp", *space)),
        ("agent", ("logs", "--selector=app.kubernetes.io/component=agent", "--tail=20", *space)),
        ("collector", ("logs", "--selector=app.kubernetes.io/component=collector", "--tail=20", *space)),
    ):
        with suppress(Failed):
            print(f"--- {title}\n{cluster.kubectl(*command)[-4000:]}", file=sys.stderr)


def _clean(cluster: Cluster) -> bool:
    """Takes away what is left, also after a failure in the midst of it; gives whether all is gone."""
    with suppress(Failed):
        cluster.helm("uninstall", cluster.release, "--wait", "--ignore-not-found")
    with suppress(Failed):
        cluster.kubectl("delete", "namespace", cluster.namespace, "--ignore-not-found", "--wait=false")
    try:
        wait_for("the namespace is gone", lambda: not _there(cluster), 120)
        left = labeled(cluster)
    except Failed as failure:
        print(f"e2e: {failure}; namespace {cluster.namespace} is yours to delete", file=sys.stderr)
        return False
    if left:
        print(f"FAILED  left behind: {', '.join(left)}", file=sys.stderr)
    return not left


def _there(cluster: Cluster) -> bool:
    return bool(cluster.list("namespaces", f"--field-selector=metadata.name={cluster.namespace}"))


if __name__ == "__main__":
    sys.exit(main())
