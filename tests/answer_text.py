"""Reads the text of an answer as a careful model would: the server's lines, and what is fenced."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

_HEAD = re.compile(
    r"\[(?P<number>\d+)\] (?:(?P<tool>[a-z0-9_-]+): )?(?P<path>\"(?:[^\"\\]|\\.)*\")"
    r":(?P<first>\d+)-(?P<last>\d+) \(characters (?P<start>\d+)-(?P<end>\d+)\)"
    r"(?: (?:page|slide|chapter|cell|message|conversation)s? [\d-]+)?"
    r"(?: — (?P<heading>\"(?:[^\"\\]|\\.)*\"))?(?:, (?P<about>\"(?:[^\"\\]|\\.)*\"))?"
    r", score (?P<score>[\d.]+)(?:; .+)?"
)
_OPENING = re.compile(r"<text ([0-9a-f]+)>")


@dataclass(frozen=True)
class Passage:
    """A hit, as its head and its fence show it; ``content`` is "" if its text did not fit."""

    number: int
    tool: str | None
    file_path: str
    lines: tuple[int, int]
    span: tuple[int, int]
    heading: str
    about: str
    score: float
    content: str = ""


def _parts(text: str) -> list[tuple[bool, str]]:
    """The lines that the server wrote, and the texts within fences (True), in order."""
    parts: list[tuple[bool, str]] = []
    within: list[str] | None = None
    closing = ""
    for line in text.split("\n"):
        opening = _OPENING.fullmatch(line)
        if within is None and opening:
            within, closing = [], f"</text {opening[1]}>"
        elif within is None:
            parts.append((False, line))
        elif line == closing:
            parts.append((True, "\n".join(within)))
            within = None
        else:
            within.append(line)
    assert within is None, text
    return parts


def outside(text: str) -> list[str]:
    """The lines that the server wrote; fails if a fence is not closed."""
    return [part for is_fenced, part in _parts(text) if not is_fenced]


def fenced(text: str) -> list[str]:
    """The texts within the fences."""
    return [part for is_fenced, part in _parts(text) if is_fenced]


def passages(text: str) -> list[Passage]:
    """The hits of an answer, in order."""
    found: list[Passage] = []
    for is_fenced, part in _parts(text):
        head = _HEAD.fullmatch(part)
        if is_fenced:
            found[-1] = replace(found[-1], content=part)
        elif head:
            heading, about = (json.loads(head[name] or '""') for name in ("heading", "about"))
            found.append(
                Passage(
                    int(head["number"]), head["tool"], json.loads(head["path"]),
                    (int(head["first"]), int(head["last"])),
                    (int(head["start"]), int(head["end"])), heading, about, float(head["score"]),
                )
            )  # fmt: skip
    return found


def notes(text: str) -> list[str]:
    """The notes of an answer."""
    return [line.removeprefix("note: ") for line in outside(text) if line.startswith("note: ")]
