"""The status page as HTML: no script, nothing from elsewhere, every text escaped."""

from datetime import UTC, datetime
from html import escape

from gpuscope.api.documents import health_document
from gpuscope.api.readings import Readings, state_of
from gpuscope.api.status_sources import source_notices
from gpuscope.api.status_style import STYLE
from gpuscope.api.status_use import told, use_cell
from gpuscope.api.status_words import DRIVER_ADVICE, HARMLESS_ACTIONS, STATE_ADVICE, action_words, age
from gpuscope.faults.fault import Fault
from gpuscope.nvml.identity import MigInstance
from gpuscope.sampling.snapshot import GpuStatus, Snapshot

__all__ = ["render_page"]

_GIB = 1 << 30
_FAULTS_SHOWN = 20
_WORDS = {"ok": "All well", "faults": "See faults", "issue": "Needs attention", "unknown": "Unknown"}
_CLASSES = {"ok": "ok", "faults": "warn", "issue": "bad", "unknown": "warn"}
_LATELY_S = 3600.0
_STALE_S = 60.0
_DASH = '<span class="soft">–</span>'

_Cells = tuple[tuple[str, str], ...]
"""Titles and contents."""


def render_page(snapshot: Snapshot, alive: tuple[bool, str], telemetry_path: str, now: float) -> str:
    """The whole page.

    Args:
        snapshot: what to show.
        alive: the watchdog's verdict.
        telemetry_path: where the metrics are.
        now: unix time, for ages.
    """
    health = health_document(snapshot, alive)
    status = health["status"]
    if status == "ok" and any(_matters(fault, now) for fault in snapshot.faults):
        status = "faults"
    if status in {"ok", "faults"} and any(notice.look == "bad" for notice in source_notices(snapshot)):
        status = "issue"
    node = escape(snapshot.node or "this node")
    body = [
        f'<header><h1>{node}</h1><span class="pill {_CLASSES[status]}">{_WORDS[status]}</span>'
        f'<span class="soft push">gpuscope {escape(snapshot.version)} · readings of '
        f"{_clock(snapshot.created)}, {age(now - snapshot.created)} ago</span></header><main>",
        *_notices(snapshot, alive, now),
        _tiles(snapshot),
        *_sections(snapshot, now),
        "</main>",
        _footer(telemetry_path),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        f"<title>{_WORDS[status]}: {node} – gpuscope</title><style>{STYLE}</style></head><body>"
        + "\n".join(body)
        + "</body></html>\n"
    )


def _matters(fault: Fault, now: float) -> bool:
    return now - fault.last < _LATELY_S and fault.action not in HARMLESS_ACTIONS


def _sections(snapshot: Snapshot, now: float) -> list[str]:
    gpus = ["<h2>GPUs</h2>", _gpu_table(snapshot, now)]
    faults = ["<h2>Recent faults</h2>", _fault_table(snapshot, now)]
    return [*faults, *gpus] if snapshot.faults else [*gpus, *faults]


def _notices(snapshot: Snapshot, alive: tuple[bool, str], now: float) -> list[str]:
    notices = []
    driver = snapshot.driver
    if driver.simulated:
        notices.append(_notice("warn", "Simulated driver", f"Scenario {driver.simulated}: no number here is real."))
    if not alive[0]:
        notices.append(_notice("bad", "The agent is stuck", f"{alive[1]} Restart it if this stays."))
    elif now - snapshot.created > _STALE_S:
        notices.append(_notice("bad", "These readings are old", "The agent has published nothing new; see its log."))
    if not driver.ok:
        what, remedy = DRIVER_ADVICE.get(driver.reason, DRIVER_ADVICE["error"])
        since = f" (for {age(now - driver.since)})" if driver.since else ""
        retry = "The agent keeps trying; this page and the metrics change by themselves when the driver answers."
        notices.append(_notice("bad", f"No driver{since}", what, driver.message, remedy, retry))
    elif not snapshot.ready:
        notices.append(_notice("warn", "Starting", "The first full cycle is not complete yet."))
    missing = (snapshot.expected_gpus or 0) - len(snapshot.gpus)
    if driver.ok and missing > 0:
        text = f"{missing} of {snapshot.expected_gpus} expected GPUs are not there. See lspci and the kernel log."
        notices.append(_notice("bad", "GPUs are missing", text))
    if driver.ok:
        for gpu in snapshot.gpus:
            if not gpu.up:
                state = state_of(gpu)
                title = f"GPU {gpu.identity.index} is {state.replace('_', ' ')} (for {age(now - gpu.since)})"
                notices.append(_notice("bad", title, STATE_ADVICE[state]))
    return notices + [_notice(look, title, *texts) for look, title, texts in source_notices(snapshot)]


