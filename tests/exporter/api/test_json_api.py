"""What /api/v1 answers."""

from dataclasses import replace

import pytest

from gpuscope.attribution.allocation import Allocation, Container, Job, PodHold

GIB = 1 << 30
UUIDS = [f"GPU-{index:08x}-1111-2222-3333-444444444444" for index in range(3)]


def test_a_gpu_has_identity_state_summary_and_readings(client):
    document = client.get("/api/v1/gpus").json()
    assert document["node"] == "node-a"
    assert document["generated_at"] == "2026-09-21T14:13:20.250Z"
    assert document["driver"]["driver_version"] == "580.95.05"
    gpu = document["gpus"][0]
    assert (gpu["index"], gpu["uuid"], gpu["state"]) == (0, UUIDS[0], "ok")
    assert gpu["memory"] == {
        "total_bytes": 80 * GIB,
        "used_bytes": 20 * GIB,
        "free_bytes": 59.5 * GIB,
        "reserved_bytes": GIB // 2,
    }
    assert (gpu["utilization_ratio"], gpu["power_watts"], gpu["temperature_celsius"]) == (0.875, 412.5, 61)
    assert gpu["recovery_action"] == "none"
    memory_temperature = {
        "name": "gpuscope_gpu_temperature_celsius",
        "kind": "gauge",
        "unit": "celsius",
        "labels": {"sensor": "memory"},
        "value": 74,
    }
    assert memory_temperature in gpu["readings"]
    assert len(gpu["readings"]) == len(client.source.now.gpus[0].samples)


def test_bytes_are_whole_numbers(client):
    assert f'"total_bytes":{80 * GIB},' in client.get("/api/v1/gpus").text


def test_a_lost_gpu_has_no_readings_and_unknown_is_null(client):
    gpu = client.get(f"/api/v1/gpus/{UUIDS[1]}").json()["gpu"]
    assert gpu["state"] == "lost"
    assert gpu["since"] == "2026-09-21T14:12:20.250Z"
    assert [reading["name"] for reading in gpu["readings"]] == ["gpuscope_gpu_up"]
    assert set(gpu["memory"].values()) == {None}
    assert gpu["utilization_ratio"] is gpu["power_watts"] is gpu["recovery_action"] is None


def test_an_unknown_reason_is_an_error_state(client, build):
    client.source.now = build.snapshot_of(build.lost_gpu(0, reason="something_new"))
    assert client.get("/api/v1/gpus").json()["gpus"][0]["state"] == "error"


def test_mig_instances_have_their_own_readings(client):
    gpu = client.get(f"/api/v1/gpus/{UUIDS[2]}").json()["gpu"]
    assert gpu["utilization_ratio"] is None
    assert [instance["profile"] for instance in gpu["mig_instances"]] == ["3g.40gb", "1g.10gb"]
    instance = gpu["mig_instances"][1]
    assert (instance["gi"], instance["ci"], instance["gpu_uuid"]) == (8, 0, UUIDS[2])
    assert instance["memory"]["used_bytes"] == 4 * GIB
    assert instance["memory"]["free_bytes"] is None
    assert (instance["sm_active_ratio"], instance["graphics_active_ratio"]) == (0.5, 0.625)
    assert len(instance["readings"]) == 4
    assert not any("_mig_" in reading["name"] for reading in gpu["readings"])
    assert client.get("/api/v1/mig").json()["mig_instances"] == gpu["mig_instances"]


@pytest.mark.parametrize(
    ("query", "indexes"),
    [
        ("", [0, 1, 2]),
        ("?state=ok", [0, 2]),
        ("?state=lost", [1]),
        ("?state=lost&state=ok", [0, 1, 2]),
        ("?state=timeout", []),
        ("?profile=1g.10gb", [2]),
        ("?profile=7g.80gb", []),
        ("?node=node-a", [0, 1, 2]),
        ("?node=node-b", []),
        ("?state=ok&profile=3g.40gb&node=node-a", [2]),
    ],
)
def test_gpus_are_filtered(client, query, indexes):
    assert [gpu["index"] for gpu in client.get(f"/api/v1/gpus{query}").json()["gpus"]] == indexes


