"""What the rules of file systems read: names that exporters publish, and that our documentation asks them for."""

import re
from pathlib import Path

import yaml
from tests.generator.lint.artefacts import NAME, rules
from tests.generator.lint.parsed import selectors
from tests.generator.rules.test_filesystems import FILES

from gpuscope.catalogue import filesystem, lustre
from gpuscope.simulate.clock import ManualClock
from gpuscope.simulate.cluster.endpoints import endpoints
from gpuscope.simulate.cluster.profiles import planned
from gpuscope.simulate.cluster.shape import Shape
from gpuscope.simulate.cluster.world import World
from gpuscope_generator.settings import Settings

PAGE = Path(__file__).parents[3] / "docs/filesystems.md"


def read_by_rules() -> set[str]:
    """Raw names that the rules of these files read."""
    return {
        found.name
        for path, of_file in rules().items()
        if Path(path).stem in FILES
        for rule in of_file
        for found in selectors(rule["expr"])
        if not NAME.fullmatch(found.name)
    }


def yace_name(metric: str, statistic: str) -> str:
    """YACE's own rule: an underscore where a capital follows a small letter or a digit."""
    snake = re.sub("([a-z0-9])([A-Z])", r"\1_\2", metric).lower()
    return f"aws_fsx_{snake}_{statistic.lower()}"


def test_documented_job_of_yace_asks_for_what_the_rules_read() -> None:
    """Complaint 31: read bytes of FSx were missing, as nobody asked for them with period, length and delay."""
    document = yaml.safe_load(PAGE.read_text().split("```yaml\napiVersion: v1alpha1\n")[1].split("```")[0])
    (job,) = document["discovery"]["jobs"]
    asked = {yace_name(one["name"], statistic) for one in job["metrics"] for statistic in one["statistics"]}
    assert asked == {name for name in read_by_rules() if name.startswith("aws_")}
    assert job["type"] == "AWS/FSx"
    assert job["period"] == Settings().intervals.cloudwatch
    assert job["delay"] >= job["period"]
    assert job["length"] >= job["period"]
    assert "dimensionNameRequirements" not in job


def test_rules_read_only_what_some_exporter_publishes() -> None:
    """Defect 23: an alert on a metric that nothing publishes. What the simulated exporters say is what there is."""
    pages: list[str] = []
    for profiles in ((), ("efa",)):
        plan = planned(Shape(nodes=1), profiles)
        found = endpoints(plan, [World(one, ManualClock()) for one in plan.shapes])
        pages += [one.target.render() for one in found if one.source.name in {"lustre", "fsx", "node", "node-efa"}]
    told = {re.split(r"[{ ]", line, maxsplit=1)[0] for page in pages for line in page.splitlines() if line[:1] != "#"}
    own = {metric.name for module in (filesystem, lustre) for metric in module.METRICS}
    unknown = {name for name in read_by_rules() - told - own if not name.startswith("gpfs_")}
    assert unknown == set()
