"""dcgm-exporter's default series, made of what the collectors read anyway; no call to the driver of its own.

Output, classic format::

    # HELP DCGM_FI_DEV_GPU_TEMP Temperature of the GPU in degrees Celsius.
    # TYPE DCGM_FI_DEV_GPU_TEMP gauge
    DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-…",pci_bus_id="00000000:18:00.0",device="nvidia0",modelName="…",…} 61

While MIG is on, a GPU's instances stand for it, as with dcgm-exporter. OpenMetrics wants ``_total`` behind a counter's
name; so that the names stay, counters are of type ``unknown`` there.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpuscope.catalogue import SUBJECTS
from gpuscope.catalogue.metric import Level, Metric, Tier
from gpuscope.catalogue.xid import XID_ERRORS, XID_LAST
from gpuscope.compat.families import FAMILIES, PREFIX, Family, Scope
from gpuscope.compat.owner import OF_GPU_INSTANCE, Owner, Owners, device_owner, instance_owners
from gpuscope.compat.rates import Rates
from gpuscope.nvml.identity import GpuIdentity, MigInstance
from gpuscope.sampling.exposition import escape_help, escape_label, number_text
from gpuscope.sampling.rendering import Device
from gpuscope.sampling.sampler import Readings

__all__ = ["DcgmText"]

_WANTED = {
    metric for family in FAMILIES for metric in (family.metric, family.instance, *(metric for metric, _ in family.zero))
}
_COLLECTORS = {name for name, metrics in SUBJECTS.items() if _WANTED & set(metrics)}
_XID = next(family for family in FAMILIES if family.metric is XID_LAST)


@dataclass(frozen=True, slots=True)
class _Part:
    """What one series of each family stands for: a GPU (``gi`` is ``None``) or one of its GPU instances."""

    gi: int | None
    devices: int
    profile: str
    owner: Owner | None


class _Values:
    """The readings of one GPU, by metric and labels."""

    def __init__(self, readings: Mapping[tuple[str, Tier], Readings]) -> None:
        self.whole: dict[tuple[Metric, tuple[str, ...]], tuple[float, Readings, tuple[str, Tier]]] = {}
        self.instance: dict[tuple[Metric, str], float] = {}
        for key, reading in readings.items():
            if key[0] not in _COLLECTORS:
                continue
            for metric, labels, value in reading.samples:
                if metric in _WANTED:
                    if metric.level is Level.GPU:
                        self.whole[metric, labels[2:]] = (value, reading, key)
                    else:
                        self.instance[metric, labels[3]] = value


class DcgmText:
    """Renders the families; a GPU's lines are made anew when a reading, a fault or a holder changed."""

    def __init__(self) -> None:
        self._rates = Rates()
        self._done: dict[str, tuple[object, dict[Family, str]]] = {}

    def render(
        self,
        devices: Iterable[Device],
        owners: Owners,
        *,
        hostname: str,
        driver_version: str,
        xids_seen: bool,
        meaning: Callable[[int], str],
    ) -> tuple[tuple[str, str], int]:
        """Makes the text of all GPUs.

        Args:
            devices: the GPUs; one that is down has its last XID and nothing else.
            owners: who holds what.
            hostname: name of this machine; empty leaves the label away.
            driver_version: of the driver; empty leaves the label away.
            xids_seen: whether an XID would be noticed now; without that none is no news, and no 0.
            meaning: what an XID stands for.

        Returns:
            Classic text and OpenMetrics without its end mark, and the number of series.
        """
        known = [device for device in devices if device.status.identity.uuid]
        self._rates.keep({device.status.identity.uuid for device in known if device.readings})
        behind = "".join(
            f',{name}="{escape_label(value)}"'
            for name, value in (("Hostname", hostname), (f"{PREFIX}DRIVER_VERSION", driver_version))
            if value
        )
        done: dict[str, tuple[object, dict[Family, str]]] = {}
        for device in known:
            uuid = device.status.identity.uuid
            parts = _parts(device.status.mig, owners, uuid)
            xids = _last_xids(device, parts, xids_seen)
            key = (tuple(device.readings.values()), device.status.identity, tuple(parts), tuple(xids), behind)
            last = self._done.get(uuid)
            words = [None if code is None else meaning(code) if code else "No Error" for code in xids]
            done[uuid] = last if last and last[0] == (key, words) else (
                (key, words), self._lines(device, parts, list(zip(xids, words, strict=True)), behind)
            )  # fmt: skip
        self._done = done
        return _document([lines for _, lines in done.values()])

    def _lines(
        self, device: Device, parts: Sequence[_Part], xids: Sequence[tuple[int | None, str | None]], behind: str
    ) -> dict[Family, str]:
        identity = device.status.identity
        values = _Values(device.readings)
        fronts = [_front(identity, part) + behind for part in parts]
        plain = [f"{front}{_attributes(part.owner)}}} " for front, part in zip(fronts, parts, strict=True)]
        found: dict[Family, str] = {}
        for family in FAMILIES:
            text = ""
            for place, part in enumerate(parts):
                if family is _XID:
                    code, word = xids[place]
                    value = None if code is None else float(code)
                    labels = f"{fronts[place]}{_attributes(part.owner, err_code=str(code), err_msg=word or '')}}} "
                else:
                    value = self._value(identity.uuid, family, part, values)
                    labels = plain[place]
                if value is not None:
                    text += f"{PREFIX}{family.name}{labels}{number_text(value)}\n"
            if text:
                found[family] = text
        return found

    def _value(self, uuid: str, family: Family, part: _Part, values: _Values) -> float | None:
        if part.gi is not None:
            if family.scope is Scope.GPU:
                return None
            if family.instance is not None:
                if part.devices > 1 and family.instance not in OF_GPU_INSTANCE:
                    return None  # read of each compute instance, and nothing tells of the whole
                own = values.instance.get((family.instance, str(part.gi)))
                return None if own is None else family.convert(own)
        if any(series in values.whole for series in family.zero):
            return 0.0
        # All of them are asked before one may be missing: a rate begins with its first reading.
        found = [self._number(uuid, family, labels, values) for labels in family.labels]
        known = [value for value in found if value is not None]
        return family.convert(sum(known)) if len(known) == len(found) else None

    def _number(self, uuid: str, family: Family, labels: tuple[str, ...], values: _Values) -> float | None:
        one = values.whole.get((family.metric, labels))
        if one is None:
            return None
        value, readings, source = one
        return self._rates.rate(uuid, (family.metric, labels), value, readings, source) if family.rate else value


