"""The source and the collector on a real Slurm without slurmdbd, with its completion log; see ``make test-slurm``.

What takes its time was begun before the first test. Tests come in any order; a chapter of the story is gone through
once, by the first test that needs it to be over.
"""

import itertools
import os
import signal
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from tests.exporter.collector.conftest import Running
from tests.exporter.workloads.slurm.real.conftest import TEAM, Story, Watch

from gpuscope.workloads.observation import JobState, NodeState, Observation, ObservedJob, Outcome


def ended(job: ObservedJob) -> bool:
    return job.outcome is not None


def running(job: ObservedJob) -> bool:
    return job.state is JobState.TRAINING and job.outcome is None


def find(seen: Observation, uid: str) -> ObservedJob:
    return next(one for one in seen.jobs if one.key.uid == uid)


def _outcome(word: str) -> tuple[str, ...]:
    return (f'outcome="{word}"',) if word else ()


def test_ends(story: Story, watch: Watch) -> None:
    job = watch.until(story.jobs["succeeds"], ended)
    assert (job.outcome, job.facts.name, job.facts.gpus, job.facts.queue) == (Outcome.SUCCEEDED, "good = job", 2, "ml")
    assert (len(job.attempts), job.facts.team) == (1, TEAM)
    job = watch.until(story.jobs["fails"], ended)
    assert (job.outcome, job.attempts[0].evidence.exit_codes, job.facts.gpus) == (Outcome.FAILED, (3,), 0)
    job = watch.until(story.jobs["crashes"], ended)
    assert (job.outcome, job.attempts[0].evidence.signals) == (Outcome.FAILED, (11,))
    job = watch.until(story.jobs["is cancelled"], ended)
    assert (job.outcome, len(job.attempts[0].nodes), job.facts.gpus) == (Outcome.CANCELLED, 2, 8)
    assert job.attempts[0].evidence.requested_by_user is None


def release(story: Story) -> None:
    held = story.jobs["is held"]
    waits = story.watch.until(held, lambda job: True)
    assert (waits.state, waits.why, waits.nodes) == (JobState.SUSPENDED, "JobHeldUser", ())
    story.cluster.run("scontrol", "release", held)


def test_a_held_job_is_suspended_until_it_is_released(story: Story, watch: Watch) -> None:
    story.once(release)
    assert watch.until(story.jobs["is held"], ended).outcome is Outcome.SUCCEEDED


def test_a_name_that_lies(watch: Watch) -> None:
    name = "x\n   JobState=COMPLETED Reason=None\n\nJobId=999 JobName=y\n   JobState=FAILED"
    uid = watch.cluster.submit("sleep 600", "-J", name)
    assert watch.until(uid, running).facts.name == name
    for form in (True, False):
        seen = watch.fresh(use_json=form).observe(time.time())
        assert seen.complete
        assert (find(seen, uid).facts.name, find(seen, uid).state) == (name, JobState.TRAINING)
        assert "999" not in {one.key.uid for one in seen.jobs}
    watch.cluster.run("scancel", uid)
    watch.until(uid, ended)


def test_a_name_that_is_no_utf_8_costs_no_json(watch: Watch) -> None:
    uid = watch.cluster.submit("sleep 600", "-J", os.fsdecode(b"caf\xe9"))
    assert watch.until(uid, running).facts.name == "caf\ufffd"
    for form in (True, False):
        seen = watch.fresh(use_json=form, log=False).observe(time.time())
        assert (find(seen, uid).facts.name, dict(seen.problems)) == ("caf\ufffd", {})
    watch.cluster.run("scancel", uid)
    watch.until(uid, ended)


def test_an_array_that_is_too_long(watch: Watch) -> None:
    array = watch.cluster.submit("true", "--array=0-1000", "--hold")
    other = watch.cluster.submit("true")
    assert watch.until(f"{array}_0", lambda _: True).state is JobState.SUSPENDED
    assert watch.until(other, ended).outcome is Outcome.SUCCEEDED
    seen = watch.fresh(log=False).observe(time.time())
    assert (seen.complete, dict(seen.problems)) == (True, {"array_too_long": 1})
    assert [(one.key.uid, one.facts.tasks) for one in seen.jobs if one.key.uid.startswith(f"{array}_")] == [
        (f"{array}_0", 1001)
    ]
    watch.cluster.run("scancel", array)


