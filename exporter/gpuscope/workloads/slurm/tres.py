"""GPUs in Slurm's words for trackable and generic resources (TRES, GRES).

Forms, all seen from real clusters: ``cpu=2,mem=4000M,node=2,gres/gpu=16,gres/gpu:h100=16`` (totals of a job or node),
``gres:gpu:8`` and ``gres/gpu:h100:2`` (asked for by node, by task or by job), ``gpu:h100:8(S:0-1)`` (a node has),
``gpu:h100:4(IDX:0-3)`` (taken on a node).
"""

import re

__all__ = ["gpus_in_gres", "gpus_in_tres", "names_gpus"]

_TOTAL = re.compile(r"gres/gpu(?::(?P<type>[^=,]+))?=(?P<count>[0-9]{1,9})")
_GRES = re.compile(r"(?:gres[:/])?gpu(?::(?P<type>(?![0-9]+$)[^:=,()]+))?(?:[:=](?P<count>[0-9]{1,9}))?")
_NAMED = re.compile(r"(?:^|,)(?:gres[:/])?gpu(?=[:=,(]|$)")
_IN_PARENTHESES = re.compile(r"\([^()]*\)")


def gpus_in_tres(text: str) -> int | None:
    """GPUs in a total such as ``AllocTRES``.

    Slurm names the sum (``gres/gpu=8``) and, where a site accounts for types, each type as well: the sum counts where
    it is there, else the types are added. ``None`` where GPUs are not mentioned: a cluster without slurmdbd accounts
    for no GPUs here, so that silence is not "no GPUs".
    """
    untyped: int | None = None
    typed: int | None = None
    for part in text.split(","):
        match = _TOTAL.fullmatch(part.strip())
        if match is None:
            continue
        count = int(match["count"])
        if match["type"] is None:
            untyped = count
        else:
            typed = count if typed is None else typed + count
    return typed if untyped is None else untyped


def names_gpus(text: str) -> bool:
    """Whether GPUs are mentioned, readable or not: where their number cannot be read it is not known."""
    return _NAMED.search(text) is not None


def gpus_in_gres(text: str) -> int | None:
    """GPUs in a request or in what a node has or uses; ``None`` where GPUs are not mentioned.

    A GPU without a number is one. Indexes and sockets in parentheses are left aside. Shards and MPS are no GPUs.
    """
    total: int | None = None
    for part in _IN_PARENTHESES.sub("", text).split(","):
        match = _GRES.fullmatch(part.strip())
        if match is not None:
            count = 1 if match["count"] is None else int(match["count"])
            total = count if total is None else total + count
    return total
