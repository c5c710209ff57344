"""Basic authentication and the rate limit."""

import concurrent.futures
import threading

import bcrypt
import pytest
import requests

from gpuscope.errors import ConfigError


def hashed(password: bytes, cost: int = 4) -> str:
    return bcrypt.hashpw(password, bcrypt.gensalt(cost)).decode()


@pytest.fixture
def guarded(serve, tmp_path):
    def start(text="", cost=4):
        file = tmp_path / "web.yml"
        file.write_text(text or f"basic_auth_users:\n  scraper: {hashed(b'right', cost)}\n")
        return serve(web_config_file=file)

    return start


@pytest.mark.parametrize("path", ["/metrics", "/", "/api/v1/gpus", "/-/healthy", "/nowhere"])
def test_nothing_is_shown_without_a_password(guarded, path):
    client = guarded()
    answer = client.get(path)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Basic realm="gpuscope", charset="UTF-8"'
    assert "gpuscope_gpu" not in answer.text
    assert client.get(path, auth=("scraper", "right")).status_code == (404 if path == "/nowhere" else 200)


@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic !!!",
        "Basic c2NyYXBlcg==",
        "Bearer c2NyYXBlcjpyaWdodA==",
        "Basic c2NyYXBlcjp3cm9uZw==",
        "Basic bm9ib2R5OnJpZ2h0",
        "Basic c2NyYXBlcjpyaQBnaHQ=",
        "Basic é",
    ],
)
def test_wrong_headers_are_refused(guarded, header):
    assert guarded().get("/metrics", headers={"Authorization": header.encode()}).status_code == 401


def test_the_right_header_in_other_spelling(guarded):
    assert guarded().get("/metrics", headers={"Authorization": "basic c2NyYXBlcjpyaWdodA=="}).status_code == 200


def test_user_and_password_cannot_be_cut_elsewhere(guarded):
    client = guarded(f"basic_auth_users: {{'ab': '{hashed(b'c:d')}'}}")
    assert client.get("/metrics", auth=("ab", "c:d")).status_code == 200
    assert client.get("/metrics", auth=("ab:c", "d")).status_code == 200  # the same header, by definition of Basic
    assert client.get("/metrics", auth=("a", "bc:d")).status_code == 401


def test_long_passwords_count_as_far_as_bcrypt_looks(guarded):
    client = guarded(f"basic_auth_users: {{'joe': '{hashed(b'x' * 72)}'}}")
    assert client.get("/metrics", auth=("joe", "x" * 100)).status_code == 200
    assert client.get("/metrics", auth=("joe", "x" * 71)).status_code == 401


def test_hashes_of_htpasswd_are_taken(guarded):
    client = guarded(f"basic_auth_users: {{'joe': '{hashed(b'right').replace('$2b$', '$2y$')}'}}")
    assert client.get("/metrics", auth=("joe", "right")).status_code == 200


def test_a_successful_check_is_made_once(guarded, monkeypatch):
    client = guarded()
    checks = []
    real = bcrypt.checkpw
    monkeypatch.setattr(bcrypt, "checkpw", lambda *args: checks.append(args) or real(*args))
    for _ in range(5):
        assert client.get("/metrics", auth=("scraper", "right")).status_code == 200
    assert len(checks) == 1


def test_an_unknown_user_costs_a_check_too(guarded, monkeypatch):
    client = guarded()
    checks = []
    real = bcrypt.checkpw
    monkeypatch.setattr(bcrypt, "checkpw", lambda *args: checks.append(args) or real(*args))
    assert client.get("/metrics", auth=("nobody", "right")).status_code == 401
    assert client.get("/metrics", auth=("scraper", "wrong")).status_code == 401
    assert len(checks) == 2
    assert checks[0][1] == checks[1][1]


def test_reload_takes_new_users_and_drops_old_ones(guarded, tmp_path):
    client = guarded()
    assert client.get("/metrics", auth=("scraper", "right")).status_code == 200
    (tmp_path / "web.yml").write_text(f"basic_auth_users: {{'scraper': '{hashed(b'new')}'}}")
    client.server.reload()
    assert client.get("/metrics", auth=("scraper", "right")).status_code == 401
    assert client.get("/metrics", auth=("scraper", "new")).status_code == 200


def test_a_bad_reload_leaves_the_users(guarded, tmp_path):
    client = guarded()
    (tmp_path / "web.yml").write_text("basic_auth_users: {scraper: plain}")
    with pytest.raises(ConfigError):
        client.server.reload()
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", auth=("scraper", "right")).status_code == 200


def test_guessing_passwords_does_not_stop_who_is_known(guarded):
    client = guarded(cost=9)
    assert client.get("/metrics", auth=("scraper", "right")).status_code == 200
    stop = threading.Event()

    def guess(number):
        statuses = set()
        with requests.Session() as session:
            session.trust_env = False
            while not stop.is_set():
                answer = session.get(client.url + "/metrics", auth=("scraper", f"guess {number}"), timeout=60)
                statuses.add(answer.status_code)
        return statuses

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        guesses = [pool.submit(guess, number) for number in range(12)]
        try:
            scrapes = [client.get("/metrics", auth=("scraper", "right")).status_code for _ in range(20)]
        finally:
            stop.set()
        statuses = set().union(*(guess.result() for guess in guesses))
    assert scrapes == [200] * 20
    assert statuses <= {401, 429}
    assert 429 in statuses


def test_configured_headers_are_sent_and_win(serve, tmp_path):
    file = tmp_path / "web.yml"
    file.write_text(
        "http_server_config:\n  headers:\n    Content-Security-Policy: default-src 'self'\n    X-Frame-Options: deny\n"
    )
    client = serve(web_config_file=file)
    for path in ("/", "/metrics", "/nowhere"):
        headers = client.get(path).headers
        assert headers["X-Frame-Options"] == "deny"
        assert headers["Content-Security-Policy"] == "default-src 'self'"


def test_the_rate_limit_lets_a_burst_pass(serve, tmp_path):
    file = tmp_path / "web.yml"
    file.write_text("rate_limit: {interval: 1h, burst: 2}\n")
    client = serve(web_config_file=file)
    answers = [client.get("/metrics") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].headers["Retry-After"] == "1"


def test_the_rate_limit_fills_again(serve, tmp_path, wait_for):
    file = tmp_path / "web.yml"
    file.write_text("rate_limit: {interval: 10ms, burst: 1}\n")
    client = serve(web_config_file=file)
    client.get("/metrics")
    wait_for(lambda: client.get("/metrics").status_code == 200, "a token")
