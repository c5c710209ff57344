"""From counters of XID errors to faults by class, to whose work they hit, and to when trouble began."""

from __future__ import annotations

from gpuscope.catalogue.xid_table import xid_rows
from gpuscope_generator.normalized import fault, gpu
from gpuscope_generator.normalized.gpu import GPU
from gpuscope_generator.promql import (
    Counter,
    Matcher,
    Selector,
    Vector,
    count_by,
    first_of,
    group_by,
    increase,
    select,
    sum_by,
)
from gpuscope_generator.rules.fault_classes import APPLICATION, INFRASTRUCTURE, fault_classes, of_class
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["fault_rules"]

_WINDOW = "10m"
_MOMENT = "2m"
"""Who holds a GPU is asked at most this long after a fault: later somebody else may have it."""
_WHERE = ("cluster", "node", "uuid")
_WORK = ("cluster", *fault.HOLDER)


def fault_rules(settings: Settings) -> RuleFile:
    """Rules of faults; of GPUs without any they record nothing."""
    rules = (
        recording(fault.XIDS, happened(select(gpu.XID_ERRORS), _WINDOW)),
        *(_of_class(name) for name in fault_classes()),
        _began(),
        *_of_applications(),
    )
    return RuleFile(
        path="recording/level-fault.yaml",
        comment="From counters of XID errors to faults by class, as `gpuscope xids` has them, and to whose work a "
        "fault of an application hit. Series exist only while there are faults.",
        groups=(Group("gpuscope-level-fault", settings.intervals.normalize, rules),),
    )


def happened(counter: Selector[Counter], window: str) -> Vector:
    """XID errors of a window, in whole events where the counter did not begin anew; nothing where there are none.

    Codes that are not counted from 0 on appear with their first event. They count only where the agent told of the GPU
    at the beginning of the window: a scrape that failed is no event, and neither is a restart.

    Args:
        counter: ``XID_ERRORS``, or some codes of it.
        window: such as ``10m``.
    """
    witness = select(gpu.XID_ERRORS, xid=gpu.XID_WITNESS)
    from_zero = "|".join(row["code"] for row in xid_rows() if row["critical"] == "true")
    rare = counter.also(Matcher("xid", "!~", from_zero))

    def appeared(ago: str) -> Vector:
        return rare.unless(rare.offset(ago)).and_(witness.offset(ago), on=_WHERE).compare(">", 0)

    risen = (counter - counter.offset(window)).compare(">", 0)
    # After a restart of the agent the difference says nothing.
    again = increase(counter, window).compare(">", 0)
    # The second look is for agents that are younger than the window.
    new = appeared(window) if window == _MOMENT else first_of(appeared(window), appeared(_MOMENT))
    return first_of(new, risen, again)


def _of_class(name: str) -> Recording:
    found = sum_by(select(fault.XIDS, of_class(name)), *GPU)
    if name == "mem_uncorrectable":
        # AMD knows no XID; its exporter counts the errors themselves.
        errors = select(gpu.ECC_ERRORS, severity="uncorrected")
        gained = (errors - errors.offset(_WINDOW)).compare(">", 0)
        amd = sum_by(gained, *GPU).and_(select(gpu.INFO, vendor="amd"), on=_WHERE)
        found = found.or_(amd)
    return recording(fault.FAULTS, found, fault_class=name)


def _began() -> Recording:
    trouble = select(fault.FAULTS, Matcher("fault_class", "=~", "|".join(INFRASTRUCTURE)))
    before = group_by(trouble.offset(_WINDOW), *GPU)
    return recording(fault.BEGAN, group_by(trouble, *GPU).unless(before, on=GPU))


def _of_applications() -> tuple[Recording, ...]:
    codes = of_class(APPLICATION)
    counted = group_by(happened(select(gpu.XID_ERRORS, codes), _MOMENT), *GPU)
    # Without a counter there is only that the code was not there a moment ago.
    sighted = select(fault.XIDS, codes)
    fresh = group_by(sighted.unless(sighted.offset(_MOMENT)), *GPU).unless(select(gpu.XID_ERRORS), on=_WHERE)
    faulty = first_of(counted, fresh)
    owner = select(gpu.OWNER)
    holder = group_by(first_of(owner.offset(_MOMENT), owner, on=GPU), *GPU, *fault.HOLDER)
    # Of a GPU that is shared or split nobody can tell whose fault it was.
    alone = holder.and_(count_by(holder, *GPU).compare("==", 1), on=GPU)
    hit = alone.and_(faulty, on=GPU)
    spread = count_by(select(fault.APP_FAULT_HOLDER), *_WORK).compare(">", 1)
    return (
        recording(fault.APP_FAULT_HOLDER, hit),
        recording(fault.APP_FAULT_ALONE, select(fault.APP_FAULT_HOLDER).unless(spread, on=_WORK)),
    )
