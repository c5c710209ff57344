"""The page at /."""

import base64
import hashlib
import re
import time
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from gpuscope.attribution.allocation import Allocation, Container, Job, PodHold
from gpuscope.catalogue import by_name
from gpuscope.catalogue.metric import Sample
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


def hold(pod, namespace="team-a", **more):
    return PodHold(Container(namespace, pod, "main"), **more)


def cells(client, column):
    """Text of each row's cell in a column of the table of GPUs."""
    page = client.get("/").text.split("<h2>GPUs</h2>")[1].split("</table>")[0]
    found = re.findall(rf'<td data-label="{column}"><div>(.*?)</td>', page)
    return [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in found]


def test_holders_and_states_of_gpus_and_mig_instances_are_shown(client, build):
    gpus = [build.healthy_gpu(0), build.healthy_gpu(1), build.lost_gpu(2), build.healthy_gpu(3), build.healthy_gpu(4)]
    split = build.healthy_gpu(5, ("3g.40gb", "1g.10gb"))
    first, second, lost, free, used = (gpu.identity.uuid for gpu in gpus)
    pods = {
        first: (hold("llama-0"), hold("side", "team-b", replica="1"), hold("side", "team-b", replica="2")),
        lost: (hold("was-there"),),
        split.mig[0].uuid: tuple(hold(f"chat-{number}") for number in range(5)),
    }
    allocation = Allocation(pods=pods, jobs={second: (Job("4711", "mei"), Job("4712"))}, in_use=frozenset({used}))
    states = {
        first: "busy",
        second: "idle_allocated",
        lost: "unhealthy",
        free: "unallocated",
        used: "unknown",
        split.mig[0].uuid: "busy",
        split.mig[1].uuid: "unallocated",
    }
    client.source.now = build.snapshot_of(*gpus, split, allocation=allocation, allocation_states=states)
    Reader(client.get("/").text)
    assert cells(client, "Held by") == [
        "busy team-a/llama-0 team-b/side ×2",
        "idle job 4711 (mei) job 4712",
        "team-a/was-there",
        "free",
        "unknown a process of no pod or job",
        "busy team-a/chat-0 team-a/chat-1 team-a/chat-2 and 2 more",
        "free",
    ]


def test_without_attribution_there_is_no_column_of_holders(client, build):
    client.source.now = build.snapshot_of(build.healthy_gpu(0))
    assert "Held by" not in client.get("/").text


def node_samples(*rows):
    return tuple(Sample(by_name(f"gpuscope_{name}"), labels, value) for name, labels, value in rows)


@pytest.mark.parametrize(
    ("samples", "title", "words", "verdict"),
    [
        (
            [
                ("filesystem_up", ("lustre01", "/l"), 0.0),
                ("filesystem_failure_info", ("lustre01", "/l", "timeout"), 1.0),
            ],
            "/l does not answer",
            "File system lustre01. A call has not returned in time",
            "Needs attention",
        ),
        (
            [("filesystem_up", ("", "/l"), 0.0), ("filesystem_failure_info", ("", "/l", "missing"), 1.0)],
            "/l is not mounted",
            "It is expected here",
            "Needs attention",
        ),
        ([("filesystem_up", ("fs", "/l"), 0.0)], "/l does not answer", "The call fails", "Needs attention"),
        (
            [("attribution_source_failure_info", ("kubelet", "no_permission"), 1.0)],
            "Kubelet does not tell who holds which GPU (no permission)",
            "user id 0",
            "All well",
        ),
        (
            [("attribution_source_failure_info", ("kubelet", "missing"), 1.0)],
            "Kubelet does not tell who holds which GPU (missing)",
            "--pod-resources.socket off",
            "All well",
        ),
        (
            [("attribution_source_failure_info", ("job_files", "new_word"), 1.0)],
            "Job files do not tell who holds which GPU (new word)",
            "--job-mapping-dir",
            "All well",
        ),
        (
            [("collector_success", ("power",), 0.0), ("collector_success", ("lustre",), 0.0)],
            "Collectors that fail: lustre, power",
            "log",
            "All well",
        ),
    ],
)
def test_what_does_not_answer_is_a_notice(client, build, samples, title, words, verdict):
    client.source.now = build.snapshot_of(build.healthy_gpu(0), node_samples=node_samples(*samples))
    text = Reader(client.get("/").text).text
    assert title in text
    assert words in text
    assert verdict in text


def test_what_answers_is_no_notice(client, build):
    fine = node_samples(
        ("filesystem_up", ("fs", "/l"), 1.0),
        ("filesystem_failure_info", ("fs", "/unknown", "not_visible"), 1.0),
        ("attribution_source_up", ("kubelet",), 1.0),
        ("collector_success", ("power",), 1.0),
    )
    client.source.now = build.snapshot_of(build.healthy_gpu(0), node_samples=fine, created=time.time())
    assert 'class="notice' not in client.get("/").text


def test_many_mounts_that_are_down_do_not_hide_the_page(client, build):
    down = node_samples(*(("filesystem_up", (f"fs{number}", f"/m{number}"), 0.0) for number in range(40)))
    client.source.now = build.snapshot_of(build.healthy_gpu(0), node_samples=down)
    text = Reader(client.get("/").text).text
    assert text.count("does not answer") == 5
    assert "35 more mounts do not answer" in text


def test_hostile_names_are_text(client, build):
    gpu = build.healthy_gpu(0, ("1g.10gb",), model=HOSTILE)
    fault = build.xid(gpu=0, meaning=HOSTILE, action=HOSTILE, message=HOSTILE, pci_bus_id=HOSTILE)
    driver = replace(build.driver, driver_version=HOSTILE, simulated=HOSTILE, cuda_version=HOSTILE)
    snapshot = build.snapshot_of(
        gpu,
        build.lost_gpu(1),
        node=HOSTILE,
        version=HOSTILE,
        faults=(fault,),
        driver=driver,
        allocation=Allocation(
            pods={gpu.identity.uuid: (hold(HOSTILE, HOSTILE),)}, jobs={gpu.identity.uuid: (Job(HOSTILE, HOSTILE),)}
        ),
        node_samples=node_samples(
            ("filesystem_up", (HOSTILE, HOSTILE), 0.0),
            ("attribution_source_failure_info", (HOSTILE, HOSTILE), 1.0),
            ("collector_success", (HOSTILE,), 0.0),
        ),
    )
    client.source.now = snapshot
    client.source.verdict = (False, HOSTILE)
    text = client.get("/").text
    page = Reader(text)
    assert "script" not in page.tags
    assert "<script" not in text
    assert page.text.count("alert('x')") >= 16


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
