"""Boards into a running Grafana, through its HTTP API: what is there already is left alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from gpuscope import __version__
from gpuscope_generator.remote import Access, Server, Unusable

__all__ = ["Folder", "Grafana", "Outcome"]


@dataclass(frozen=True, slots=True)
class Folder:
    """Where the boards go.

    Attributes:
        uid: its id; empty puts the boards at the top.
        title: its name, where it does not exist yet.
    """

    uid: str
    title: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a board.

    Attributes:
        uid: of the board.
        verb: ``created``, ``updated``, ``unchanged`` or ``failed``.
        detail: its version and address, or why it failed.
    """

    uid: str
    verb: str
    detail: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether the board in Grafana is not what it should be."""
        return self.verb == "failed"


class Grafana:
    """One Grafana.

    Args:
        url: such as ``https://grafana.example`` or, behind a path, ``https://host/grafana``.
        access: how to get in.
        dry_run: only look.
    """

    def __init__(self, url: str, access: Access, *, dry_run: bool = False) -> None:
        self._server = Server("Grafana", url, access)
        self._dry_run = dry_run

    def version(self) -> str:
        """Its version, once it is known to be up.

        Raises:
            Unusable: there is no Grafana, or its database does not answer.
        """
        status, found = self._server.ask("GET", "/api/health")
        if not isinstance(found, dict) or "database" not in found:
            raise Unusable(f"{self._name}: /api/health answers {status}, and not as Grafana does")
        if status != 200 or found["database"] != "ok":
            raise Unusable(f"{self._name}: its database: {found['database']}")
        return str(found.get("version", "of unknown version"))

    def ensure(self, folder: Folder) -> bool:
        """Makes the folder where it is missing.

        Returns:
            Whether it was missing.

        Raises:
            Unusable: Grafana does not let us make it.
        """
        if not folder.uid:
            return False
        status, found = self._server.ask("GET", f"/api/folders/{folder.uid}")
        if status == 200:
            return False
        if status != 404:
            raise Unusable(f"{self._name}: folder {folder.uid}: {_told(status, found)}")
        if self._dry_run:
            return True
        status, found = self._server.ask("POST", "/api/folders", json={"uid": folder.uid, "title": folder.title})
        if status != 200:
            raise Unusable(f"{self._name}: folder {folder.title}: {_told(status, found)}")
        return True

    def push(self, board: dict[str, Any], folder: Folder, *, overwrite: bool = False) -> Outcome:
        """Puts a board there, unless the same board is there already.

        Args:
            board: in Grafana's classic model, with its uid.
            folder: where it goes; a board that lies elsewhere is moved.
            overwrite: win over somebody who saves the board at the same time, or whose board has the same name.

        Raises:
            Unusable: Grafana cannot be asked, or does not let us in.
        """
        uid = board["uid"]
        status, found = self._server.ask("GET", f"/api/dashboards/uid/{uid}")
        if status not in (200, 404):
            return Outcome(uid, "failed", _told(status, found))
        version = 0
        if status == 200:
            there, meta = found["dashboard"], found.get("meta", {})
            version = int(there.get("version", 0))
            in_place = meta.get("folderUid", "") == folder.uid
            if in_place and (_content(there) == _content(board) or self._is_ours(uid, board)):
                return Outcome(uid, "unchanged", f"version {version}")
            if meta.get("provisioned"):
                return Outcome(uid, "failed", "it is provisioned from a file; remove that, or change the file")
        verb = "updated" if status == 200 else "created"
        if self._dry_run:
            return Outcome(uid, f"would be {verb}")
        return self._save(board, folder, version, verb, overwrite=overwrite)

    def _is_ours(self, uid: str, board: dict[str, Any]) -> bool:
        """Whether the newest save was ours, of this very board: some Grafanas migrate a board when it is read."""
        status, found = self._server.ask("GET", f"/api/dashboards/uid/{uid}/versions", params={"limit": 1})
        saves = found.get("versions") if isinstance(found, dict) else found
        if status != 200 or not isinstance(saves, list) or not saves:
            return False
        return bool(saves[0].get("message") == _note(board))

    def _save(self, board: dict[str, Any], folder: Folder, version: int, verb: str, *, overwrite: bool) -> Outcome:
        wanted: dict[str, Any] = {
            "dashboard": {**board, "id": None, "version": version},
            "message": _note(board),
            "overwrite": overwrite,
        }
        if folder.uid:
            wanted["folderUid"] = folder.uid
        status, found = self._server.ask("POST", "/api/dashboards/db", json=wanted)
        if status == 200:
            return Outcome(board["uid"], verb, f"version {found.get('version', '?')}, {found.get('url', '')}")
        told = _told(status, found)
        if status == 412:
            told += "; push again, or with --overwrite"
        return Outcome(board["uid"], "failed", told)

    @property
    def _name(self) -> str:
        return f"Grafana at {self._server.url}"


def _content(board: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in board.items() if key not in ("id", "version")}


def _note(board: dict[str, Any]) -> str:
    """What the history of a board says about a save: which version of the generator, and which content."""
    text = json.dumps(_content(board), sort_keys=True)
    return f"gpuscope {__version__} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _told(status: int, found: Any) -> str:
    text = found.get("message") or found.get("error") if isinstance(found, dict) else ""
    return f"{status}: {' '.join(str(text).split())}" if text else f"status {status}"
