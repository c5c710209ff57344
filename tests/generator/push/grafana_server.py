"""A server that speaks Grafana's documented API for folders and boards, and refuses what Grafana refuses."""

import base64
import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from tests.generator.quiet_server import QuietServer

TOKEN = "glsa_test"


class GrafanaServer:
    """State of the server; tests look into it and disturb it."""

    def __init__(self, certificate: tuple[Path, Path] | None = None) -> None:
        self.folders: dict[str, str] = {}
        self.boards: dict[str, dict[str, Any]] = {}
        self.requests: list[str] = []
        self.faults: dict[str, tuple[int, str, dict[str, str]]] = {}
        self.provisioned: set[str] = set()
        self.migrates = False
        self.delay_s = 0.0
        self.database = "ok"
        owner = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = self.path.partition("?")[0]
                owner.requests.append(f"{self.command} {self.path}")
                time.sleep(owner.delay_s)
                key = f"{self.command} {path}"
                if key in owner.faults:
                    status, text, headers = owner.faults[key]
                else:
                    status, found = owner.answer(self.command, path, self.headers.get("Authorization", ""), body)
                    text, headers = json.dumps(found), {"Content-Type": "application/json; charset=UTF-8"}
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = do_PUT = do_DELETE = _answer

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_port}"

    @property
    def writes(self) -> list[str]:
        return [request for request in self.requests if not request.startswith("GET ")]

    def answer(self, method: str, path: str, authorization: str, body: bytes) -> tuple[int, Any]:
        if path == "/api/health":
            return (200 if self.database == "ok" else 503), {"database": self.database, "version": "11.2.0"}
        basic = "Basic " + base64.b64encode(b"admin:secret").decode()
        if authorization not in (f"Bearer {TOKEN}", basic, "Bearer viewer"):
            return 401, {"message": "Invalid API key"}
        if method == "POST" and authorization == "Bearer viewer":
            return 403, {"message": "You'll need additional permissions: dashboards:create"}
        match method, path.removeprefix("/api/").split("/"):
            case "GET", ["folders", uid]:
                known = uid in self.folders
                return (200, {"uid": uid, "title": self.folders[uid]}) if known else (404, {"message": "not found"})
            case "POST", ["folders"]:
                return self._folder(json.loads(body))
            case "GET", ["dashboards", "uid", uid]:
                return self._board(uid)
            case "GET", ["dashboards", "uid", uid, "versions"]:
                board = self.boards[uid]
                return 200, {"versions": [{"version": board["version"], "message": board["message"]}]}
            case "POST", ["dashboards", "db"]:
                return self._save(json.loads(body))
        return 404, {"message": f"no such call: {method} {path}"}

    def _folder(self, wanted: dict[str, Any]) -> tuple[int, Any]:
        if not wanted.get("title"):
            return 400, {"message": "folder title cannot be empty"}
        if wanted["uid"] in self.folders:
            return 412, {"message": "the folder has been changed by someone else"}
        self.folders[wanted["uid"]] = wanted["title"]
        return 200, wanted | {"id": len(self.folders)}

    def _board(self, uid: str) -> tuple[int, Any]:
        if uid not in self.boards:
            return 404, {"message": "Dashboard not found"}
        found = self.boards[uid]
        content = found["dashboard"] | {"id": 1, "version": found["version"]}
        if self.migrates:
            content |= {"schemaVersion": 99}
        meta = {"folderUid": found["folderUid"], "provisioned": uid in self.provisioned}
        return 200, {"dashboard": content, "meta": meta}

    def _save(self, wanted: dict[str, Any]) -> tuple[int, Any]:
        board = wanted["dashboard"]
        if board.get("id") is not None or not board.get("title") or not board.get("uid") or not wanted.get("message"):
            return 400, {"message": "bad request data"}
        folder = wanted.get("folderUid", "")
        if folder and folder not in self.folders:
            return 400, {"message": "folder not found"}
        known = self.boards.get(board["uid"])
        for other, found in self.boards.items():
            same = found["dashboard"]["title"] == board["title"] and found["folderUid"] == folder
            if other != board["uid"] and same and not wanted["overwrite"]:
                return 412, {"message": "a dashboard with the same name exists", "status": "name-exists"}
        if known and known["version"] != board["version"] and not wanted["overwrite"]:
            return 412, {"message": "The dashboard has been changed by someone else", "status": "version-mismatch"}
        version = (known["version"] if known else 0) + 1
        self.boards[board["uid"]] = {
            "dashboard": {key: value for key, value in board.items() if key not in ("id", "version")},
            "folderUid": folder,
            "version": version,
            "message": wanted["message"],
        }
        return 200, {"uid": board["uid"], "url": f"/d/{board['uid']}/x", "status": "success", "version": version}


@contextmanager
def grafana(certificate: tuple[Path, Path] | None = None) -> Iterator[GrafanaServer]:
    """A server that runs until the end of the block."""
    found = GrafanaServer(certificate)
    thread = threading.Thread(target=found.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.server.shutdown()
        found.server.server_close()
        thread.join(timeout=10)