def _notice(look: str, title: str, *texts: str) -> str:
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in texts if text)
    return f'<div class="notice {look}"><strong>{escape(title)}</strong>{paragraphs}</div>'


def _tiles(snapshot: Snapshot) -> str:
    good = sum(gpu.up for gpu in snapshot.gpus)
    total = max(len(snapshot.gpus), snapshot.expected_gpus or 0)
    instances = sum(len(gpu.mig) for gpu in snapshot.gpus)
    driver = snapshot.driver
    tiles = [
        ("GPUs well", f'{good} <span class="soft">of {total}</span>' if total else _DASH),
        ("MIG instances", str(instances) if total else _DASH),
        ("Driver", escape(driver.driver_version) or _DASH),
        ("CUDA", escape(driver.cuda_version) or _DASH),
        ("Faults on record", str(len(snapshot.faults))),
    ]
    return '<dl class="tiles">' + "".join(f"<div><dt>{n}</dt><dd>{v}</dd></div>" for n, v in tiles) + "</dl>"


def _gpu_table(snapshot: Snapshot, now: float) -> str:
    if not snapshot.gpus:
        return '<div class="card"><div class="empty">No GPU is known yet.</div></div>'
    rows = []
    for gpu in sorted(snapshot.gpus, key=lambda gpu: gpu.identity.index):
        readings = Readings(gpu)
        rows.append(_gpu_row(gpu, readings, now, _held(snapshot, gpu.identity.uuid)))
        rows += [_mig_row(one, gpu, readings, _held(snapshot, one.uuid)) for one in gpu.mig]
    held = ("Held by",) if told(snapshot) else ()
    return _table(("GPU", "Model", "State", *held, "Activity", "Memory", "Power", "Temperature"), rows)


def _held(snapshot: Snapshot, uuid: str) -> _Cells:
    return (("Held by", use_cell(snapshot, uuid)),) if told(snapshot) else ()


def _gpu_row(gpu: GpuStatus, readings: Readings, now: float, held: _Cells) -> str:
    identity = gpu.identity
    activity, note = readings.of_gpu("utilization_ratio"), ""
    if activity is None:
        activity, note = readings.of_gpu("sm_active_ratio"), "SM cycles"
    limit = readings.of_gpu("power_limit_watts", "enforced")
    power = _quantity(readings.of_gpu("power_watts"), "W", f"of {limit:.0f} W" if limit is not None else "")
    memory_heat = readings.of_gpu("temperature_celsius", "memory")
    heat_note = f"memory {memory_heat:.0f} °C" if memory_heat is not None else ""
    return _row(
        "",
        ("GPU", f'<span class="number"><strong>{identity.index}</strong></span>'),
        (
            "Model",
            f'{escape(identity.model or "unknown")}<small><code title="{escape(identity.uuid)}">'
            f"{escape(identity.uuid[:12])}</code> {escape(identity.pci_bus_id)}</small>",
        ),
        ("State", _state(gpu, readings, now)),
        *held,
        ("Activity", _share(activity, note)),
        ("Memory", _memory(readings.of_gpu("memory_used_bytes"), readings.of_gpu("memory_total_bytes"))),
        ("Power", power),
        ("Temperature", _quantity(readings.of_gpu("temperature_celsius", "gpu"), "°C", heat_note)),
    )


def _mig_row(instance: MigInstance, gpu: GpuStatus, readings: Readings, held: _Cells) -> str:
    activity, note = readings.of_mig(instance.uuid, "sm_active_ratio"), "SM cycles"
    if activity is None:
        activity, note = readings.of_mig(instance.uuid, "graphics_active_ratio"), "engine"
    used = readings.of_mig(instance.uuid, "memory_used_bytes")
    total = readings.of_mig(instance.uuid, "memory_total_bytes")
    shared = any(other.gi == instance.gi and other is not instance for other in gpu.mig) and total is None
    return _row(
        "mig",
        ("", ""),
        (
            "MIG",
            f'<span class="number">{escape(instance.profile)} <code class="soft" title="{escape(instance.uuid)}">'
            f"{escape(instance.uuid[:12])}</code></span>",
        ),
        ("Ids", f'<span class="soft number">GI {instance.gi} · CI {instance.ci}</span>'),
        *held,
        ("Activity", _share(activity, note if activity is not None else "")),
        ("Memory", '<span class="soft">shared, see above</span>' if shared else _memory(used, total)),
        ("", ""),
        ("", ""),
    )


