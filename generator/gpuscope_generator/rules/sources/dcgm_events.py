"""What dcgm-exporter tells of clocks that were held down, and of XID errors."""

from __future__ import annotations

from gpuscope.catalogue import clocks, xid
from gpuscope_generator.external.dcgm import BLANK_INT32, CLOCK_EVENT_BITS, XID_LAST, XID_WINDOW, fields
from gpuscope_generator.normalized import fault, gpu
from gpuscope_generator.promql import (
    Matcher,
    Vector,
    changes,
    clamp,
    count_values,
    first_of,
    floor,
    max_by,
    max_over_time,
    resampled,
)
from gpuscope_generator.rules.model import Recording, recording
from gpuscope_generator.rules.sources.canonical import of_source
from gpuscope_generator.rules.sources.dcgm_reading import SOURCE, Dcgm
from gpuscope_generator.rules.sources.labels import labelled

__all__ = ["dcgm_events"]

_NANOSECONDS = 1e9
_LONGEST_SHARE = 1.5
"""A larger share of a time than all of it is no measurement, but a jump of the counter to a blank."""


def dcgm_events(dcgm: Dcgm) -> tuple[Recording, ...]:
    """Rules for throttling and for XID errors."""
    agent = dcgm.agent
    throttled = agent.yields(agent.yields(_held(dcgm), clocks.EVENT_SECONDS), clocks.EVENT_ACTIVE)
    return (
        recording(gpu.THROTTLED, clamp(throttled, high=1)),
        recording(gpu.XID_ERRORS_HOURLY, agent.yields(_xids(dcgm), xid.XID_ERRORS)),
        recording(fault.XIDS, agent.yields(_recent(dcgm), xid.XID_ERRORS)),
    )


def _held(dcgm: Dcgm) -> Vector:
    """Share of five minutes by reason: from the counters of nanoseconds, else from the mask of reasons."""
    by_reason: dict[str, list[Vector]] = {}
    for field in fields(clocks.EVENT_SECONDS):
        shares = (dcgm.rated(series, _LONGEST_SHARE * _NANOSECONDS) / _NANOSECONDS for series in field.series)
        by_reason.setdefault(field.labels["reason"], []).extend(shares)
    times = first_of(
        *(labelled(max_by(dcgm.named(first_of(*raw)), *gpu.GPU), reason=reason) for reason, raw in by_reason.items())
    )
    names = {series.name: series for field in fields(clocks.EVENT_ACTIVE) for series in field.series}
    mask = first_of(*(dcgm.level(series, BLANK_INT32) for series in names.values()))
    sampled = []
    for reason, bit in CLOCK_EVENT_BITS.items():
        share = resampled("avg_over_time", floor(mask / 2**bit) % 2, "5m", "1m")
        sampled.append(labelled(max_by(dcgm.named(share), *gpu.GPU), reason=reason))
    return times.or_(first_of(*sampled).unless(times, on=gpu.GPU))


def _xids(dcgm: Dcgm) -> Vector:
    """XID errors of an hour.

    The exporter counts them over a window of its own, of five minutes where nothing else is set: looked at every five
    minutes, each error is seen once. Of another window the fullest one in the hour is the least that happened. Without
    that metric there is the last code, and whether it changed.
    """
    coded = Matcher("xid", "!~", "0|")
    usual = of_source(XID_WINDOW, dcgm.settings, SOURCE, coded, Matcher("window_size_in_ms", "=", "300000"))
    other = of_source(XID_WINDOW, dcgm.settings, SOURCE, coded, Matcher("window_size_in_ms", "!=", "300000"))
    counted = max_by(
        dcgm.named(resampled("sum_over_time", usual, "1h", "5m").or_(max_over_time(other, "1h"))), *gpu.GPU, "xid"
    ).compare(">", 0)
    return counted.or_(_changed(dcgm, "1h"))


def _recent(dcgm: Dcgm) -> Vector:
    """XID errors of the exporter's own window; without it the last code, where it changed within ten minutes."""
    counted = of_source(XID_WINDOW, dcgm.settings, SOURCE, Matcher("xid", "!~", "0|")).compare(">", 0)
    return max_by(dcgm.named(counted), *gpu.GPU, "xid").or_(_changed(dcgm, "10m"))


def _changed(dcgm: Dcgm, window: str) -> Vector:
    """1 for the last code where it changed in a window, of GPUs whose errors the exporter does not count."""
    watched = max_by(dcgm.named(of_source(XID_WINDOW, dcgm.settings, SOURCE)), *gpu.GPU)
    last = first_of(*(dcgm.level(series, BLANK_INT32) for series in XID_LAST)).compare(">", 0)
    moved = first_of(*(changes(of_source(series, dcgm.settings, SOURCE), window) for series in XID_LAST))
    changed = max_by(dcgm.named(last), *gpu.GPU).and_(max_by(dcgm.named(moved), *gpu.GPU).compare(">", 0), on=gpu.GPU)
    return count_values("xid", changed, *gpu.GPU).unless(watched, on=gpu.GPU)
