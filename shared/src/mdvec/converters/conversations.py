"""Reads conversations exported by Claude, ChatGPT and Claude Code: each becomes a document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from mdvec.converters import formats
from mdvec.text import on_one_line

_KEY_CHARS = 8
_WHY = "it is not an export of conversations from Claude, ChatGPT or Claude Code"


def convert(data: bytes, file_name: str) -> formats.Converted:
    """Convert each conversation, with its day and the authors of its messages."""
    if file_name.lower().endswith(".jsonl"):
        with formats.refused_if_odd(_WHY):
            return formats.Converted(_of_claude_code(data))
    parts = conversations_in(data)
    if not parts:
        raise formats.NotConverted(_WHY)
    return formats.bundle(file_name, parts)


def conversations_in(data: bytes) -> list[formats.Part]:
    """Each conversation with messages from a list in JSON.

    Raises:
        NotConverted: the data is not such a list.
    """
    with formats.refused_if_odd(_WHY):
        return [part for each in json.loads(data) if (part := _conversation(each)).content]


def _conversation(each: dict[str, Any]) -> formats.Part:
    if "chat_messages" in each:
        title, day = str(each.get("name") or ""), str(each.get("created_at") or "")[:10]
        messages = [(str(m["sender"]), "\n\n".join(_of_claude(m))) for m in each["chat_messages"]]
    else:
        title, messages = str(each.get("title") or ""), _of_chatgpt(each)
        began = each.get("create_time")
        day = f"{datetime.fromtimestamp(float(began), UTC):%Y-%m-%d}" if began else ""
    key = str(each.get("uuid") or each.get("conversation_id") or each.get("id") or "")[:_KEY_CHARS]
    return formats.Part(formats.part_name(title, key), text_of(title, day, messages))


def _of_claude(message: dict[str, Any]) -> Iterator[str]:
    """The text of a message, and the long texts that were pasted into it."""
    yield str(message.get("text") or _texts(message.get("content") or ""))
    for pasted in message.get("attachments") or []:
        yield f"{pasted.get('file_name') or ''}\n{pasted.get('extracted_content') or ''}".strip()


def _texts(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content if part.get("type") == "text")


def _of_chatgpt(each: dict[str, Any]) -> list[tuple[str, str]]:
    """The messages of the branch that was shown last, from the first on."""
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


def _of_claude_code(data: bytes) -> str:
    messages, days = [], []
    for line in data.splitlines():
        entry = json.loads(line) if line.strip() else {}
        message = entry.get("message")
        if entry.get("type") in ("user", "assistant") and isinstance(message, dict):
            messages.append((str(entry["type"]), _texts(message.get("content") or "")))
            days.append(str(entry.get("timestamp") or "")[:10])
    if text := text_of("", next(filter(None, days), ""), messages):
        return text
    raise formats.NotConverted(_WHY)


def text_of(title: str, day: str, messages: Iterable[tuple[str, str]]) -> str:
    """A conversation as Markdown, with its day and people as properties; "" without messages."""
    written = [(on_one_line(who), text.strip()) for who, text in messages if text.strip()]
    if not written:
        return ""
    head = [f"# {on_one_line(title)}"] if title.strip() else []
    body = "\n\n".join([*head, *(f"**{who}**: {text}" for who, text in written)])
    people = sorted({who for who, _ in written})
    return formats.with_matter(f"{body}\n", {"title": title, "date": day, "people": people})
