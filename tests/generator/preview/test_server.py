"""What the server of the preview answers, and what it does not."""

from collections.abc import Callable
from pathlib import Path

import pytest
import requests
from tests.generator.preview.conftest import Upstream

from gpuscope.errors import ConfigError
from gpuscope_generator.preview.relay import Relay
from gpuscope_generator.preview.server import require_page
from gpuscope_generator.preview.shelf import built, from_folder
from gpuscope_generator.remote import Access
from gpuscope_generator.settings import Settings

NOTHING = {"status": "success", "data": {"resultType": "vector", "result": []}}


def get(url: str, **how: object) -> requests.Response:
    return requests.get(url, timeout=30, **how)  # type: ignore[arg-type]


def test_the_page_stands_at_the_root_and_at_every_board(preview: Callable[..., str]) -> None:
    url = preview()
    for path in ("/", "/d/gpuscope-task", "/d/gpuscope-task/task?var-node=a"):
        assert get(url + path).text == "<p>page</p>"
    assert get(f"{url}/static/preview.js").text == "1"
    assert get(f"{url}/static/none.js").status_code == 404


def test_the_menu_names_boards_and_panels_by_the_keys_that_check_uses(preview: Callable[..., str]) -> None:
    url = preview()
    menu = get(f"{url}/api/boards").json()
    entry = next(board for board in menu["boards"] if board["uid"] == "gpuscope-cluster")
    assert entry["url"] == "/d/gpuscope-cluster/cluster"
    board = get(f"{url}/api/boards/gpuscope-cluster").json()
    numbers = [one["id"] for panel in board["panels"] for one in [panel, *panel.get("panels", [])]]
    assert {str(number) for number in numbers} >= set(entry["keys"])
    assert get(f"{url}/api/boards/none").json() == {"error": "no board has the uid none"}


def test_links_stay_inside_the_preview_whatever_the_settings_say() -> None:
    boards = built(Settings(link_prefix="https://grafana.example")).boards
    assert "grafana.example" not in str(boards)


def test_questions_go_to_prometheus_with_its_token(preview: Callable[..., str], upstream: Upstream) -> None:
    url = preview(access=Access(token="secret"))
    asked = requests.post(f"{url}/api/v1/query", data={"query": 'up{a="ü&b"}', "time": "1"}, timeout=30)
    assert asked.json() == NOTHING
    values = {"match[]": ["a", "b"]}
    assert get(f"{url}/api/v1/label/node/values", params=values).status_code == 200
    assert upstream.asked == [
        ("POST", "/api/v1/query", "query=up%7Ba%3D%22%C3%BC%26b%22%7D&time=1", "Bearer secret"),
        ("GET", "/api/v1/label/node/values?match%5B%5D=a&match%5B%5D=b", "", "Bearer secret"),
    ]


def test_an_error_of_prometheus_comes_through_as_it_is(preview: Callable[..., str], upstream: Upstream) -> None:
    upstream.status = 400
    upstream.content = {"status": "error", "error": "parse error"}
    answer = get(f"{preview()}/api/v1/query", params={"query": "("})
    assert (answer.status_code, answer.json()["error"]) == (400, "parse error")


@pytest.mark.parametrize("path", ["admin/tsdb/delete_series", "status/config", "targets", "label/a/../values", "write"])
def test_nothing_but_reading_is_passed_on(preview: Callable[..., str], upstream: Upstream, path: str) -> None:
    answer = requests.post(f"{preview()}/api/v1/{path}", timeout=30)
    assert answer.status_code in (404, 405)
    assert upstream.asked == []


def test_a_prometheus_that_is_gone_is_said_in_its_own_form(
    preview: Callable[..., str], free_port: Callable[[], int]
) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    answer = get(f"{preview(url=url)}/api/v1/alerts")
    assert answer.status_code == 502
    assert answer.json()["status"] == "error"
    assert answer.json()["error"].startswith(f"Prometheus at {url}: ")


def test_on_the_loopback_no_other_host_name_is_answered_to(preview: Callable[..., str]) -> None:
    there = {"Host": "evil.example"}
    refused = get(f"{preview()}/api/boards", headers=there)
    assert (refused.status_code, refused.json()["error"]) == (403, "403: Unknown host name")
    assert get(f"{preview(address='0.0.0.0')}/api/boards", headers=there).status_code == 200


def test_a_question_that_is_no_text_is_refused(preview: Callable[..., str]) -> None:
    assert requests.post(f"{preview()}/api/v1/query", data=b"query=\xff", timeout=30).status_code == 400


def test_boards_of_a_folder_are_read_at_each_look(preview: Callable[..., str], tmp_path: Path) -> None:
    folder = tmp_path / "boards"
    folder.mkdir()
    file = folder / "mine.json"
    file.write_text('{"title": "Mine", "panels": []}')
    url = preview(shelf=from_folder(folder))
    assert get(f"{url}/api/boards/mine").json()["title"] == "Mine"
    file.write_text('{"title": "Yours", "panels": []}')
    assert [board["title"] for board in get(f"{url}/api/boards").json()["boards"]] == ["Yours"]
    file.write_text("{")
    assert get(f"{url}/api/boards").json()["error"].startswith(f"--dashboards {file}: ")
    assert get(f"{url}/api/boards/mine").status_code == 500


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "no board lies there"),
        ({"a.json": "[]"}, "not a board"),
        (
            {"a.json": '{"panels": [], "uid": "x"}', "b.json": '{"panels": [], "uid": "x"}'},
            "second board with the uid x",
        ),
    ],
)
def test_a_folder_without_good_boards_is_refused(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=reason):
        from_folder(tmp_path)
    with pytest.raises(ConfigError, match="no such folder"):
        from_folder(tmp_path / "none")


def test_a_page_that_is_not_built_is_said_with_what_to_run(tmp_path: Path, static: Path) -> None:
    require_page(static)
    with pytest.raises(ConfigError, match="make preview"):
        require_page(tmp_path)


def test_an_address_of_prometheus_must_be_one() -> None:
    with pytest.raises(ConfigError, match="--prometheus"):
        Relay("ftp://x", Access())