def test_arrays_and_heterogeneous_jobs(watch: Watch) -> None:
    array = watch.cluster.submit("sleep 1", "--array=1-2%1", "--gres=gpu:1")
    both = ("--gres=gpu:1", "--wrap", "sleep 2", ":", "--gres=gpu:2")
    pair = watch.cluster.run("sbatch", "--parsable", "-D", "/tmp", "-o", "/dev/null", *both)
    tasks = [watch.until(f"{array}_{task}", lambda _: True) for task in (1, 2)]
    assert {(one.facts.kind, one.facts.gpus) for one in tasks} == {("array_task", 1)}
    assert {watch.until(f"{array}_{task}", ended).outcome for task in (1, 2)} == {Outcome.SUCCEEDED}
    job = watch.until(pair, ended)
    assert (job.facts.kind, job.facts.gpus, job.outcome) == ("het_job", 3, Outcome.SUCCEEDED)
    assert len(job.attempts) == 1


def test_requeued_by_hand(story: Story, watch: Watch) -> None:
    job = watch.until(story.jobs["is requeued"], ended)
    assert [(one.number, one.outcome) for one in job.attempts] == [(0, Outcome.INTERRUPTED), (1, Outcome.SUCCEEDED)]
    assert job.attempts[0].evidence.requested_by_user is None
    assert job.created == job.key.submitted < job.attempts[0].ended
    # A collector that starts only now reads the same, from the completion log.
    late = find(watch.fresh().observe(time.time()), job.key.uid)
    assert late.key == job.key
    assert [(one.number, one.outcome, one.nodes) for one in late.attempts] == [
        (one.number, one.outcome, one.nodes) for one in job.attempts
    ]
    # And without that log at least that there was an attempt before.
    blind = find(watch.fresh(log=False).observe(time.time()), job.key.uid)
    assert [(one.number, one.outcome) for one in blind.attempts] == [(0, Outcome.INTERRUPTED), (1, Outcome.SUCCEEDED)]


def test_requeued_by_its_exit_code(story: Story, watch: Watch) -> None:
    job = watch.until(story.jobs["requeues itself"], ended)
    assert [(one.number, one.outcome) for one in job.attempts] == [(0, Outcome.FAILED), (1, Outcome.SUCCEEDED)]
    assert job.attempts[0].evidence.exit_codes == (99,)


def test_drained_for_a_reason(watch: Watch) -> None:
    watch.cluster.update("nodename=gpu-4", "state=drain", "reason=XID 79, see ticket")
    for form in (True, False):
        seen = watch.fresh(use_json=form).observe(time.time())
        node = next(one for one in seen.nodes if one.name == "gpu-4")
        assert (node.state, node.gpus, node.partitions) == (NodeState.DRAINED, 8, ("spare",))
        assert node.reason.startswith("XID 79, see ticket (by ")
        assert node.since is not None
    watch.cluster.update("nodename=gpu-4", "state=resume")


def test_partitions_in_every_state(watch: Watch) -> None:
    cluster = watch.cluster
    for word in ("drain", "down", "inactive", "up"):
        cluster.update("partitionname=spare", f"state={word}")
        for form in (True, False):
            told = {one.name: one.state.value for one in watch.fresh(use_json=form).observe(time.time()).partitions}
            assert told == {"ml": "up", "weak": "up", "spare": word}


def test_both_forms_say_the_same(watch: Watch) -> None:
    uid = watch.cluster.submit("sleep 600", "-N2", "--gres=gpu:3")
    watch.until(uid, running)

    def alike() -> bool:
        now = time.time()
        in_json, in_text = (watch.fresh(use_json=form).observe(now) for form in (True, False))
        told = {one.key.uid: one for one in in_text.jobs}
        assert [job for job in in_json.jobs if job.key.uid in told] == list(told.values())
        assert find(in_text, uid).facts.gpus == 6
        return list(in_json.nodes) == list(in_text.nodes)

    watch.cluster.wait("JSON and text say the same of one moment", alike)
    watch.cluster.run("scancel", uid)


def away_and_back(story: Story) -> None:
    cluster, watch = story.cluster, story.watch
    uid = cluster.submit("sleep 600", "--gres=gpu:1")
    before = watch.until(uid, running)
    cluster.stop_controller()
    assert story.collectors.now.end(signal.SIGKILL) == -signal.SIGKILL
    story.collectors.start()
    with ThreadPoolExecutor(2) as both:
        looks = list(both.map(lambda form: watch.fresh(use_json=form).observe(time.time()), (True, False)))
    for seen in looks:
        assert (seen.complete, seen.jobs, dict(seen.problems)) == (False, (), {"slurmctld_unreachable": 1})
    story.collectors.now.wait(lambda one: "unreachable" in one.get("/-/ready").text, "that slurmctld is away")
    cluster.start_controller()
    assert watch.until(uid, running) == before
    cluster.run("scancel", uid)
    watch.until(uid, ended)
    story.collectors.now.wait(Running.ready, "an answer of slurmctld")


