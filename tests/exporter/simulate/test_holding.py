"""Mistakes in the pods and jobs of a scenario are named with file, line and key, before anything runs."""

import pytest

from gpuscope import simulate
from gpuscope.errors import ConfigError

GPUS = """gpus:
  - {model: h100-sxm, count: 2, job: training}
  - {model: h100-sxm, replicas: 2}
  - {model: h100-sxm, mig: [{profile: 3g.40gb, ci: [1, 2]}, {profile: 2g.20gb}]}
"""
# The text of each stands from line 5 on.
MISTAKES = [
    ("pods: {name: a}", "mine.yaml:5: pods: must be a list of pods"),
    ("pods: [1]", "mine.yaml:5: pods.0: must be a mapping with the keys"),
    ("pods:\n- {namespace: a, nam: b}", "mine.yaml:6: pods.0.nam: unknown key; did you mean name"),
    (
        "pods: [5]",
        "pods.0: must be a mapping with the keys activity, begin, claim, containers, end, every, gpus, ids, "
        "job_name, mig, name, namespace, resource, uid",
    ),
    ("pods:\n- {name: b}", "mine.yaml:6: pods.0.namespace: is missing"),
    ("pods:\n- {namespace: a}", "mine.yaml:6: pods.0.name: is missing"),
    ("pods:\n- {namespace: A_B, name: b}", "mine.yaml:6: pods.0.namespace: 'A_B' is not a namespace"),
    ("pods:\n- {namespace: a, name: ../b}", "pods.0.name: '../b' is not a pod's name"),
    ('pods:\n- {namespace: a, name: "b\\n"}', "pods.0.name: 'b\\n' is not a pod's name"),
    (f"pods:\n- {{namespace: a, name: {'b' * 101}}}", "is not a pod's name of at most 100 characters"),
    ("pods:\n- {namespace: a, name: 5}", "pods.0.name: 5 is no text; put it in quotes"),
    ("pods:\n- {namespace: a, name: b, uid: 1}", "pods.0.uid: 1 is no text"),
    ("pods:\n- {namespace: a, name: b, uid: x}", "pods.0.uid: 'x' is not a uid"),
    (
        "pods:\n- {namespace: a, name: b, end: 5, every: 10, uid: 1b3e1a0c-9d4f-4c1e-8a77-0f4e2f9c1d23}",
        "pods.0.uid: a pod that comes again has another uid each time",
    ),
    ("pods:\n- {namespace: a, name: b, gpus: [9]}", "mine.yaml:6: pods.0.gpus.0: there is no GPU 9; the machine has 4"),
    ("pods:\n- {namespace: a, name: b, gpus: [-1]}", "pods.0.gpus.0: -1 is not a whole number from 0 to 99"),
    ("pods:\n- {namespace: a, name: b, gpus: [1e99]}", "pods.0.gpus.0: '1e99' is not a whole number"),
    ("pods:\n- {namespace: a, name: b, gpus: [0, 0]}", "pods.0.gpus.1: GPU 0 is given twice"),
    ("pods:\n- {namespace: a, name: b, gpus: 0}", "pods.0.gpus: must be a list of devices"),
    ("pods:\n- {namespace: a, name: b, gpus: [3]}", "pods.0.gpus.0: GPU 3 has MIG on and cannot be held as a whole"),
    ("pods:\n- {namespace: a, name: b, mig: [0/0]}", "pods.0.mig.0: GPU 0 has no MIG devices"),
    ("pods:\n- {namespace: a, name: b, mig: [3/3]}", "pods.0.mig.0: GPU 3 has 3 MIG devices, counted from 0"),
    ("pods:\n- {namespace: a, name: b, mig: [3:1]}", "pods.0.mig.0: 181 is no MIG device like 4/0"),
    ("pods:\n- {namespace: a, name: b, mig: [3]}", "pods.0.mig.0: 3 is no MIG device like 4/0"),
    ("pods:\n- {namespace: a, name: b, begin: -1}", "pods.0.begin: -1 is not a whole number from 0 to 1e+09"),
    ("pods:\n- {namespace: a, name: b, begin: 1.5}", "pods.0.begin: 1.5 is not a whole number"),
    ("pods:\n- {namespace: a, name: b, begin: 5, end: 5}", "pods.0.end: 5 does not come after the begin, 5"),
    ("pods:\n- {namespace: a, name: b, end: 9999999999}", "pods.0.end: 9999999999 is not a whole number from"),
    ("pods:\n- {namespace: a, name: b, every: 50}", "pods.0.every: needs an end"),
    ("pods:\n- {namespace: a, name: b, end: 60, every: 50}", "pods.0.every: 50 is shorter than the 60 s"),
    ("pods:\n- {namespace: a, name: b, end: 1, every: 9}", "pods.0.every: 9 is not a whole number from 10"),
    ("pods:\n- {namespace: a, name: b, activity: mining}", "pods.0.activity: 'mining' is not one of batch"),
    ("pods:\n- {namespace: a, name: b, job_name: 5}", "pods.0.job_name: 5 is no text"),
    ("pods:\n- {namespace: a, name: b, gpus: [0], resource: gpu}", "pods.0.resource: 'gpu' is not a resource's name"),
    ("pods:\n- {namespace: a, name: b, gpus: [0], claim: c, ids: gke}", "pods.0.claim: devices of a claim have no"),
    ("pods:\n- {namespace: a, name: b, gpus: [0], claim: C}", "pods.0.claim: 'C' is not the name of a ResourceClaim"),
    ("pods:\n- {namespace: a, name: b, gpus: [0], ids: index}", "pods.0.ids: 'index' is not one of gke"),
    ("pods:\n- {namespace: a, name: b, containers: []}", "pods.0.containers: a pod has 1 to 16 containers"),
    (
        "pods:\n- {namespace: a, name: b, gpus: [0], containers: [{name: c}]}",
        "pods.0.gpus: stands in one of the containers, or without containers",
    ),
    ("pods:\n- {namespace: a, name: b, containers: [{}]}", "pods.0.containers.0.name: is missing"),
    ("pods:\n- {namespace: a, name: b, containers: [{name: c.d}]}", "'c.d' is not a container's name"),
    ("pods:\n- {namespace: a, name: b, containers: [{name: c}, {name: c}]}", "pods.0.containers.1.name: c is there tw"),
    (
        "pods:\n- {namespace: a, name: b, containers: [{name: c, gpus: [0]}, {name: d, gpus: [0]}]}",
        "pods.0.containers.1.gpus.0: GPU 0 is held by another container of the pod",
    ),
    ("pods:\n- {namespace: a, name: b}\n- {namespace: a, name: b}", "mine.yaml:7: pods.1.name: a/b is there twice"),
    (f"pods: [{', '.join('{}' for _ in range(201))}]", "pods: 201 pods; a machine has at most 200"),
    ("jobs: 5", "mine.yaml:5: jobs: must be a list of jobs"),
    ("jobs: [{}]", "jobs.0.id: is missing; it is a whole number"),
    ("jobs:\n- {id: 0, user: a}", "mine.yaml:6: jobs.0.id: 0 is not a whole number from 1"),
    ("jobs:\n- {id: 5}", "jobs.0.user: is missing"),
    ("jobs:\n- {id: 5, user: A B}", "jobs.0.user: 'A B' is not a user's name"),
    ("jobs:\n- {id: 5, user: a}", "jobs.0: a job needs gpus or mig"),
    ("jobs:\n- {id: 5, user: a, gpus: [0], account: a=b}", "jobs.0.account: 'a=b' is not one word"),
    ("jobs:\n- {id: 5, user: a, gpus: [0], shared: 1}", "jobs.0.shared: 1 is neither true nor false"),
    (
        "jobs:\n- {id: 5, user: a, gpus: [0]}\n- {id: 5, user: a, gpus: [1]}",
        "mine.yaml:7: jobs.1.id: 5 collides with job 5",
    ),
    (
        "jobs:\n- {id: 5, user: a, gpus: [0], end: 9, every: 10}\n- {id: 2005, user: a, gpus: [1]}",
        "jobs.1.id: 2005 collides with job 5, now or when it comes again",
    ),
    (
        "jobs:\n- {id: 5, user: a, gpus: [0], attempts: 2}",
        "jobs.0.attempts: needs every: a job that does not come again",
    ),
    ("jobs:\n- {id: 5, user: a, gpus: [0], attempts: 0}", "jobs.0.attempts: 0 is not a whole number from 1"),
    ("began: soon", "began: 'soon' is not a whole number"),
    (f"jobs: [{', '.join('{}' for _ in range(201))}]", "jobs: 201 jobs; a machine has at most 200"),
]
OVERLAPS = [
    (
        "pods:\n- {namespace: a, name: one, gpus: [0]}\n- namespace: a\n  name: two\n  gpus:\n    - 1\n    - 0\n",
        "mine.yaml:11: pods.1.gpus.1: GPU 0 is not shared and is held by a/one at that time",
    ),
    (
        "pods:\n- {namespace: a, name: one, mig: [3/1], end: 100}\n"
        "- {namespace: a, name: two, mig: [3/1], begin: 99}\n",
        "mine.yaml:7: pods.1.mig.0: MIG device 3/1 is not shared and is held by a/one",
    ),
    (
        "pods:\n- {namespace: a, name: one, gpus: [0], end: 50, every: 60}\n"
        "- {namespace: a, name: two, gpus: [0], begin: 50, end: 60, every: 70}\n",
        "GPU 0 is not shared and is held by",
    ),
    (
        "pods:\n" + "".join(f"- {{namespace: a, name: p{n}, gpus: [2]}}\n" for n in range(3)),
        "mine.yaml:8: pods.2.gpus.0: GPU 2 has 2 shares and is held by a/p0, a/p1 at that time",
    ),
    (
        "pods:\n- {namespace: a, name: one, gpus: [0]}\njobs:\n- {id: 5, user: mei, gpus: [0]}\n",
        "mine.yaml:8: jobs.0.gpus.0: GPU 0 is not shared and is held by a/one at that time",
    ),
    (
        "jobs:\n- {id: 5, user: a, gpus: [0], shared: true}\n- {id: 6, user: a, gpus: [0]}\n",
        "mine.yaml:7: jobs.1.gpus.0: GPU 0 is not shared and is held by job 5",
    ),
    (
        "pods:\n- {namespace: a, name: one, gpus: [0], claim: c}\n- {namespace: b, name: two, gpus: [0], claim: c}\n",
        "mine.yaml:7: pods.1.gpus.0: GPU 0 is not shared and is held by a/one",
    ),
]
FINE = [
    "pods:\n- {namespace: a, name: one, gpus: [0], end: 50}\n- {namespace: a, name: two, gpus: [0], begin: 50}\n",
    "pods:\n- {namespace: a, name: one, gpus: [0], end: 50, every: 100}\n"
    "- {namespace: a, name: two, gpus: [0], begin: 50, end: 100, every: 100}\n",
    "pods:\n- {namespace: a, name: one, gpus: [2]}\n- {namespace: a, name: two, gpus: [2]}\n",
    "pods:\n- {namespace: a, name: one, gpus: [0], claim: c}\n- {namespace: a, name: two, gpus: [0], claim: c}\n",
    "jobs:\n- {id: 5, user: a, gpus: [0], shared: true}\n- {id: 6, user: a, gpus: [0], shared: true}\n",
    # The event ends the first one.
    "pods:\n- {namespace: a, name: one, mig: [3/0]}\n- {namespace: a, name: two, mig: [3/0], begin: 20}\n"
    "events: [{at: 20, do: mig, gpu: 3, instances: [{profile: 7g.80gb}]}]\n",
    "pods:\n- {namespace: a, name: one, gpus: [3], begin: 20}\nevents: [{at: 20, do: mig, gpu: 3, instances: []}]\n",
]


