"""Draws the rows with rich, in a width between 80 and 200 columns."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gpuscope.errors import ConfigError
from gpuscope.table.cell import cut, printable
from gpuscope.table.rows import GpuRow, MigRow, NodeRows, use_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

__all__ = ["console", "gpu_table", "summary", "troubles"]

_BLOCKS = " ▏▎▍▌▋▊▉█"
_BAR, _NARROW_BAR = 8, 4
_WIDE_FROM, _HOLDERS_FROM = 120, 92
_GIB = 1 << 30
_UNKNOWN = "·"


def console(*, color: bool = True, record: bool = False) -> "Console":
    """A console on stdout.

    Raises:
        ConfigError: rich is not installed.
    """
    try:
        from rich.console import Console
    except ImportError as error:
        raise ConfigError("this command needs rich: pip install 'gpuscope[top]'") from error
    return Console(no_color=not color, highlight=False, record=record)


def gpu_table(nodes: Sequence[NodeRows], *, title: str = "", width: int = 120) -> "RenderableType":
    """The table of all nodes; narrow terminals lose the columns that matter least."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False, collapse_padding=True)
    wide = width >= _WIDE_FROM
    # rich takes room from columns that may wrap before it takes any from the others: numbers stay whole.
    table.add_column("GPU", no_wrap=True)
    problem = max((len(node.problem) for node in nodes), default=0)  # stands in this column, and is to be read
    table.add_column("Model", min_width=max(14, min(problem, width - 60)))
    table.add_column("State", no_wrap=True)
    table.add_column("SM active" if wide else "SM", no_wrap=True)
    if wide:
        table.add_column("Tensor", justify="right", no_wrap=True)
        table.add_column("Util", justify="right", no_wrap=True)
    table.add_column("Memory GiB" if wide else "GiB", no_wrap=True)
    table.add_column("Power W" if wide else "W", justify="right", no_wrap=True)
    table.add_column("°C", justify="right", no_wrap=True)
    if width >= _HOLDERS_FROM:
        table.add_column("Held by", min_width=8)
    table.add_column("Faults", min_width=7)
    for node in nodes:
        _add_node(table, node, width)
    return table


def summary(nodes: Iterable[NodeRows]) -> str:
    """One line: how many nodes, GPUs, MIG instances; how many are down."""
    nodes = list(nodes)
    gpus = [gpu for node in nodes for gpu in node.gpus.values()]
    instances = sum(len(gpu.mig) for gpu in gpus)
    power = sum(gpu.power or 0.0 for gpu in gpus)
    text = f"{_count(len(nodes), 'node')}, {_count(len(gpus), 'GPU')}, {_count(instances, 'MIG instance')}"
    text += f", {power / 1000:.1f} kW"
    silent = sum(bool(node.problem) for node in nodes)
    down = sum(not gpu.up for gpu in gpus)
    rows = [row for gpu in gpus for row in (gpu.mig.values() if gpu.mig else [gpu])]
    uses = [use_of(row) for row in rows]
    text += "".join(f", {uses.count(word)} {word}" for word in ("busy", "idle", "free") if word in uses)
    bad = [f"{_count(number, what)} {word}" for number, what, word in
           ((silent, "node", "without GPUs"), (down, "GPU", "down")) if number]  # fmt: skip
    return ", ".join([text, *(bad or ["all up"])])


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def troubles(nodes: Iterable[NodeRows]) -> list[str]:
    """What is wrong, a text for each node or GPU: those that are down first."""
    down: list[str] = []
    faulty: list[str] = []
    for node in nodes:
        if node.problem:
            down.append(f"{node.node} {node.problem}")
        for gpu in node.ordered():
            words = ", ".join(word for word in ("" if gpu.up else gpu.reason or "down", _faults(gpu)) if word)
            if words:
                (faulty if gpu.up else down).append(f"{node.node} GPU {gpu.index} {words}")
    return [printable(text) for text in down + faulty]


