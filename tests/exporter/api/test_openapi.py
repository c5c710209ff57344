"""Every documented answer of /api/v1, held against the OpenAPI document that the server itself gives out."""

import json
import re
from base64 import b64encode
from dataclasses import replace

import bcrypt
import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from gpuscope.nvml.identity import DriverStatus

UUID = "GPU-00000002-1111-2222-3333-444444444444"
PATHS = {
    "/api/v1/gpus": "/api/v1/gpus",
    "/api/v1/gpus/{uuid}": f"/api/v1/gpus/{UUID}",
    "/api/v1/mig": "/api/v1/mig",
    "/api/v1/faults": "/api/v1/faults",
    "/api/v1/health": "/api/v1/health",
    "/api/v1/openapi.json": "/api/v1/openapi.json",
}


@pytest.fixture
def check(client):
    """Checks an answer against the document; gives its JSON."""
    document = client.get("/api/v1/openapi.json").json()

    def check_answer(template, answer):
        described = document["paths"][template]["get"]["responses"][str(answer.status_code)]
        if "$ref" in described:
            described = document["components"]["responses"][described["$ref"].rpartition("/")[2]]
        media = answer.headers["Content-Type"]
        schema = {**described["content"][media]["schema"], "components": document["components"]}
        checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
        jsonschema.Draft202012Validator(schema, format_checker=checker).validate(answer.json())
        return answer.json()

    return check_answer


def test_the_document_is_valid_openapi(client):
    document = client.get("/api/v1/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()
    assert set(document["paths"]) == set(PATHS)


def test_every_example_fits_its_schema(client):
    document = client.get("/api/v1/openapi.json").json()
    answers = [r for path in document["paths"].values() for r in path["get"]["responses"].values() if "content" in r]
    examples = 0
    for answer in [*answers, *document["components"]["responses"].values()]:
        for media in answer["content"].values():
            if "example" in media:
                schema = {**media["schema"], "components": document["components"]}
                jsonschema.Draft202012Validator(schema).validate(media["example"])
                examples += 1
    assert examples >= 12


def test_every_property_is_described(client):
    document = client.get("/api/v1/openapi.json").json()
    for name, schema in document["components"]["schemas"].items():
        for key, value in schema["properties"].items():
            if key != "error":
                assert value.keys() & {"description", "$ref", "items"}, f"{name}.{key}"


@pytest.mark.parametrize(("template", "path"), PATHS.items())
def test_answers_fit(client, check, template, path):
    answer = client.get(path)
    assert answer.status_code == 200
    check(template, answer)


@pytest.mark.parametrize(("template", "path"), PATHS.items())
def test_answers_without_a_driver_fit(client, check, build, template, path):
    driver = DriverStatus(ok=False, reason="library_not_found", message="libnvidia-ml.so.1 was not found")
    client.source.now = build.snapshot_of(ready=False, driver=driver, expected_gpus=None)
    check(template, client.get(path))


@pytest.mark.parametrize(("template", "path"), PATHS.items())
def test_errors_fit(client, check, template, path):
    unknown = client.get(f"{path}?nonsense=1")
    assert unknown.status_code == 400
    assert check(template, unknown)["error"]["code"] == "unknown_parameter"
    posted = client.session.post(client.url + path, timeout=30)
    assert posted.status_code == 405
    assert posted.headers["Allow"] == "GET, HEAD"
    check(template, posted)
    body = client.session.get(client.url + path, data=b"{}", timeout=30)
    assert body.status_code == 413
    check(template, body)


@pytest.mark.parametrize(("template", "path"), PATHS.items())
def test_failures_fit_and_tell_nothing(client, check, caplog, template, path):
    client.source.broken = True
    answer = client.get(path)
    assert answer.status_code == 500
    check(template, answer)
    assert "secret detail" not in answer.text
    assert "Traceback" not in answer.text
    assert "secret detail of the source" in caplog.text


def test_wrong_password_and_rate_limit_fit(client, check, serve, tmp_path):
    hashed = bcrypt.hashpw(b"right", bcrypt.gensalt(4)).decode()
    file = tmp_path / "web.yml"
    file.write_text(f"basic_auth_users: {{scraper: '{hashed}'}}\nrate_limit: {{interval: 1h, burst: 2}}\n")
    guarded = serve(web_config_file=file)
    for password, status in (("wrong", 401), ("right", 200), ("right", 429)):
        login = b64encode(f"scraper:{password}".encode()).decode()
        answer = guarded.get("/api/v1/gpus", headers={"Authorization": f"Basic {login}"})
        assert answer.status_code == status
        check("/api/v1/gpus", answer)


def test_unknown_gpu_fits(client, check):
    answer = client.get("/api/v1/gpus/GPU-nobody")
    assert answer.status_code == 404
    assert check("/api/v1/gpus/{uuid}", answer)["error"] == {
        "code": "unknown_gpu",
        "message": "node node-a has no GPU with this UUID",
        "uuid": "GPU-nobody",
    }


def test_answers_hold_no_not_a_number(client, build):
    client.source.now = replace(client.source.now, faults=(build.xid(),))
    for path in PATHS.values():
        text = client.get(path).text
        json.loads(text, parse_constant=lambda name: pytest.fail(name))
        assert not re.search(r"\bNaN\b|Infinity", text)