@pytest.mark.parametrize(("text", "message"), MISTAKES + OVERLAPS)
def test_a_mistake_is_named(write, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        simulate.load(write(GPUS + text))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", FINE)
def test_holders_that_fit_together_are_no_mistake(write, text: str) -> None:
    assert simulate.load(write(GPUS + text)).name == "mine"


@pytest.mark.parametrize("count", [0, 49, "two"])
def test_shares_have_limits(write, count: object) -> None:
    with pytest.raises(ConfigError, match=r"mine.yaml:1: gpus.0.replicas: .* is not a whole number"):
        simulate.load(write(f"gpus: [{{model: l40s, replicas: {count}}}]"))


def test_a_machine_has_its_own_pods_instead_of_those_that_it_extends(write) -> None:
    mine = simulate.load(write("extends: h100x8\npods: [{namespace: a, name: b, gpus: [0]}]"))
    assert [pod.name for pod in mine.pods] == ["b"]
    assert simulate.load(write("extends: h100x8\ntitle: t")).pods == simulate.load("h100x8").pods
    assert simulate.load(write("extends: h100x8\ngpus: [{model: l40s}]")).pods == ()


def test_the_pods_of_a_fault_join_those_of_the_machine(write) -> None:
    path = write("kind: fault\nextends: h100x8\npods: [{namespace: a, name: b, gpus: [7], begin: 620, end: 630}]")
    assert simulate.load(f"h100x8+{path}").pods[:-1] == simulate.load("h100x8").pods
    assert simulate.load(path).pods == simulate.load(f"h100x8+{path}").pods
    with pytest.raises(ConfigError, match=r"mine.yaml:3: pods.0.gpus.0: there is no GPU 7; the machine has 4 GPUs"):
        simulate.load(f"gb200+{path}")


def test_two_pods_of_one_name_do_not_meet_on_one_machine(write) -> None:
    path = write("kind: fault\nextends: gb200\npods: [{namespace: a, name: b}]")
    with pytest.raises(ConfigError, match=r"mine.yaml:3: pods.0.name: a/b is there twice"):
        simulate.load(f"gb200+{path}+{path}")
