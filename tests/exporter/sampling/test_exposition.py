"""Rendering: escaping, numbers, both formats, compression."""

import gzip
import math

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families

from gpuscope.catalogue.metric import Kind, Level, Metric, Sample, Tier
from gpuscope.sampling.exposition import Exposition, render_blocks

GAUGE = Metric(
    name="gpuscope_x_watts",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("a", "b"),
    help='A "help"\nwith \\',
    tier=Tier.SELF,
)
COUNTER = Metric(name="gpuscope_x_total", kind=Kind.COUNTER, level=Level.NODE, help="Counts.", tier=Tier.SELF)


def _exposition(*samples: Sample) -> Exposition:
    return Exposition([render_blocks(samples)], (GAUGE, COUNTER))


@given(a=st.text(), b=st.text(), value=st.floats(allow_nan=False, allow_infinity=False))
def test_any_label_and_number_survive_both_formats(a: str, b: str, value: float) -> None:
    exposition = _exposition(Sample(GAUGE, (a, b), value))
    for openmetrics, parse in ((False, text_string_to_metric_families), (True, openmetrics_families)):
        # The parsers split lines like Python does; Prometheus and the formats know only the line feed.
        if any(len(text.splitlines()) > 1 or text.splitlines() != [text][: len(text)] for text in (a, b) if text):
            continue
        (family,) = parse(exposition.body(openmetrics=openmetrics).decode())
        (sample,) = family.samples
        assert sample.labels == {"a": a, "b": b}
        assert math.isclose(sample.value, value, rel_tol=1e-15, abs_tol=0)


def test_counters_lose_their_suffix_in_openmetrics_headers_only() -> None:
    exposition = _exposition(Sample(COUNTER, (), 3))
    assert "# TYPE gpuscope_x_total counter\ngpuscope_x_total 3\n" in exposition.body().decode()
    assert exposition.body(openmetrics=True).decode().endswith("# TYPE gpuscope_x counter\ngpuscope_x_total 3\n# EOF\n")


def test_families_follow_the_catalogue_and_not_the_sources() -> None:
    first = render_blocks([Sample(COUNTER, (), 1), Sample(GAUGE, ("1", "1"), 1)])
    second = render_blocks([Sample(GAUGE, ("2", "2"), 2)])
    lines = Exposition([first, second], (GAUGE, COUNTER)).body().decode().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        'gpuscope_x_watts{a="1",b="1"} 1',
        'gpuscope_x_watts{a="2",b="2"} 2',
        "gpuscope_x_total 1",
    ]


def test_gzip_holds_the_same_text() -> None:
    exposition = _exposition(Sample(COUNTER, (), 1.5))
    assert gzip.decompress(exposition.body(compressed=True)) == exposition.body()
    assert exposition.series == 1
