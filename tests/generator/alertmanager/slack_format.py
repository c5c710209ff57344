"""What Slack takes: the shape of a message with attachments, its limits, and what its markup may hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

MESSAGE_KEYS = {"channel", "username", "icon_emoji", "icon_url", "link_names", "text", "attachments"}
ATTACHMENT_KEYS = {
    "title", "title_link", "pretext", "text", "fallback", "callback_id", "fields", "actions", "image_url", "thumb_url",
    "footer", "color", "mrkdwn_in",
}  # fmt: skip
MAX_TEXT = 40_000
MAX_TITLE = 1024
MAX_ATTACHMENTS = 100
_MARKUP = re.compile(r"<([^<>]*)>")
_LINK = re.compile(r"https?://[^\s<>|]+\|[^<>|]+")


def slack_faults(message: dict[str, Any]) -> list[str]:
    """What is wrong with a message; nothing where Slack would take it and show what is meant."""
    return list(_faults({key: value for key, value in message.items() if not key.startswith("_")}))


def _faults(message: dict[str, Any]) -> Iterator[str]:
    yield from (f"unknown key {key}" for key in message.keys() - MESSAGE_KEYS)
    if not str(message.get("channel", "#")).startswith(("#", "@", "C")):
        yield "no channel"
    attachments = message.get("attachments")
    if not isinstance(attachments, list) or not 0 < len(attachments) <= MAX_ATTACHMENTS:
        yield "no attachments"
        return
    for one in attachments:
        yield from (f"unknown key {key}" for key in one.keys() - ATTACHMENT_KEYS)
        if not one.get("fallback"):
            yield "no fallback for notifications"
        if not re.fullmatch(r"#[0-9A-Fa-f]{6}", one.get("color", "")):
            yield f"color {one.get('color')}"
        if not 0 < len(one.get("title", "")) <= MAX_TITLE:
            yield "title too long, or missing"
        if not 0 < len(one.get("text", "")) <= MAX_TEXT:
            yield "text too long, or missing"
        for text in (one["title"], one["text"]):
            for held in _MARKUP.findall(text):
                if not _LINK.fullmatch(held):
                    yield f"markup that is no link: <{held}>"
            rest = _MARKUP.sub("", text)
            if "<" in rest or ">" in rest or re.search(r"&(?!(amp|lt|gt);)", rest):
                yield f"not escaped: {rest}"