def _add_node(table: "Table", node: NodeRows, width: int) -> None:
    from rich.text import Text

    head = Text(printable(node.node), style="bold")
    facts = node.problem or (f"driver {node.driver}" if node.driver else "")
    table.add_row(head, cut(facts, style="red" if node.problem else "dim"))
    for gpu in node.ordered():
        table.add_row(*_gpu_cells(gpu, width))
        for instance in sorted(gpu.mig.values(), key=lambda row: (row.gi, row.ci)):
            table.add_row(*_mig_cells(instance, gpu, width))
    table.add_section()


def _gpu_cells(gpu: GpuRow, width: int) -> "list[str | Text]":
    from rich.text import Text

    wide = width >= _WIDE_FROM
    state = _use(gpu) if gpu.up else Text(printable(gpu.reason or "down"), style="bold red")
    if gpu.up and gpu.held_down_by:
        state = Text(printable(_slowed(gpu.held_down_by)), style="yellow")
    limit = f"/{gpu.power_limit:.0f}" if gpu.power_limit is not None and wide else ""
    return [
        f"  {gpu.index}",
        cut(gpu.model.removeprefix("NVIDIA ") or gpu.uuid[:12]),
        state,
        _bar(gpu.sm, wide),
        *([_percent(gpu.tensor), _percent(gpu.utilization)] if wide else []),
        _memory(gpu.memory_used, gpu.memory_total, wide),
        _UNKNOWN if gpu.power is None else f"{gpu.power:.0f}{limit}",
        _UNKNOWN if gpu.temperature is None else f"{gpu.temperature:.0f}",
        *([cut(_holders(gpu))] if width >= _HOLDERS_FROM else []),
        cut(_faults(gpu), style="bold red" if gpu.xids or gpu.recovery_action else ""),
    ]


def _mig_cells(row: MigRow, gpu: GpuRow, width: int) -> "list[str | Text]":

    wide = width >= _WIDE_FROM
    return [
        f"  {gpu.index}.{row.gi}.{row.ci}",
        cut(f"└ {row.profile}", style="cyan"),
        _use(row) if use_of(row) else "",
        _bar(row.sm, wide),
        *([_percent(row.tensor), ""] if wide else []),
        _memory(row.memory_used, row.memory_total, wide),
        "",
        "",
        *([cut(_holders(row))] if width >= _HOLDERS_FROM else []),
        "",
    ]


def _use(row: GpuRow | MigRow) -> "Text":
    from rich.text import Text

    word = use_of(row)
    return Text(word or "up", style={"busy": "green", "idle": "yellow", "free": "dim"}.get(word, "green"))


def _holders(row: GpuRow | MigRow) -> str:
    first = row.holders[0] if row.holders else ""
    return f"({len(row.holders)}) {first}" if len(row.holders) > 1 else first


def _slowed(reasons: list[str]) -> str:
    for reason, word in (("hw_power_brake", "brake"), ("hw_thermal", "hot"), ("sw_thermal", "warm")):
        if reason in reasons:
            return word
    return "power cap" if "sw_power_cap" in reasons else reasons[0]


def _faults(gpu: GpuRow) -> str:
    parts = [f"XID {code}" + (f"×{count}" if count > 1 else "") for code, count in sorted(gpu.xids.items())]
    if gpu.recovery_action:
        parts.insert(0, gpu.recovery_action.replace("_", " "))
    return ", ".join(parts)


def _bar(ratio: float | None, wide: bool) -> "str | Text":
    from rich.text import Text

    if ratio is None:
        return _UNKNOWN
    size = _BAR if wide else _NARROW_BAR
    eighths = round(min(1.0, max(0.0, ratio)) * size * 8)
    blocks = "█" * (eighths // 8) + (_BLOCKS[eighths % 8] if eighths % 8 else "")
    text = Text(f"{blocks:<{size}}", style="green")
    text.append(f"{100 * ratio:4.0f}%", style="default")
    return text


def _percent(ratio: float | None) -> str:
    return _UNKNOWN if ratio is None else f"{100 * ratio:.0f}%"


def _memory(used: float | None, total: float | None, wide: bool) -> str:
    if total is None:
        return _UNKNOWN
    if wide:
        return f"{_UNKNOWN if used is None else format(used / _GIB, '.1f'):>5} /{total / _GIB:6.1f}"
    return f"{_UNKNOWN if used is None else format(used / _GIB, '.0f'):>3} /{total / _GIB:4.0f}"
