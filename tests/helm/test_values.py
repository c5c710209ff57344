"""Wrong values are refused with the key named; every key is documented; flags that the chart sets exist."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from tests.helm.charts import CASES, CHART, HELMS, LEAN, ROOT, arguments, attempt, objects, of_kind, only, pods

from gpuscope_generator.chart.files import chart_files
from gpuscope_generator.chart.page import fill_page
from gpuscope_generator.chart.values import read_values
from gpuscope_generator.settings import Settings

WRONG = [
    ("agent.enabeld=true", "enabeld"),
    ("agent.port=99999", "agent.port"),
    ("agent.resources=1", "agent.resources"),
    ("categories.activity.level=high", "categories.activity.level"),
    ("categories.activity.interval=ten", "categories.activity.interval"),
    ("categories.sports.level=off", "sports"),
    ("collector.replicas=0", "collector.replicas"),
    ("dashboards.boards.nothing=false", "nothing"),
    ("hostAccess.kernelLog=yes", "hostAccess.kernelLog"),
    ("image.digest=abc", "image.digest"),
    ("image.pullPolicy=Sometimes", "image.pullPolicy"),
    ("monitor.enabled=perhaps", "monitor.enabled"),
    ("monitor.kind=Probe", "monitor.kind"),
    ("podResources.hostPath=relative", "podResources.hostPath"),
    ("rules.disabled.GpuNoSuch=true", "GpuNoSuch"),
    ("rules.recording.dgcm=false", "dgcm"),
    ("rules.perAlert.GpuFirmwareFault.expr=up", "expr"),
    ("commonLabels.a.b=c", "commonLabels.a"),
    ("alertmanagerConfig.matcherStrategy=OnNamespace", "alertmanagerConfig.matcherStrategy"),
]
APART = [
    ("agent.podSecurityContext.runAsUser=1000", "agent.podSecurityContext"),
    ("hostAccess.mountsOf={/lustre}", "hostAccess.mountsOf"),
    ("hostAccess.stateDir=/var/lib/x", "hostAccess.stateDir"),
    ("agent.web.scheme=https", "agent.web.scheme"),
    ("agent.config.web.listen-address=:1", "agent.config.web.listen-address"),
    ("collector.kubernetes.enabled=false", "collector"),
    ("collector.kubernetes.enabled=false,collector.slurm.enabled=true,collector.lease=true", "collector.lease"),
    ("collector.replicas=2,collector.lease=false", "collector.replicas"),
    ("collector.replicas=2,collector.persistence.enabled=true", "collector.persistence.accessModes"),
    ("collector.web.scheme=https", "collector.web.scheme"),
    ("collector.agents.user=x", "collector.agents.user"),
    ("collector.agents.secretKeys={token}", "collector.agents.secretKeys"),
    ("monitor.agent.scrapeTimeout=20s", "monitor.agent.scrapeTimeout"),
    ("monitor.collector.interval=1500ms", "monitor.collector.scrapeTimeout"),
    ("monitor.enabled=true,monitor.scrapeAnnotations=true", "monitor.scrapeAnnotations"),
    ("rules.enabled=true,rules.configMap.enabled=true", "rules.configMap.enabled"),
    ("dashboards.grafanaOperator.enabled=true", "dashboards.grafanaOperator.instanceSelector"),
    (
        "dashboards.grafanaOperator.folder=a,dashboards.grafanaOperator.folderUID=b",
        "dashboards.grafanaOperator.folderUID",
    ),
    ("dashboards.enabled=false,dashboards.grafanaOperator.enabled=true", "dashboards.grafanaOperator.enabled"),
    ("alertmanagerConfig.enabled=true,alertmanagerConfig.matcherStrategy=None", "alertmanagerConfig.manifest"),
    ("alertmanagerConfig.enabled=true", "alertmanagerConfig.matcherStrategy"),
    (
        "alertmanagerConfig.enabled=true,alertmanagerConfig.matcherStrategy=OnNamespaceExceptForAlertmanagerNamespace",
        "alertmanagerConfig.namespace",
    ),
]


@pytest.mark.parametrize("version", HELMS)
@pytest.mark.parametrize(("setting", "key"), WRONG, ids=[one for one, _ in WRONG])
def test_a_wrong_value_is_refused_by_its_name(setting: str, key: str, version: str) -> None:
    done = attempt("", setting, version=version)
    assert done.returncode != 0
    # Helm 4 writes the path with slashes.
    assert key in done.stderr.replace("/", ".")


@pytest.mark.parametrize(("setting", "key"), APART, ids=[one for one, _ in APART])
def test_values_that_do_not_fit_together_are_refused_with_the_remedy(setting: str, key: str) -> None:
    done = attempt("", setting)
    assert done.returncode != 0
    assert re.search(rf"^- {re.escape(key)}: .{{30,}}", done.stderr, re.MULTILINE), done.stderr


def test_several_mistakes_are_told_at_once() -> None:
    done = attempt("", "collector.web.scheme=https", "agent.web.scheme=https")
    assert len(re.findall(r"^- ", done.stderr, re.MULTILINE)) == 2


@pytest.mark.parametrize("case", CASES)
def test_schema_takes_what_helm_takes(case: str) -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load((CHART / f"ci/{case}-values.yaml").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(values)


def test_schema_and_table_are_current() -> None:
    """As make check-generated says it, with the table and the schema alone, and without boards and rules."""
    made = chart_files(Settings(), ROOT)
    for name in ("values.schema.json", "README.md"):
        text = next(text for path, text in made.items() if path.name == name and path.parent.name == "gpuscope")
        assert text == (CHART / name).read_text(encoding="utf-8")


def test_every_key_is_in_the_table_once() -> None:
    values = read_values((CHART / "values.yaml").read_text(encoding="utf-8"))
    page = (CHART / "README.md").read_text(encoding="utf-8").split("<!-- values: ")[1].split("<!-- /values")[0]
    for leaf in [leaf for value in values for leaf in value.leaves()]:
        assert page.count(f"| `{leaf.name}` |") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\n", "line 1: a has no comment"),
        ("# One.\n# @schema {\na: 1\n", "line 2: @schema: "),
        ("# One.\n# @schema []\na: 1\n", "line 2: @schema: not an object"),
        ("- 1\n", "no mapping of values"),
    ],
)
def test_values_without_comment_or_with_a_broken_one_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        read_values(text)


@pytest.mark.parametrize(
    ("page", "message"),
    [("nothing", "no table in it"), ("<!-- other: made by x -->\n<!-- /other -->\n", "no table 'other'")],
)
def test_a_page_without_a_known_table_is_refused(page: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fill_page(page, (), {})


@pytest.mark.parametrize("name", ["values.yaml", "README.md"])
def test_the_generator_names_the_file_that_is_wrong(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "helm/gpuscope"
    folder.mkdir(parents=True)
    for one in ("values.yaml", "README.md"):
        shutil.copy(CHART / one, folder / one)
    (folder / name).write_text("a: 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"helm/gpuscope/{name}: "):
        chart_files(Settings(), tmp_path)


def _checked(component: str, found: tuple[dict[str, object], ...], folder: Path) -> str:
    """What the program itself says about the arguments of a container."""
    texts = {one: text for each in of_kind("ConfigMap", list(found)) for one, text in each.get("data", {}).items()}
    given = []
    for argument in arguments(component, found):
        name, _, value = argument.partition("=")
        if name in {"--web.config.file", "--agents.password-file", "--agents.ca-file"}:
            continue  # a Secret, which is not here
        if name == "--agents.user":
            continue  # wants the password
        if name == "--config":
            (folder / f"{component}.yaml").write_text(texts[f"{component}.yaml"], encoding="utf-8")
            value = str(folder / f"{component}.yaml")
        elif name == "--state-file" or value.startswith("/host/log/"):
            value = f"{folder}{value}"
            Path(value).parent.mkdir(parents=True, exist_ok=True)
            Path(value).touch()
        elif value.startswith("/") and value != "/dev/kmsg":
            value = f"{folder}{value}"
            Path(value).mkdir(parents=True, exist_ok=True)
        given.append(f"{name}={value}" if value else name)
        if name == "--slurm.commands":
            for program in ("scontrol", "squeue", "sacct", "sinfo", "sacctmgr"):
                (Path(value) / program).write_text("#!/bin/sh\n", encoding="utf-8")
                (Path(value) / program).chmod(0o755)
    cluster = {"name": "one", "cluster": {"server": "http://127.0.0.1:1"}}
    config = {"kind": "Config", "clusters": [cluster], "users": [{"name": "one", "user": {}}], "current-context": "one"}
    config["contexts"] = [{"name": "one", "context": {"cluster": "one", "user": "one"}}]
    (folder / "kubeconfig").write_text(yaml.safe_dump(config), encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "KUBECONFIG": str(folder / "kubeconfig")}
    command = [sys.executable, "-m", "gpuscope", *given, "--check-config"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("case", ["", "all-access", "mig", "slurm", "restricted", "simulated", "folders"])
def test_the_programs_take_what_the_chart_gives_them(case: str, tmp_path: Path) -> None:
    found = objects(case)
    for component in pods(found):
        if component != "test":
            _checked(component, found, tmp_path)


def test_levels_and_intervals_reach_the_agent(tmp_path: Path) -> None:
    # A bare off is false in YAML; both are meant.
    settings = (
        "categories.accelerator.level=off,categories.health.level=false,categories.activity.level=full",
        "categories.interconnect.level=full,categories.accelerator.interval=2s,categories.health.interval=2m",
        "categories.filesystem.level=full",
    )
    said = yaml.safe_load(_checked("agent", objects("", *settings, *LEAN), tmp_path))
    collectors = said["collector"]
    assert [collectors[name] for name in ("memory", "processes", "xid", "ecc")] == [False] * 4
    assert [collectors[name] for name in ("pipes", "cycles", "engines", "nvlink-links", "pcie-details")] == [True] * 5
    assert said["interval"]["fast"] == "2s"
    assert said["interval"]["slow"] == "2m"
    assert said["lustre"]["targets"] is True


def test_basic_is_what_the_agent_does_by_default(tmp_path: Path) -> None:
    from gpuscope.config import OPTIONS

    said = yaml.safe_load(_checked("agent", objects(), tmp_path))
    defaults = {one.key.removeprefix("collector."): one.default for one in OPTIONS if one.key.startswith("collector.")}
    assert {name: said["collector"][name] for name in defaults} == defaults
    seconds = {"5s": 5, "10s": 10, "15s": 15, "1m": 60}
    for one in OPTIONS:
        if one.key.startswith("interval."):
            assert seconds[said["interval"][one.key.removeprefix("interval.")]] == one.default


def test_every_collector_belongs_to_a_category() -> None:
    from gpuscope.config import OPTIONS

    text = (CHART / "templates/_categories.tpl").read_text(encoding="utf-8")
    table = yaml.safe_load(text.split('"gpuscope.categories" -}}')[1].split("{{- end -}}")[0])
    listed = [name for parts in table.values() for kind in ("basic", "full") for name in parts.get(kind, [])]
    assert sorted(listed) == sorted(
        one.key.removeprefix("collector.") for one in OPTIONS if one.key.startswith("collector.")
    )


def test_the_digest_wins_and_the_collector_may_have_an_image_of_its_own() -> None:
    image = pods(objects("air-gapped"))["agent"]["containers"][0]["image"]
    assert re.fullmatch(r"registry\.internal:5000/gpuscope/gpuscope@sha256:[0-9a-f]{64}", image)
    found = pods(objects("slurm"))
    assert found["collector"]["containers"][0]["image"] == "registry.example.org/hpc/gpuscope-slurm:24.05-1"
    assert found["agent"]["containers"][0]["image"].startswith("ghcr.io/gpuscope/gpuscope:")


def test_versions_agree() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    content = yaml.safe_load((CHART / "charts/content/Chart.yaml").read_text(encoding="utf-8"))
    assert {chart["version"], chart["appVersion"], content["version"], content["appVersion"]} == {project["version"]}
    assert chart["dependencies"] == [{"name": "content", "version": project["version"], "repository": ""}]
    (image,) = yaml.safe_load(chart["annotations"]["artifacthub.io/images"])
    assert image["image"].endswith(f":{project['version']}")
    assert yaml.safe_load(chart["annotations"]["artifacthub.io/changes"])[0]["kind"] in {
        "added", "changed", "deprecated", "removed", "fixed", "security",
    }  # fmt: skip


def test_objects_of_the_user_are_rendered() -> None:
    found = objects("simulated")
    assert only("ConfigMap", "gpu-note", found)
    assert only("ConfigMap", "gpu-other", found)
