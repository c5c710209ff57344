"""The telemetry path over HTTP."""

import gzip

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_classic

PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
CLASSIC = "text/plain; version=0.0.4; charset=utf-8"


def values(families):
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def test_classic_text_is_the_default_and_parses(client):
    answer = client.get("/metrics", headers={"Accept": None})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == CLASSIC
    found = values(parse_classic(answer.text))
    assert found["gpuscope_gpu_up", (("gpu", "1"), ("uuid", "GPU-00000001-1111-2222-3333-444444444444"))] == 0.0
    assert len(found) == sum(len(gpu.samples) for gpu in client.source.now.gpus)


@pytest.mark.parametrize("accept", [PROMETHEUS_2, PROMETHEUS_3])
def test_prometheus_gets_openmetrics_that_parses_to_the_same_values(client, accept):
    answer = client.get("/metrics", headers={"Accept": accept})
    assert answer.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert answer.text.endswith("# EOF\n")
    classic = client.get("/metrics", headers={"Accept": "text/plain"})
    assert values(parse_openmetrics(answer.text)) == values(parse_classic(classic.text))


def test_text_of_version_1_gets_classic_text(client):
    answer = client.get("/metrics", headers={"Accept": "text/plain;version=1.0.0;escaping=allow-utf-8"})
    assert answer.headers["Content-Type"] == CLASSIC


def test_gzip_is_sent_to_who_asks_and_the_bytes_are_the_same(client):
    plain = client.get("/metrics", headers={"Accept-Encoding": "identity"})
    packed = client.get("/metrics", headers={"Accept-Encoding": "gzip"}, stream=True)
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    raw = packed.raw.read(decode_content=False)
    assert len(raw) == int(packed.headers["Content-Length"])
    assert gzip.decompress(raw) == plain.content
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept, Accept-Encoding"


def test_gzip_with_quality_zero_is_not_sent(client):
    answer = client.get("/metrics", headers={"Accept-Encoding": "gzip;q=0, *"})
    assert "Content-Encoding" not in answer.headers


def test_head_gives_the_head_of_get_and_the_connection_stays(client):
    whole = client.get("/metrics", headers={"Accept-Encoding": "identity"})
    for _ in range(2):
        head = client.session.head(client.url + "/metrics", headers={"Accept-Encoding": "identity"}, timeout=30)
        assert head.status_code == 200
        assert head.content == b""
        assert head.headers["Content-Length"] == str(len(whole.content))
        assert head.headers["Content-Type"] == CLASSIC


def test_the_next_snapshot_is_served_at_once(client, build):
    client.source.now = build.snapshot_of(build.lost_gpu(5))
    assert 'gpuscope_gpu_up{gpu="5"' in client.get("/metrics").text


def test_another_telemetry_path(serve):
    client = serve(telemetry_path="/own/metrics.txt")
    assert client.get("/own/metrics.txt").status_code == 200
    assert client.get("/metrics").status_code == 404
    assert client.get("/own/metricsXtxt").status_code == 404


def test_query_parameters_of_scrapers_are_ignored(client):
    assert client.get("/metrics?name[]=up&module=x").status_code == 200


def test_answers_are_not_cached_and_do_not_say_which_server_it_is(client):
    headers = client.get("/metrics").headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Server" not in headers
