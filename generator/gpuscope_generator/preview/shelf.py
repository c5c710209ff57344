"""The boards that a preview shows: built from the settings, or read from a folder at each look."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gpuscope.errors import ConfigError
from gpuscope_generator.settings import Settings

__all__ = ["Shelf", "built", "from_folder"]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Boards by uid.

    Attributes:
        boards: the JSON of each, in the order of the menu.
        folder: where they come from, ``None`` when they were built.
        keys: ``board/panel`` by uid and number of the panel; empty for boards of a folder.
    """

    boards: Mapping[str, Mapping[str, Any]]
    folder: Path | None = None
    keys: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def current(self) -> Shelf:
        """The same, as the files say now.

        Raises:
            ConfigError: a file became unreadable.
        """
        return self if self.folder is None else from_folder(self.folder)

    def menu(self) -> list[dict[str, Any]]:
        """Uid, title, description, address and names of the panels of each board."""
        return [
            {
                "uid": uid,
                "title": board.get("title", uid),
                "description": board.get("description", ""),
                "url": f"/d/{uid}/{uid.removeprefix('gpuscope-')}",
                "keys": self.keys.get(uid, {}),
            }
            for uid, board in self.boards.items()
        ]


def built(settings: Settings) -> Shelf:
    """All boards as the settings want them; links lead to boards of the preview.

    Raises:
        ConfigError: settings that cannot be built with.
    """
    from gpuscope_generator.dashboards import boards
    from gpuscope_generator.grafana import board_json
    from gpuscope_generator.view import panel_id

    here = replace(settings, link_prefix="")
    every = boards(here)
    return Shelf(
        {board.noun.uid: board_json(board, here) for board in every},
        keys={
            board.noun.uid: {str(panel_id(panel.key)): f"{board.noun.value}/{panel.key}" for panel in board.panels}
            for board in every
        },
    )


def from_folder(folder: Path) -> Shelf:
    """All boards that lie in a folder as JSON.

    Raises:
        ConfigError: no folder, no board in it, or a file that is no board.
    """
    if not folder.is_dir():
        raise ConfigError(f"--dashboards {folder}: no such folder")
    found: dict[str, Mapping[str, Any]] = {}
    for file in sorted(folder.glob("*.json")):
        try:
            board = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(f"--dashboards {file}: {error}") from error
        if not isinstance(board, dict) or not isinstance(board.get("panels"), list):
            raise ConfigError(f"--dashboards {file}: not a board: it has no panels")
        uid = str(board.get("uid") or file.stem)
        if uid in found:
            raise ConfigError(f"--dashboards {file}: a second board with the uid {uid}")
        found[uid] = board
    if not found:
        raise ConfigError(f"--dashboards {folder}: no board lies there")
    return Shelf(found, folder)
