"""GPUs in TRES and GRES."""

import pytest

from gpuscope.workloads.slurm.tres import gpus_in_gres, gpus_in_tres, names_gpus


@pytest.mark.parametrize(
    ("tres", "gpus"),
    [
        ("cpu=1,node=1,billing=1,gres/gpu=1,gres/gpu:h100=1", 1),
        ("billing=1,cpu=1,gres/gpu:h100=2,gres/gpu=2,node=1", 2),
        ("cpu=8,gres/gpu=8", 8),
        ("gres/gpu:h100=8", 8),
        ("gres/gpu:h100=8,gres/gpu:a100=4", 12),
        ("gres/gpu=0", 0),
        ("cpu=2,mem=4000M,node=2,billing=2", None),
        ("gres/gpumem=80G,gres/gpuutil=7,gres/shard=4", None),
        ("", None),
    ],
)
def test_tres(tres: str, gpus: int | None) -> None:
    assert gpus_in_tres(tres) == gpus


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("gpu:h100:8", 8),
        ("gpu:8", 8),
        ("gpu", 1),
        ("gpu:h100", 1),
        ("gres:gpu:8", 8),
        ("gres/gpu:h100:2", 2),
        ("gres/gpu:4", 4),
        ("gres/gpu=3", 3),
        ("gpu:h100:8(S:0-1)", 8),
        ("gpu:h100:2(IDX:0-1)", 2),
        ("gpu:h100:0(IDX:N/A)", 0),
        ("gpu:a100:2(IDX:0,2),gpu:h100:1(IDX:4)", 3),
        ("gpu:1g.10gb:7", 7),
        ("gpu:a100_1g.5gb:7(S:0)", 7),
        ("shard:16,mps:400,nic:2", None),
        ("license:gpu:5", None),
        ("", None),
    ],
)
def test_gres(gres: str, gpus: int | None) -> None:
    assert gpus_in_gres(gres) == gpus


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("cpu=1,gres/gpu=99999999999", True),
        ("gres:gpu:h100:many", True),
        ("gpu:h100:x(S:0-1)", True),
        ("nic:2,gpu", True),
        ("license:gpu:5", False),
        ("gres/gpumem=80G,gres/gpuutil=7,gres/shard=4", False),
        ("", False),
    ],
)
def test_gpus_are_named_whether_their_number_can_be_read_or_not(text: str, named: bool) -> None:
    assert names_gpus(text) is named
