"""What nvidia-smi says, and how it compares with the agent's readings. Runs no program and reads no GPU."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from gpuscope.catalogue import METRICS
from gpuscope.catalogue.metric import Kind, Level, Metric, Sample, Tier, Unit

DIFFERENT, ONLY_SMI, UNCLEAR = "DIFFERENT", "ONLY NVIDIA-SMI", "word not known"
SCALES = {Unit.BYTES: 1 << 20, Unit.HERTZ: 1e6, Unit.RATIO: 0.01, Unit.SECONDS: 1e-6}
"""From nvidia-smi's units (MiB, MHz, percent, µs) to base units; watts and degrees are the same."""
WORDS = {
    "enabled": 1.0, "disabled": 0.0, "yes": 1.0, "no": 0.0, "active": 1.0, "not active": 0.0, "true": 1.0,
    "false": 0.0, "success": 0.0,
}  # fmt: skip
FACTS = {
    "name": "model", "pci.bus_id": "pci_bus_id", "serial": "serial", "vbios_version": "vbios",
    "compute_cap": "compute_capability", "platform.module_id": "module_id", "fabric.clusterUuid": "cluster_uuid",
    "fabric.cliqueId": "clique_id",
}  # fmt: skip
"""The label of an info metric that shows the same as the field."""
ABSENT = re.compile(r"\[?(n/a|not supported|unknown error|insufficient permissions|gpu is lost.*|)\]?")
NUMBER = re.compile(r"P?([+-]?\d+(?:\.\d+)?)(?: bank\(s\)| us| [A-Za-z%]+)?")
RELATIVE = {Unit.WATTS: 0.15, Unit.HERTZ: 0.15}
ABSOLUTE = {
    Unit.BYTES: 64 << 20,
    Unit.WATTS: 10.0,
    Unit.CELSIUS: 2.0,
    Unit.RATIO: 0.10,
    Unit.SECONDS: 5.0,
    Unit.HERTZ: 30e6,
}
"""Accepted differences of values that move between two looks. What stands still may differ by rounding alone."""
ROUNDING = {Unit.BYTES: 1 << 20, Unit.WATTS: 0.01, Unit.RATIO: 0.005, Unit.HERTZ: 0.5e6}


@dataclass(frozen=True)
class Twin:
    """A field of nvidia-smi and the series that shows the same: its labels, or the label itself."""

    field: str
    metric: Metric
    labels: tuple[str, ...] = ()
    fact: str = ""


@dataclass(frozen=True)
class Difference:
    """One comparison; ``agent`` and ``smi`` as words for people, in base units."""

    field: str
    metric: str
    gpu: str
    agent: str
    smi: str
    difference: str
    verdict: str


def twins() -> list[Twin]:
    """Every field of nvidia-smi that the catalogue names for a GPU's metric."""
    found = []
    for metric in METRICS:
        if not metric.smi or metric.level is not Level.GPU:
            continue
        fields = [field.strip() for field in metric.smi.split(",")]
        if metric.kind is Kind.INFO:
            found += [Twin(field, metric, fact=FACTS[field]) for field in fields]
        elif metric.kind is Kind.STATE_SET:
            found += [Twin(field, metric, fact=metric.extra[-1]) for field in fields]
        else:
            # The catalogue lists the fields in the order of the values of the labels.
            found += [Twin(field, metric, labels) for field, labels in zip(fields, _series(metric), strict=False)]
    return found


def _series(metric: Metric) -> Iterable[tuple[str, ...]]:
    """All series of a metric; of labels that are not closed, such as a fan's number, the first one."""
    known = metric.values or ((),) * len(metric.extra)
    return product(*(values or ("0",) for values in known))


def parse(text: str, fields: list[str]) -> dict[str, dict[str, str]]:
    """uuid -> field -> cell, of ``--format=csv,noheader,nounits`` with the uuid first.

    Raises:
        ValueError: a row has other cells than were asked for.
    """
    rows = csv.reader(io.StringIO(text), skipinitialspace=True)
    return {row[0].strip(): dict(zip(fields, map(str.strip, row[1:]), strict=True)) for row in rows if row}


def refused(text: str) -> str:
    """The field that nvidia-smi refused to answer; empty when it complains about something else."""
    found = re.search(r'Field "([^"]+)" is not a valid field', text)
    return found[1] if found else ""