def _state(gpu: GpuStatus, readings: Readings, now: float) -> str:
    state = state_of(gpu)
    lines = [f'<span class="pill {"ok" if gpu.up else "bad"}">{escape(state.replace("_", " "))}</span>']
    action = readings.recovery_action()
    if action not in {None, "none"}:
        lines.append(f' <span class="pill warn">driver asks for: {escape(str(action).replace("_", " "))}</span>')
    lines.append(f' <span class="soft number">for {age(now - gpu.since)}</span>')
    return "".join(lines)


def _share(ratio: float | None, note: str) -> str:
    if ratio is None:
        return _DASH
    tail = f' <span class="soft">{note}</span>' if note else ""
    return f'<span class="number">{ratio * 100:.0f} %{tail}</span>{_bar(ratio)}'


def _memory(used: float | None, total: float | None) -> str:
    if used is None or not total:
        return _DASH
    text = f'{used / _GIB:.1f} <span class="soft">of {total / _GIB:.0f} GiB</span>'
    return f'<span class="number">{text}</span>{_bar(used / total)}'


def _bar(ratio: float) -> str:
    width = min(1.0, max(0.0, ratio)) * 100
    return (
        '<svg aria-hidden="true"><rect width="100%" height="6" rx="3"/>'
        f'<rect width="{width:.1f}%" height="6" rx="3"/></svg>'
    )


def _quantity(value: float | None, unit: str, note: str = "") -> str:
    if value is None:
        return _DASH
    return f'<span class="number">{value:.0f} {unit}</span>' + (f"<small>{note}</small>" if note else "")


def _fault_table(snapshot: Snapshot, now: float) -> str:
    if not snapshot.faults:
        return '<div class="card"><div class="empty">None since the agent started.</div></div>'
    indexes = {gpu.identity.uuid: gpu.identity.index for gpu in snapshot.gpus}
    faults = sorted(snapshot.faults, key=lambda fault: -fault.last)
    table = _table(
        ("When", "Where", "Fault", "Meaning", "What to do"),
        [_fault_row(fault, indexes, now) for fault in faults[:_FAULTS_SHOWN]],
    )
    more = len(faults) - _FAULTS_SHOWN
    if more > 0:
        table += f'<p class="soft">and {more} more in <a href="/api/v1/faults">/api/v1/faults</a></p>'
    return table


def _fault_row(fault: Fault, indexes: dict[str, int], now: float) -> str:
    where = "NVSwitch" if fault.kind == "sxid" else "GPU"
    if fault.uuid in indexes:
        where += f" {indexes[fault.uuid]}"
    if fault.gi is not None:
        where += f", GI {fault.gi}" + (f" CI {fault.ci}" if fault.ci is not None else "")
    name = "SXid" if fault.kind == "sxid" else "XID"
    times = f' <span class="soft">×{fault.count}</span>' if fault.count > 1 else ""
    return _row(
        "",
        ("When", f'<span class="number">{age(now - fault.last)} ago</span><small>{_clock(fault.last)}</small>'),
        ("Where", f"{where}<small>{escape(fault.pci_bus_id or '')}</small>"),
        ("Fault", f'<span class="number"><strong>{name} {fault.code}</strong>{times}</span>'),
        ("Meaning", f"{escape(fault.meaning) or 'not in the catalogue'}<small>{escape(fault.message)}</small>"),
        ("What to do", escape(action_words(fault.action)) or _DASH),
    )


def _table(titles: tuple[str, ...], rows: list[str]) -> str:
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    return f'<div class="card"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _row(look: str, *cells: tuple[str, str]) -> str:
    drawn = "".join(
        f'<td data-label="{label}"><div>{html}</div></td>' if html else "<td></td>" for label, html in cells
    )
    return f'<tr class="{look}">{drawn}</tr>' if look else f"<tr>{drawn}</tr>"


def _clock(unix_time: float) -> str:
    moment = datetime.fromtimestamp(unix_time, UTC)
    return f'<time datetime="{moment.isoformat(timespec="seconds")}">{moment:%Y-%m-%d %H:%M:%S} UTC</time>'


def _footer(telemetry_path: str) -> str:
    paths = (
        (telemetry_path, "metrics"),
        ("/api/v1/gpus", "GPUs as JSON"),
        ("/api/v1/mig", "MIG instances"),
        ("/api/v1/faults", "faults"),
        ("/api/v1/health", "health"),
        ("/api/v1/openapi.json", "OpenAPI"),
        ("/-/healthy", "alive"),
        ("/-/ready", "ready"),
    )
    links = "".join(f'<a href="{escape(path)}">{title}</a>' for path, title in paths)
    return f'<footer>{links}<span class="soft push">renews itself every 5 s</span></footer>'
