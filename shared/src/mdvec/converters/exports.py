"""Reads exports of Slack, Notion, ChatGPT and Claude: a document a day, page or conversation.

Formats: Slack's help page "How to read Slack data exports", and Notion's "Export your content".
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

from mdvec.converters.archive import Archive
from mdvec.converters.conversations import conversations_in, text_of
from mdvec.converters.formats import (
    Converted,
    NotConverted,
    Part,
    bundle,
    refused_if_odd,
    with_matter,
)
from mdvec.files import UnreadableFile, decode_text
from mdvec.text import TAG_KEYS, counted

_WHY = (
    "it is not an export of Slack, ChatGPT, Claude, or of Notion as Markdown & CSV; unpack other "
    "archives"
)
_SLACK_DAY = re.compile(r"(?:.*/)?([^/]+)/(\d{4}-\d{2}-\d{2})\.json")
_CONVERSATIONS = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_NOTION_PAGE = re.compile(r"(?:.*/)?[^/]* [0-9a-f]{32}\.md")
_NOTION_ID = re.compile(r" [0-9a-f]{32}$")
_NOTION_TABLE = re.compile(r"(.*?)(?: [0-9a-f]{32})?(?:_all)?\.csv")
_NOTION_PROPERTY = re.compile(r"([^\s:#>|*+-][^:]{0,80}): (\S.*)")
_SLACK_MARK = re.compile(r"<(?:([@#!])([^>|]+)|([^>|]+))(?:\|([^>]*))?>")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


def convert(data: bytes, file_name: str) -> Converted:
    """The documents of an export; those of Slack have the author of each message.

    A file of an unpacked Slack export is one day of a channel, which is named by its folder.
    """
    if file_name.lower().endswith(".json"):
        day = _slack_day(data, f"channel/{file_name}", {})
        return Converted(day.content or f"# {file_name}\n")
    archive = Archive(data)
    notes: tuple[str, ...] = ()
    if chats := sorted(filter(_CONVERSATIONS.fullmatch, archive.names)):
        documents = [part for name in chats for part in conversations_in(archive.read(name))]
    elif "users.json" in archive.names:
        documents = list(_slack(archive))
    else:
        parts = [archive, *(Archive(archive.read(n)) for n in archive.names if n.endswith(".zip"))]
        documents = [page for part in parts for page in _notion(part)]
        tables = sum(name.endswith(".csv") for part in parts for name in part.names)
        notes = (f"{counted(tables, 'table')} left out: import .csv as a dataset",) * bool(tables)
    documents = [document for document in documents if document.content.strip()]
    if not documents:
        raise NotConverted(_WHY)
    return bundle(file_name, documents, notes)


def _notion(archive: Archive) -> Iterator[Part]:
    """The pages of an export; the table of a database names the properties of its pages."""
    columns: dict[str, list[str]] = {}
    for name in filter(_NOTION_TABLE.fullmatch, archive.names):
        with suppress(UnreadableFile, csv.Error):
            rows = csv.reader(io.StringIO(decode_text(archive.read(name))))
            columns[_NOTION_TABLE.sub(r"\1", name)] = next(rows, [])
    for name in sorted(filter(_NOTION_PAGE.fullmatch, archive.names)):
        database = _NOTION_ID.sub("", name.rpartition("/")[0])
        page = decode_text(archive.read(name))
        yield Part(name.removesuffix(".md"), _with_properties(page, columns.get(database, ())))


def _with_properties(page: str, columns: Collection[str]) -> str:
    """A page of Notion, with the properties in the paragraph below its title as front matter.

    If the columns of its database are known, other lines continue the previous value.
    """
    title, *below = page.replace("\r\n", "\n").split("\n\n", 2)
    lines = below[0].splitlines() if below and title.startswith("# ") else []
    properties: dict[str, str] = {}
    for line in lines:
        match = _NOTION_PROPERTY.fullmatch(line)
        if match and (not columns or match[1] in columns):
            key = match[1]
            properties[key] = match[2]
        elif columns and properties:
            properties[key] += f" {line}"
        else:
            return page
    # Tags may have spaces; in other values a comma may be part of a date or a sentence.
    return with_matter(
        page,
        {key: v.split(", ") if key.casefold() in TAG_KEYS else v for key, v in properties.items()},
    )


def _slack(archive: Archive) -> Iterator[Part]:
    with refused_if_odd(_WHY):
        people = {str(user["id"]): _name(user) for user in json.loads(archive.read("users.json"))}
    for name in sorted(filter(_SLACK_DAY.fullmatch, archive.names)):
        yield _slack_day(archive.read(name), name, people)


def _slack_day(data: bytes, path: str, people: Mapping[str, str]) -> Part:
    """A day of a channel; its text is empty if there are no messages."""
    day = _SLACK_DAY.fullmatch(path)
    if day is None:
        raise NotConverted(_WHY)
    with refused_if_odd(_WHY):
        messages = json.loads(data)
        named = {
            str(m.get("user")): _name(m["user_profile"]) for m in messages if "user_profile" in m
        }
        written = list(_messages(messages, {**named, **people}))
    return Part(path.removesuffix(".json"), text_of(f"#{day[1]} {day[2]}", day[2], written))


def _name(user: Mapping[str, Any]) -> str:
    profile = user.get("profile") or {}
    names = (profile.get("display_name"), user.get("display_name"), user.get("real_name"))
    return str(next(filter(None, (*names, user.get("name"), user.get("id"))), ""))


def _messages(day: list[dict[str, Any]], people: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for message in day:
        if message.get("type") == "message" and message.get("subtype") in (
            None, "bot_message", "thread_broadcast", "me_message",
        ):  # fmt: skip
            user = str(message.get("user") or message.get("username") or "bot")
            yield people.get(user, user), _message_text(str(message.get("text") or ""), people)


def _message_text(text: str, people: Mapping[str, str]) -> str:
    """A message with the names of people and channels, and links as Markdown."""

    def shown(mark: re.Match[str]) -> str:
        kind, target, address, label = mark.groups()
        if kind:
            return kind + (label or people.get(target, target))
        return f"[{label}]({address})" if label else str(address)

    text = _SLACK_MARK.sub(shown, text)
    for entity, letter in _ENTITIES.items():
        text = text.replace(entity, letter)
    return text
