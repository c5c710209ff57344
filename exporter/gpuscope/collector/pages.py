"""Pages of the collector: readiness, and its jobs as JSON."""

from http import HTTPStatus
from typing import Any

from gpuscope.api.documents import rfc3339
from gpuscope.api.handler import ApiError, Handler, as_json
from gpuscope.api.query import Parameter, read_filters
from gpuscope.catalogue.training import OUTCOMES, STATES
from gpuscope.collector.openapi import collector_openapi
from gpuscope.collector.snapshot import CollectorSnapshot
from gpuscope.workloads.episode import Episode
from gpuscope.workloads.record import JobRecord

__all__ = ["ROUTES"]

STATE = Parameter(
    "state",
    "Keeps jobs in this state; none of those that ended.",
    "|".join(STATES),
    f"one of {', '.join(STATES)}",
    STATES,
)
OUTCOME = Parameter(
    "outcome", "Keeps jobs that ended like this.", "|".join(OUTCOMES), f"one of {', '.join(OUTCOMES)}", OUTCOMES
)
TEAM = Parameter("team", "Keeps jobs of this team.", r"\S+", "a team")


class ReadyHandler(Handler):
    """``/-/ready``: whether it leads and keeps what it counts, and every scheduler has answered once."""

    def answer(self, *_: str) -> None:
        """200, or 503 with the reason."""
        snapshot: CollectorSnapshot = self.context.source.snapshot()
        waiting = [reason for reason in (snapshot.waits, snapshot.unsaved) if reason]
        waiting += [f"{one.name}: {one.reason}" for one in snapshot.sources if one.answered is None]
        if waiting:
            self.send_text(f"gpuscope collector is not ready: {'; '.join(waiting)}", HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            self.send_text("gpuscope collector is ready")


class JobsHandler(Handler):
    """``/api/v1/jobs``: jobs that live or ended within a day."""

    def answer(self, *_: str) -> None:
        """Answers from the latest snapshot."""
        filters = read_filters(self.request.query_arguments, (STATE, OUTCOME, TEAM))
        snapshot: CollectorSnapshot = self.context.source.snapshot()
        if snapshot.waits:
            raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "not_leader", snapshot.waits)

        def passes(job: JobRecord) -> bool:
            state = "" if job.outcome else job.state.value
            told = {"state": state, "outcome": job.outcome.value if job.outcome else "", "team": job.facts.team}
            return all(told[name] in wanted for name, wanted in filters.items())

        def make() -> bytes:
            return as_json(
                {
                    "generated_at": rfc3339(snapshot.created),
                    "sources": [
                        {"name": one.name, "answered_at": rfc3339(one.answered), "reason": one.reason or None}
                        for one in snapshot.sources
                    ],
                    "jobs": [_document(job) for job in snapshot.jobs if passes(job)],
                }
            )

        key = ("jobs", tuple(sorted((name, tuple(sorted(wanted))) for name, wanted in filters.items())))
        self.send_answer(self.context.answers.get(snapshot, key, make), "application/json")


class OpenApiHandler(Handler):
    """``/api/v1/openapi.json``: this interface, described for programs."""

    def answer(self, *_: str) -> None:
        """Answers with the document."""
        read_filters(self.request.query_arguments, ())
        snapshot: CollectorSnapshot = self.context.source.snapshot()

        def make() -> bytes:
            return as_json(dict(collector_openapi(STATE, OUTCOME, TEAM)))

        self.send_answer(self.context.answers.get(snapshot, ("openapi",), make), "application/json")


def _document(job: JobRecord) -> dict[str, Any]:
    facts, told = job.facts, job.progress
    return {
        "scheduler": job.key.scheduler,
        "namespace": job.key.namespace or None,
        "job_id": job.key.uid,
        "workload": facts.name,
        "workload_kind": facts.kind,
        "team": facts.team or None,
        "queue": facts.queue or None,
        "user": facts.user or None,
        "gpus": facts.gpus,
        "tasks": facts.tasks,
        "created": rfc3339(job.created),
        "state": None if job.outcome else job.state.value,
        "state_since": None if job.outcome else rfc3339(job.since),
        "why": None if job.outcome else job.why or None,
        "nodes": [] if job.outcome else list(job.nodes),
        "outcome": job.outcome.value if job.outcome else None,
        "ended": rfc3339(job.ended),
        "restarts": job.restarts,
        "last_fault": job.last_fault or None,
        "episodes": [_episode(one) for one in list(job.episodes)],
        "state_seconds": {state: round(seconds, 3) for state, seconds in list(job.seconds.items())},
        "progress_ratio": told.ratio if told else None,
        "remaining_seconds": told.remaining_s if told else None,
    }


def _episode(one: Episode) -> dict[str, Any]:
    told = one.verdict
    return {
        "attempt": one.number,
        "nodes": list(one.attempt.nodes),
        "ended": rfc3339(one.ended),
        "outcome": one.outcome.value,
        "fault_type": one.fault_type,
        "domain": told.domain.value if told else "unknown",
        "scope": told.scope.value if told else "unknown",
        "confidence": told.confidence if told else None,
        "why": told.why if told else None,
        "final": one.final,
        "restarted_by": one.trigger or None,
        "recovery_seconds": {name: round(seconds, 3) for name, seconds in list(one.measured.items())},
    }


ROUTES: tuple[tuple[str, type[Handler]], ...] = (
    (r"/-/ready", ReadyHandler),
    (r"/api/v1/jobs", JobsHandler),
    (r"/api/v1/openapi\.json", OpenApiHandler),
)
