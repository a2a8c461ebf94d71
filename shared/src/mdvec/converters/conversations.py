"""Reads conversations as Claude, ChatGPT and Claude Code export them: a page a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from mdvec.converters.formats import Converted, NotConverted, joined_pages
from mdvec.text import on_one_line

_WHY = "it is not an export of conversations from Claude, ChatGPT or Claude Code"


def convert(data: bytes, file_name: str) -> Converted:
    """Each conversation with its title and day, and its messages with who wrote them."""
    try:
        if file_name.lower().endswith(".jsonl"):
            lines = [json.loads(line) for line in data.splitlines() if line.strip()]
            pages = [page_of("", "", _of_claude_code(lines))]
        else:
            pages = [_conversation(each) for each in json.loads(data)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotConverted(_WHY) from error
    pages = [page for page in pages if page]
    if not pages:
        raise NotConverted(_WHY)
    return Converted(joined_pages(pages))


def _conversation(each: dict[str, Any]) -> str:
    if "chat_messages" in each:
        messages = [
            (str(message["sender"]), str(message.get("text") or ""))
            for message in each["chat_messages"]
        ]
        return page_of(
            str(each.get("name") or ""), str(each.get("created_at") or "")[:10], messages
        )
    day = datetime.fromtimestamp(float(each.get("create_time") or 0), UTC).date().isoformat()
    return page_of(str(each.get("title") or ""), day, _of_chatgpt(each))


def _of_chatgpt(each: dict[str, Any]) -> list[tuple[str, str]]:
    """The messages of the branch that was last shown, from its first."""
    nodes, messages = each["mapping"], []
    at, seen = each.get("current_node"), set()
    while at in nodes and at not in seen:
        seen.add(at)
        message = nodes[at].get("message") or {}
        parts = (message.get("content") or {}).get("parts") or []
        text = "\n".join(part for part in parts if isinstance(part, str))
        messages.append((str((message.get("author") or {}).get("role", "")), text))
        at = nodes[at].get("parent")
    return [message for message in reversed(messages) if message[0] in ("user", "assistant")]


def _of_claude_code(lines: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for line in lines:
        message = line.get("message")
        if line.get("type") in ("user", "assistant") and isinstance(message, dict):
            content = message.get("content") or ""
            if isinstance(content, list):
                content = "\n".join(
                    str(part["text"]) for part in content if part.get("type") == "text"
                )
            yield str(line["type"]), str(content)


def page_of(title: str, day: str, messages: Iterable[tuple[str, str]]) -> str:
    """A conversation under its title and day: who wrote each message, and what."""
    texts = [f"**{who}**: {text.strip()}" for who, text in messages if text.strip()]
    if not texts:
        return ""
    head = " ".join(filter(None, (on_one_line(title), day)))
    return "\n\n".join([f"# {head}"] * bool(head) + texts)
