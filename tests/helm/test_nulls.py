"""Null takes a default away before Helm renders: it is empty where that is an answer, else refused by its name."""

import re

import pytest
from tests.helm.charts import CHART, HELMS, LEAN, Object, attempt, objects, only, pods

from gpuscope_generator.chart.empty import empty_text
from gpuscope_generator.chart.values import Value, read_values

VALUES = read_values((CHART / "values.yaml").read_text(encoding="utf-8"))


def _said() -> dict[str, str]:
    """What stands for null, by key."""
    return dict(re.findall(r'^"(.+)": (.+?),?$', empty_text(VALUES), re.MULTILINE))


def test_every_key_but_global_is_in_the_table() -> None:
    leaves = [leaf.name for value in VALUES for leaf in value.leaves() if value.name != "global"]
    assert sorted(_said()) == sorted(leaves)


@pytest.mark.parametrize("version", HELMS)
def test_null_is_empty_for_all_that_may_be_empty(version: str) -> None:
    keys = [key for key, empty in _said().items() if empty != "null"]
    assert len(keys) > 80
    # Those that would say something of their own: what the others need, or what is asked for elsewhere.
    apart = {"collector.persistence.accessModes"}
    settings = ",".join(f"{key}=null" for key in keys if key not in apart)
    found = objects("", settings, *LEAN, version=version)
    agent = pods(found)["agent"]
    assert not {"tolerations", "affinity", "nodeSelector", "priorityClassName"} & set(agent)
    assert "resources" not in agent["containers"][0]
    assert agent["containers"][0]["livenessProbe"] == {
        "httpGet": {"path": "/-/healthy", "port": "metrics", "scheme": "HTTP"}
    }
    # What the chart adds by itself stays.
    assert agent["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("version", HELMS)
def test_null_is_refused_where_nothing_can_stand_for_it(version: str) -> None:
    keys = [key for key, empty in _said().items() if empty == "null"]
    assert {"agent.port", "agent.enabled", "networkPolicy.dnsPorts", "image.repository"} <= set(keys)
    done = attempt("", ",".join(f"{key}=null" for key in keys), version=version)
    assert done.returncode != 0
    assert sorted(re.findall(r"^- (\S+): it is null or missing", done.stderr, re.MULTILINE)) == sorted(keys)


def test_a_whole_part_that_is_null_is_named_once() -> None:
    done = attempt("", "agent=null,categories.activity=null")
    assert re.findall(r"^- (\S+): ", done.stderr, re.MULTILINE) == ["agent", "categories.activity"]


def _limits(*settings: str) -> Object:
    daemonset = only("DaemonSet", "gpu-gpuscope-agent", objects("", *settings, *LEAN))
    limits: Object = daemonset["spec"]["template"]["spec"]["containers"][0]["resources"]
    return limits


def test_null_inside_what_is_set_as_a_whole_takes_a_field_away() -> None:
    assert set(_limits("agent.resources.limits=null")) == {"requests"}


def test_texts_that_may_not_be_empty_are_told_apart() -> None:
    def said(default: object, **facts: object) -> str:
        return empty_text((Value(("a",), default, "", facts),)).splitlines()[3]

    assert said("x") == '"a": ""'
    assert said("x", minLength=1) == said("x", pattern="^/") == said("x", enum=["x"]) == said(1) == '"a": null'
    assert said("x", pattern="^(/.+)?$") == said("", enum=["", "x"]) == '"a": ""'
    assert said([1]) == '"a": []'
    assert said([1], ref="ports") == said("5s", ref="duration") == said(True) == '"a": null'