def test_slurmctld_away_and_back_while_the_collector_restarts(story: Story, watch: Watch) -> None:
    story.once(away_and_back)


def node_dies(story: Story) -> None:
    watch = story.watch
    lost = watch.until(story.jobs["loses its node for good"], ended)
    assert (lost.outcome, lost.attempts[0].evidence.state) == (Outcome.INTERRUPTED, "NODE_FAIL")
    assert lost.attempts[0].evidence.nodes_lost == ("gpu-3",)
    again = story.jobs["loses its node"]
    waits = watch.until(again, lambda job: job.state is JobState.RECOVERING)
    assert [(one.number, one.outcome, one.nodes) for one in waits.attempts] == [(0, Outcome.INTERRUPTED, ("gpu-3",))]
    assert waits.attempts[0].evidence.nodes_lost == ("gpu-3",)
    blind = find(watch.fresh(log=False).observe(time.time()), again)
    assert [(one.number, one.outcome) for one in blind.attempts] == [(0, Outcome.INTERRUPTED)]
    dead = next(one for one in watch.source.observe(time.time()).nodes if one.name == "gpu-3")
    assert (dead.state, dead.reason.startswith("Not responding")) == (NodeState.DOWN, True)
    watch.cluster.start_node("gpu-3")


def test_a_node_that_dies(story: Story, watch: Watch) -> None:
    story.once(node_dies)
    back = watch.until(story.jobs["loses its node"], ended)
    assert [(one.number, one.outcome) for one in back.attempts] == [(0, Outcome.INTERRUPTED), (1, Outcome.SUCCEEDED)]


def test_out_of_time(story: Story, watch: Watch) -> None:
    job = watch.until(story.jobs["runs out of time"], ended)
    assert (job.outcome, job.attempts[0].evidence.reason) == (Outcome.TIMED_OUT, "TimeLimit")


def test_the_counters_equal_what_happened(story: Story, watch: Watch) -> None:
    """Ten jobs, three of them restarted; the collector was killed and slurmctld restarted in between."""
    for chapter in (release, away_and_back, node_dies):
        story.once(chapter)
    for uid in story.jobs.values():
        watch.until(uid, ended)
    wanted: Mapping[str, Mapping[str, float]] = {
        "jobs_created": {"": 10},
        "jobs_ended": {"succeeded": 5, "failed": 2, "cancelled": 1, "timed_out": 1, "interrupted": 1},
        "attempts_ended": {"succeeded": 5, "failed": 3, "cancelled": 1, "timed_out": 1, "interrupted": 3},
        "jobs_forgotten": {"": 0},
    }

    def counted(one: Running) -> Mapping[str, Mapping[str, float]]:
        return {
            name: {
                outcome: one.total(f"gpuscope_training_{name}_total", f'team="{TEAM}"', *_outcome(outcome))
                for outcome in outcomes
            }
            for name, outcomes in wanted.items()
        }

    until = time.monotonic() + 30.0
    while (told := counted(story.collectors.now)) != wanted and time.monotonic() < until:
        time.sleep(0.3)
    assert told == wanted
    # Why an attempt ended, and so why it was restarted, is settled five minutes later unless Slurm itself ended it.
    restarted = {one["job_id"]: [end["restarted_by"] for end in one["episodes"]] for one in story.collectors.now.jobs()}
    assert restarted[story.jobs["loses its node"]] == restarted[story.jobs["requeues itself"]] == ["automatic"]
    assert restarted[story.jobs["is requeued"]] == ["unknown"]
    assert story.collectors.now.total("gpuscope_training_restarts_total", f'team="{TEAM}"', 'trigger="automatic"') == 1


def test_nothing_was_left_unsaid(watch: Watch) -> None:
    seen = watch.source.observe(time.time())
    assert seen.clock_offset == 0.0
    # The completion log breaks at names with line breaks, and an array that was cancelled is known for five minutes.
    assert seen.problems.keys() <= {"malformed_completion", "array_too_long"}
    for job, other in itertools.pairwise(sorted(seen.jobs, key=lambda one: one.key)):
        assert job.key != other.key
