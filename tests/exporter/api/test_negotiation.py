"""Accept and Accept-Encoding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.api.negotiation import choose_format, wants_gzip

OM1 = "application/openmetrics-text; version=1.0.0; charset=utf-8"
OM0 = "application/openmetrics-text; version=0.0.1; charset=utf-8"
CLASSIC = "text/plain; version=0.0.4; charset=utf-8"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
PROTOBUF = (
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,"
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
    "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
    "text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", CLASSIC),
        ("*/*", CLASSIC),
        ("text/*", CLASSIC),
        (BROWSER, CLASSIC),
        ("application/json", CLASSIC),
        ("application/*", CLASSIC),
        (PROTOBUF, OM1),
        ("application/openmetrics-text", OM1),
        ("Application/OpenMetrics-Text; Version=1.0.0", OM1),
        ('application/openmetrics-text; version="1.0.0"; charset=utf-8', OM1),
        ("application/openmetrics-text;version=0.0.1", OM0),
        ("application/openmetrics-text;version=2.0.0", CLASSIC),
        ("application/openmetrics-text;version=0.0.1;q=0.9,application/openmetrics-text;version=1.0.0;q=0.2", OM0),
        ("application/openmetrics-text;q=0", CLASSIC),
        ("application/openmetrics-text;q=0.4,text/plain;q=0.5", CLASSIC),
        ("application/openmetrics-text;q=0.5,text/plain;q=0.5", OM1),
        ("application/openmetrics-text;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.9", OM1),
        ("application/openmetrics-text;q=0.5,*/*;q=0.9", CLASSIC),
        ("application/openmetrics-text;q=2", CLASSIC),
        ("application/openmetrics-text;q=high", CLASSIC),
        ("text/plain;version=1.0.0;escaping=allow-utf-8", CLASSIC),
        ("text/plain;version=0.0.4;q=0,application/openmetrics-text;q=0.1", OM1),
        (",,;q=1, ;,", CLASSIC),
    ],
)
def test_formats(accept, expected):
    chosen = choose_format(accept)
    assert chosen.content_type == expected
    assert chosen.openmetrics == expected.startswith("application/openmetrics-text")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", False),
        ("gzip", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("deflate, gzip;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000", False),
        ("gzip;q=0, *", False),
        ("*", True),
        ("*;q=0", False),
        ("identity", False),
        ("identity, gzip;q=0.5", False),
        ("gzip, identity;q=0.5", True),
        ("br, zstd", False),
        ("gzip;q=nonsense", False),
    ],
)
def test_gzip(header, expected):
    assert wants_gzip(header) is expected


@given(st.text(max_size=300))
def test_any_header_gets_a_known_answer(header):
    assert choose_format(header).content_type in {OM1, OM0, CLASSIC}
    assert wants_gzip(header) in {True, False}


qualities = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)


@given(qualities, qualities, st.booleans(), st.sampled_from([",", ", ", " ,\t"]))
def test_the_better_liked_format_wins_in_any_order(openmetrics, classic, swapped, comma):
    parts = [f"application/openmetrics-text;version=1.0.0;q={openmetrics}", f"text/plain;q={classic}"]
    chosen = choose_format(comma.join(reversed(parts) if swapped else parts))
    assert chosen.openmetrics == (openmetrics > 0 and openmetrics >= classic)
