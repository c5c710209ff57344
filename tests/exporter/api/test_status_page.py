"""The page at /."""

import base64
import hashlib
import re
import time
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from gpuscope.faults import sxids, xids
from gpuscope.nvml.identity import DriverStatus

HOSTILE = "<script>alert('x')</script>\"&"


class Reader(HTMLParser):
    """Collects tags, texts and links; refuses tags that are not closed in order."""

    VOID = ("meta", "rect", "link", "br")

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.links, self.open = [], [], [], []
        self.feed(page)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in {"href", "src"}]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def test_the_page_names_node_gpus_and_faults(client):
    answer = client.get("/")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    page = Reader(answer.text)
    for words in (
        "node-a",
        "Needs attention",
        "2 of 3",
        "580.95.05",
        "NVIDIA H100 80GB HBM3",
        "88 %",
        "20.0 of 80 GiB",
        "412 W",
        "61 °C memory 74 °C",
        "3g.40gb",
        "GI 8 · CI 0",
        "GPU 1 is lost",
        "XID 79 ×2",
        "GPU has fallen off the bus",
        "Drain the node, then reset the GPU",
        "GPU 2, GI 7 CI 0",
    ):
        assert words in page.text, words


def test_every_link_on_the_page_leads_somewhere(client):
    links = Reader(client.get("/").text).links
    assert "/metrics" in links
    for link in links:
        assert client.get(link).status_code == 200, link


def test_the_page_needs_no_script_and_nothing_from_elsewhere(client):
    answer = client.get("/")
    page = Reader(answer.text)
    assert not {"script", "img", "iframe", "form", "link"} & set(page.tags)
    assert not re.search(r"https?://|\son\w+=|style=", answer.text)
    style = re.search(r"<style>(.*)</style>", answer.text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert 'http-equiv="refresh" content="5"' in answer.text


def test_hostile_names_are_text(client, build):
    gpu = build.healthy_gpu(0, ("1g.10gb",), model=HOSTILE)
    fault = build.xid(gpu=0, meaning=HOSTILE, action=HOSTILE, message=HOSTILE, pci_bus_id=HOSTILE)
    driver = replace(build.driver, driver_version=HOSTILE, simulated=HOSTILE, cuda_version=HOSTILE)
    snapshot = build.snapshot_of(gpu, build.lost_gpu(1), node=HOSTILE, version=HOSTILE, faults=(fault,), driver=driver)
    client.source.now = snapshot
    client.source.verdict = (False, HOSTILE)
    text = client.get("/").text
    page = Reader(text)
    assert "script" not in page.tags
    assert "<script" not in text
    assert page.text.count("alert('x')") >= 8


def test_without_a_driver_the_page_says_what_to_do(client, build):
    driver = DriverStatus(ok=False, reason="library_not_found", message="shared library not found", since=build.now)
    client.source.now = build.snapshot_of(ready=False, driver=driver, expected_gpus=None)
    text = Reader(client.get("/").text).text
    assert "No driver" in text
    assert "libnvidia-ml.so.1" in text
    assert "shared library not found" in text
    assert "Install the NVIDIA driver" in text
    assert "keeps trying" in text
    assert "No GPU is known yet." in text


@pytest.mark.parametrize("reason", ["driver_not_loaded", "version_mismatch", "no_permission", "released", "new_word"])
def test_every_reason_has_advice(client, build, reason):
    driver = DriverStatus(ok=False, reason=reason, message="the driver's own words")
    client.source.now = build.snapshot_of(ready=False, driver=driver)
    text = Reader(client.get("/").text).text
    assert "the driver's own words" in text
    assert "No driver" in text


def test_the_driver_asking_for_a_reset_is_shown(client, build):
    gpu = build.healthy_gpu(0)
    samples = tuple(
        sample._replace(value=float(sample.labels[-1] == "gpu_reset"))
        if sample.metric.name == "gpuscope_gpu_recovery_action"
        else sample
        for sample in gpu.samples
    )
    client.source.now = build.snapshot_of(replace(gpu, samples=samples))
    assert "driver asks for: gpu reset" in Reader(client.get("/").text).text
    assert client.get("/api/v1/health").json()["reasons"] == ["GPU 0: the driver asks for gpu_reset"]


def test_a_well_node_says_so(client, build):
    client.source.now = build.snapshot_of(build.healthy_gpu(0))
    text = Reader(client.get("/").text).text
    assert "All well" in text
    assert "None since the agent started." in text


@pytest.mark.parametrize(
    ("action", "minutes_ago", "words"),
    [
        ("drain_and_reset", 5, "See faults"),
        ("restart_app", 5, "All well"),
        ("drain_and_reset", 90, "All well"),
        ("a_users_own_action", 5, "See faults"),
    ],
)
def test_a_node_with_a_serious_fault_lately_is_not_called_well(client, build, action, minutes_ago, words):
    fault = build.xid(gpu=0, action=action, last=time.time() - 60 * minutes_ago)
    client.source.now = build.snapshot_of(build.healthy_gpu(0), faults=(fault,), created=time.time())
    text = Reader(client.get("/").text).text
    assert words in text
    assert action != "a_users_own_action" or "a users own action" in text


@pytest.mark.parametrize(("seconds", "words"), [(300, "5 min ago"), (11520, "3 h 12 min ago"), (353000, "4 d 2 h ago")])
def test_ages_are_told_in_two_units_at_most(client, build, seconds, words):
    fault = build.xid(gpu=0, last=time.time() - seconds - 5)
    client.source.now = build.snapshot_of(build.healthy_gpu(0), faults=(fault,))
    assert words in Reader(client.get("/").text).text


@pytest.mark.parametrize("action", sorted({*xids.ACTIONS, *sxids.ACTIONS}))
def test_every_action_of_the_catalogues_is_a_sentence(client, build, action):
    client.source.now = build.snapshot_of(build.healthy_gpu(0), faults=(build.xid(action=action),))
    cells = Reader(client.get("/").text).texts
    assert action not in cells
    assert action.replace("_", " ") not in cells


def test_many_faults_are_cut_and_say_where_the_rest_is(client, build):
    faults = tuple(build.xid(code, last=build.now - code, kind="sxid", uuid=None) for code in range(1, 31))
    client.source.now = build.snapshot_of(build.healthy_gpu(0), faults=faults)
    text = Reader(client.get("/").text).text
    assert "SXid 20" in text
    assert "SXid 21" not in text
    assert "and 10 more" in text


def test_missing_gpus_and_starting_are_said(client, build):
    client.source.now = build.snapshot_of(build.healthy_gpu(0), expected_gpus=8, ready=False)
    text = Reader(client.get("/").text).text
    assert "7 of 8 expected GPUs are not there" in text
    assert "first full cycle" in text


def test_memory_of_a_shared_gpu_instance_is_not_shown_twice(client, build):
    gpu = build.healthy_gpu(0, ("1c.3g.40gb", "1c.3g.40gb"))
    second = gpu.mig[1]
    samples = tuple(
        sample for sample in gpu.samples if not (second.uuid in sample.labels and "memory" in sample.metric.name)
    )
    mig = (gpu.mig[0], replace(second, gi=gpu.mig[0].gi, ci=1))
    client.source.now = build.snapshot_of(replace(gpu, mig=mig, samples=samples))
    text = Reader(client.get("/").text).text
    assert text.count("4.0 of 10 GiB") == 1
    assert text.count("shared, see above") == 1


def test_with_metrics_at_the_root_there_is_no_page(serve):
    client = serve(telemetry_path="/")
    assert client.get("/").headers["Content-Type"].startswith("text/plain; version=0.0.4")
