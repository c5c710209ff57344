"""Health endpoints."""

from dataclasses import replace

from gpuscope.nvml.identity import DriverStatus


def test_healthy_follows_the_watchdog(client):
    assert client.get("/-/healthy").status_code == 200
    client.source.verdict = (False, "the publisher has not run for 63 s")
    answer = client.get("/-/healthy")
    assert answer.status_code == 503
    assert "the publisher has not run for 63 s" in answer.text


def test_a_missing_driver_is_healthy_but_not_ready(client):
    driver = DriverStatus(ok=False, reason="library_not_found", message="libnvidia-ml.so.1 was not found")
    client.source.now = replace(client.source.now, ready=False, driver=driver, gpus=())
    assert client.get("/-/healthy").status_code == 200
    answer = client.get("/-/ready")
    assert answer.status_code == 503
    assert "driver: library_not_found libnvidia-ml.so.1 was not found" in answer.text


def test_ready_after_the_first_cycle(client):
    client.source.now = replace(client.source.now, ready=False)
    answer = client.get("/-/ready")
    assert answer.status_code == 503
    assert "first full cycle" in answer.text
    client.source.now = replace(client.source.now, ready=True)
    assert client.get("/-/ready").status_code == 200


def test_healthy_needs_no_snapshot(client):
    client.source.broken = True
    assert client.get("/-/healthy").status_code == 200