@pytest.mark.parametrize(
    ("query", "profiles"),
    [
        ("?profile=1g.10gb", ["1g.10gb"]),
        ("?state=lost", []),
        ("?state=ok", ["3g.40gb", "1g.10gb"]),
        ("?node=node-b", []),
    ],
)
def test_mig_instances_are_filtered(client, query, profiles):
    instances = client.get(f"/api/v1/mig{query}").json()["mig_instances"]
    assert [instance["profile"] for instance in instances] == profiles


CONTAINER = Container("ml", "train-0", "main")


@pytest.fixture
def held(client):
    """GPU 0 is held by a pod, one MIG instance of GPU 2 by two, the other one is free."""
    first, second = (instance["uuid"] for instance in client.get("/api/v1/mig").json()["mig_instances"])
    pods = {
        UUIDS[0]: (PodHold(CONTAINER, "0a1b", "nvidia.com/gpu"),),
        first: (
            PodHold(CONTAINER._replace(pod="a"), resource="nvidia.com/mig-3g.40gb.shared", replica="0"),
            PodHold(CONTAINER._replace(namespace="dev", pod="b", container="")),
        ),
    }
    jobs = {UUIDS[0]: (Job("4711", "alice"), Job("4712"))}
    client.source.now = replace(
        client.source.now,
        allocation=Allocation(pods=pods, jobs=jobs, complete=True),
        allocation_states={UUIDS[0]: "busy", UUIDS[1]: "unhealthy", first: "idle_allocated", second: "unallocated"},
    )
    return client


def test_holders_are_told_with_what_each_has(held):
    gpus = held.get("/api/v1/gpus").json()["gpus"]
    assert gpus[0]["allocation"] == {
        "state": "busy",
        "known": "allocated",
        "pods": [
            {
                "namespace": "ml",
                "pod": "train-0",
                "container": "main",
                "pod_uid": "0a1b",
                "resource": "nvidia.com/gpu",
                "replica": None,
            }
        ],
        "jobs": [{"job_id": "4711", "user": "alice"}, {"job_id": "4712", "user": None}],
    }
    assert gpus[2]["allocation"]["state"] is None, "a GPU in MIG mode has its MIG instances' states"
    shared, free = (instance["allocation"] for instance in gpus[2]["mig_instances"])
    assert [(pod["pod"], pod["container"], pod["replica"]) for pod in shared["pods"]] == [
        ("a", "main", "0"),
        ("b", None, None),
    ]
    assert free == {"state": "unallocated", "known": "unallocated", "pods": [], "jobs": []}


@pytest.mark.parametrize(
    ("query", "indexes", "profiles"),
    [
        ("?allocation=busy", [0], []),
        ("?allocation=idle_allocated", [2], ["3g.40gb"]),
        ("?allocation=unallocated&allocation=idle_allocated", [2], ["3g.40gb", "1g.10gb"]),
        ("?allocation=unknown", [], []),
        ("?namespace=ml", [0, 2], ["3g.40gb"]),
        ("?namespace=dev", [2], ["3g.40gb"]),
        ("?namespace=dev&allocation=unallocated", [], []),
        ("?namespace=nobody", [], []),
    ],
)
def test_what_is_held_is_filtered(held, query, indexes, profiles):
    assert [gpu["index"] for gpu in held.get(f"/api/v1/gpus{query}").json()["gpus"]] == indexes
    instances = held.get(f"/api/v1/mig{query}").json()["mig_instances"]
    assert [instance["profile"] for instance in instances] == profiles


def test_without_a_source_nothing_is_called_free(client):
    for gpu in client.get("/api/v1/gpus").json()["gpus"]:
        assert gpu["allocation"] == {"state": None, "known": "unknown", "pods": [], "jobs": []}


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("", [94, 79]),
        ("?code=79", [79]),
        ("?code=079&code=94", [94, 79]),
        (f"?uuid={UUIDS[2]}", [94]),
        ("?node=node-b", []),
    ],
)
def test_faults_come_latest_first_and_are_filtered(client, query, codes):
    assert [fault["code"] for fault in client.get(f"/api/v1/faults{query}").json()["faults"]] == codes


