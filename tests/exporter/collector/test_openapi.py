"""Every answer of the collector's /api/v1, held against the OpenAPI document that it gives out itself."""

from collections.abc import Callable

import jsonschema
from openapi_spec_validator import OpenAPIV31SpecValidator
from tests.exporter.collector.conftest import RecordedSlurm, Running

Start = Callable[..., Running]


def test_jobs_and_errors_are_as_the_document_says(collector: Start, recorded: RecordedSlurm) -> None:
    one = collector("--slurm", "--slurm.commands", str(recorded.commands))
    one.wait(Running.ready, "an answer of Slurm")
    recorded.go_on()
    one.wait(lambda one: any(job["episodes"] for job in one.jobs()), "an interruption")
    document = one.get("/api/v1/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()
    assert set(document["paths"]) == {"/api/v1/jobs", "/api/v1/openapi.json"}

    def check(path: str, status: int) -> dict:
        answer = one.get(path)
        assert answer.status_code == status
        described = document["paths"][path.partition("?")[0]]["get"]["responses"][str(status)]
        if "$ref" in described:
            described = document["components"]["responses"][described["$ref"].rpartition("/")[2]]
        schema = {**described["content"]["application/json"]["schema"], "components": document["components"]}
        checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
        jsonschema.Draft202012Validator(schema, format_checker=checker).validate(answer.json())
        return answer.json()

    assert check("/api/v1/jobs", 200)["jobs"]
    for query in ("state=training", "outcome=failed", "team=alpha"):
        check(f"/api/v1/jobs?{query}", 200)
    for path in ("/api/v1/jobs?nonsense=1", "/api/v1/jobs?state=asleep", "/api/v1/openapi.json?a=b"):
        check(path, 400)
    for schema in document["components"]["schemas"].values():
        for name, told in schema["properties"].items():
            assert name == "error" or told.keys() & {"description", "$ref"}, name
    example = document["paths"]["/api/v1/jobs"]["get"]["responses"]["503"]["content"]["application/json"]
    jsonschema.Draft202012Validator({**example["schema"], "components": document["components"]}).validate(
        example["example"]
    )