def _parts(mig: tuple[MigInstance, ...], owners: Owners, uuid: str) -> list[_Part]:
    if not mig:
        return [_Part(None, 0, "", device_owner(owners, uuid))]
    held = instance_owners(owners, mig)
    by_gi: dict[int, list[MigInstance]] = defaultdict(list)
    for device in mig:
        by_gi[device.gi].append(device)
    # "1c.3g.40gb" is a compute instance's profile; the GPU instance around it is 3g.40gb.
    return [
        _Part(gi, len(inside), inside[0].profile.rpartition("c.")[2], held[gi]) for gi, inside in sorted(by_gi.items())
    ]


def _last_xids(device: Device, parts: Sequence[_Part], xids_seen: bool) -> list[int | None]:
    """For each part the code of its last XID: 0 when there was none, ``None`` when nobody can tell."""
    counted = [labels for metric, labels, value in device.verdict if metric is XID_ERRORS and value]
    last = [(value, labels[2]) for metric, labels, value in device.verdict if metric is XID_LAST]
    published = any(metric is XID_ERRORS for metric, _, _ in device.verdict)
    found: list[int | None] = []
    for part in parts:
        own = {labels[2] for labels in counted if part.gi is None or labels[3] in {"", str(part.gi)}}
        times = [(when, int(code)) for when, code in last if code in own]
        found.append(max(times)[1] if times else 0 if xids_seen and published else None)
    return found


def _front(identity: GpuIdentity, part: _Part) -> str:
    pairs = [
        ("gpu", str(identity.index)),
        ("UUID", identity.uuid),
        ("pci_bus_id", identity.pci_bus_id.upper()),
        ("device", f"nvidia{identity.index}"),
        ("modelName", identity.model),
    ]
    if part.gi is not None:
        pairs += [("GPU_I_PROFILE", part.profile), ("GPU_I_ID", str(part.gi))]
    return "{" + ",".join(f'{name}="{escape_label(value)}"' for name, value in pairs)


def _attributes(owner: Owner | None, **more: str) -> str:
    pairs = {**more, **(owner._asdict() if owner else {})}
    return "".join(f',{name}="{escape_label(pairs[name])}"' for name in sorted(pairs))


def _document(gpus: Sequence[Mapping[Family, str]]) -> tuple[tuple[str, str], int]:
    classic: list[str] = []
    openmetrics: list[str] = []
    for family in FAMILIES:
        body = "".join(lines[family] for lines in gpus if family in lines)
        if body:
            name = PREFIX + family.name
            head = f"# HELP {name} {escape_help(family.help)}\n# TYPE {name} "
            classic += (head, family.kind, "\n", body)
            openmetrics += (head, "unknown" if family.kind == "counter" else family.kind, "\n", body)
    text = "".join(classic)
    return (text, "".join(openmetrics)), sum(not line.startswith("#") for line in text.splitlines())