def number(cell: str, metric: Metric) -> float | None:
    """A cell in base units; ``None`` when it is a word that is no number.

    Args:
        cell: what nvidia-smi printed, not absent.
        metric: the metric that shows the same.
    """
    word = WORDS.get(cell.lower())
    if word is not None:
        return word
    found = NUMBER.fullmatch(cell)
    return float(found[1]) * SCALES.get(metric.unit, 1.0) if found else None


def compare(samples: Iterable[Sample], uuid: str, gpu: str, cells: Mapping[str, str]) -> list[Difference]:
    """Compares one GPU's readings with its row of nvidia-smi."""
    own = [sample for sample in samples if sample.metric.level is Level.GPU and sample.labels[1] == uuid]
    values = {(id(sample.metric), sample.labels[2:]): sample.value for sample in own}
    facts: dict[tuple[int, str], str] = {}
    for sample in own:
        if sample.metric.kind in {Kind.INFO, Kind.STATE_SET} and sample.value:
            facts |= {
                (id(sample.metric), label): text
                for label, text in zip(sample.metric.labels, sample.labels, strict=True)
            }
    found = []
    for twin in twins():
        cell = cells.get(twin.field)
        if cell is None:
            continue
        smi = "" if ABSENT.fullmatch(cell.lower()) else cell
        if twin.fact:
            agent = facts.get((id(twin.metric), twin.fact), "")
            result = _compare_words(agent, smi)
        else:
            result = _compare_numbers(values.get((id(twin.metric), twin.labels)), smi, twin.metric)
        found.append(Difference(twin.field, twin.metric.name, gpu, *result))
    return found


def _compare_words(agent: str, smi: str) -> tuple[str, str, str, str]:
    if not agent or not smi:
        return agent or "–", smi or "–", "", _one_sided(bool(agent), bool(smi))
    same = _plain(agent) == _plain(smi)
    return agent, smi, "", "same" if same else DIFFERENT


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9.:]+", "_", text.lower()).strip("_")


def _compare_numbers(agent: float | None, smi: str, metric: Metric) -> tuple[str, str, str, str]:
    value = number(smi, metric) if smi else None
    if smi and value is None:
        return _shown(agent), smi, "", UNCLEAR
    if agent is None or value is None:
        return _shown(agent), _shown(value), "", _one_sided(agent is not None, value is not None)
    difference = agent - value
    accepted = ROUNDING.get(metric.unit, 0.0)
    if metric.tier is not Tier.SLOW:
        share = RELATIVE.get(metric.unit, 0.0) * max(abs(agent), abs(value))
        accepted = max(accepted, share, ABSOLUTE.get(metric.unit, 0.0))
    verdict = "same" if abs(difference) <= accepted else DIFFERENT
    return _shown(agent), _shown(value), f"{difference:+.4g}" if difference else "0", verdict


def _one_sided(agent: bool, smi: bool) -> str:
    if agent:
        return "only agent"
    return ONLY_SMI if smi else "both absent"


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:,.6g}"


def better(known: Difference | None, fresh: Difference) -> Difference:
    """The comparison to keep of one field: values move, so that one agreement is enough."""
    ranks = ("same", "both absent", "only agent", UNCLEAR, DIFFERENT, ONLY_SMI)
    if known is None or ranks.index(fresh.verdict) < ranks.index(known.verdict):
        return fresh
    return known


def table(differences: Iterable[Difference]) -> str:
    """All comparisons as a table, the bad ones last, and one line that counts them."""
    rows = sorted(differences, key=lambda one: (one.verdict in {DIFFERENT, ONLY_SMI}, one.gpu, one.metric, one.field))
    head = Difference("nvidia-smi field", "metric", "GPU", "agent", "nvidia-smi", "difference", "verdict")
    lines = [
        f"{row.gpu:<4}{row.metric:<46}{row.field:<54}{row.agent[:22]:>22}{row.smi[:22]:>22}"
        f"{row.difference:>12}  {row.verdict}"
        for row in (head, *rows)
    ]
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.verdict] = counts.get(row.verdict, 0) + 1
    total = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    return "\n".join([*lines, "", f"{len(rows)} readings: {total}"])
