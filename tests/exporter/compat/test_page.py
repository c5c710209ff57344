"""The page for people who come from dcgm-exporter, held against what comes out."""

import re
from pathlib import Path

import pytest

from gpuscope.compat.families import FAMILIES, Scope

PAGE = (Path(__file__).parents[3] / "docs/migrating-from-dcgm-exporter.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| `DCGM_FI_")
]
SIMPLE = re.compile(r'`(?P<name>\w+)(?:\{(?P<label>\w+)="(?P<value>\w+)"\})?(?: (?P<operator>[*/]) (?P<factor>\S+))?`')
FACTORS = {None: 1.0, "1e6": 1e6, "100": 100.0, "1000": 1000.0, "2^20": 2.0**20}


def test_every_family_has_its_row_with_type_unit_and_our_metrics() -> None:
    assert [row[0].strip("`") for row in ROWS] == [f"DCGM_FI_{family.name}" for family in FAMILIES]
    for family, row in zip(FAMILIES, ROWS, strict=True):
        assert row[1] == ", ".join(filter(None, (family.kind, family.unit)))
        if family.name == "DEV_XID_ERRORS":
            continue
        metrics = [family.metric.name, *([family.instance.name] if family.scope is Scope.INSTANCE else [])]
        assert re.findall(r"\[`(\w+)`\]", row[2]) == metrics
        assert row[4] == family.scope


def test_the_queries_give_dcgm_numbers(node) -> None:
    h100 = node("h100x8").cycles()
    simple = 0
    for row in ROWS:
        found = SIMPLE.fullmatch(row[3])
        if found is None:
            assert "rate(" in row[3] or row[3].startswith("none")
            continue
        labels = {found["label"]: found["value"]} if found["label"] else {}
        own = h100.value(found["name"], gpu="0", **labels)
        if own is None:
            assert row[0] == "`DCGM_FI_DEV_VGPU_LICENSE_STATUS`"
            continue
        factor = FACTORS[found["factor"]]
        wanted = own / factor if found["operator"] == "/" else own * factor
        assert h100.value(row[0].strip("`"), gpu="0") == pytest.approx(wanted, abs=1 if factor != 1 else 1e-9)
        simple += 1
    assert simple == 20


def test_the_number_of_series_is_right(node) -> None:
    h100 = node("h100-mig").cycles()
    lines = [line for line in h100.text().splitlines() if line.startswith("DCGM_")]
    whole = sum('gpu="0"' in line for line in lines)
    gi = h100.machine.samplers[5].gpu.mig[0].instance.gi
    instance = sum('gpu="5"' in line and f'GPU_I_ID="{gi}"' in line for line in lines)
    assert f"{whole} series a GPU and {instance} a MIG instance" in PAGE.replace("\n", " ")