def test_a_fault_says_where_it_happened(client):
    fault = client.get("/api/v1/faults?code=94").json()["faults"][0]
    assert (fault["gpu_index"], fault["gpu_uuid"], fault["gi"], fault["ci"]) == (2, UUIDS[2], 7, 0)
    assert fault["count"] == 2
    assert fault["class"] == "off_bus"


@pytest.mark.parametrize(
    ("path", "parameter", "allowed"),
    [
        ("/api/v1/gpus?stat=ok", "stat", ["allocation", "namespace", "node", "profile", "state"]),
        ("/api/v1/health?verbose=1", "verbose", []),
        ("/api/v1/gpus?state=fine", "state", ["ok", "lost", "timeout", "reset_required", "driver", "error"]),
        ("/api/v1/gpus?state=", "state", ["ok", "lost", "timeout", "reset_required", "driver", "error"]),
        ("/api/v1/gpus?state=ok&state=fine", "state", ["ok", "lost", "timeout", "reset_required", "driver", "error"]),
        ("/api/v1/mig?profile=3g40gb", "profile", None),
        ("/api/v1/faults?code=-1", "code", None),
        ("/api/v1/faults?code=%D9%A1", "code", None),
        ("/api/v1/gpus?node=%ff%00", "node", None),
    ],
)
def test_wrong_queries_are_refused_with_the_reason(client, path, parameter, allowed):
    answer = client.get(path)
    if parameter == "node":
        assert answer.status_code == 200
        assert answer.json()["gpus"] == []
        return
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == ("invalid_value" if "value" in error else "unknown_parameter")
    assert error["parameter"] == parameter
    assert error.get("allowed") == allowed


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v1", "/api/v1/gpus/", "/api/v1/gpus/a/b", "/api/v2/gpus"])
def test_unknown_paths_below_api_get_json(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json() == {"error": {"code": "not_found", "message": "Not Found"}}


def test_health_has_three_states(client, build):
    document = client.get("/api/v1/health").json()
    assert document["status"] == "issue"
    assert document["reasons"] == ["GPU 1 is lost"]
    assert document["gpus"]["by_state"]["ok"] == 2
    client.source.now = build.snapshot_of(build.healthy_gpu(0))
    assert client.get("/api/v1/health").json()["status"] == "ok"
    client.source.now = replace(client.source.now, expected_gpus=8)
    assert client.get("/api/v1/health").json()["reasons"] == ["7 of 8 expected GPUs are missing"]
    client.source.now = replace(client.source.now, ready=False)
    assert client.get("/api/v1/health").json()["status"] == "unknown"


def test_health_says_when_the_agent_is_stuck(client, build):
    client.source.now = build.snapshot_of(build.healthy_gpu(0))
    client.source.verdict = (False, "no cycle for 61 s")
    document = client.get("/api/v1/health").json()
    assert (document["status"], document["alive"]) == ("issue", False)
    assert document["reasons"] == ["the agent is stuck: no cycle for 61 s"]


def test_answers_follow_the_snapshot(client, build):
    before = client.get("/api/v1/gpus").json()
    assert client.get("/api/v1/gpus").json() == before
    client.source.now = build.snapshot_of(build.healthy_gpu(9))
    assert [gpu["index"] for gpu in client.get("/api/v1/gpus").json()["gpus"]] == [9]


def test_json_is_compressed_for_who_likes_it(client):
    packed = client.get("/api/v1/gpus", headers={"Accept-Encoding": "gzip"})
    plain = client.get("/api/v1/gpus", headers={"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.json() == plain.json()


def test_many_different_queries_do_not_confuse_answers(client):
    for number in range(70, 150):
        assert client.get(f"/api/v1/faults?code={number}").json()["faults"] == [
            fault for fault in client.get("/api/v1/faults").json()["faults"] if fault["code"] == number
        ]
