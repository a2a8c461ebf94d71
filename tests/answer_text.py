"""Reads the text of an answer as a careful model would: the server's lines, and what is fenced."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_HEAD = re.compile(
    r"\[(?P<number>\d+)\] (?:(?P<tool>[a-z0-9_-]+): )?(?P<path>\"(?:[^\"\\]|\\.)*\")"
    r":(?P<first>\d+)-(?P<last>\d+) \(characters (?P<start>\d+)-(?P<end>\d+)\)"
    r"(?: — (?P<heading>\"(?:[^\"\\]|\\.)*\"))?(?:, (?P<about>\"(?:[^\"\\]|\\.)*\"))?"
    r", score (?P<score>[\d.]+)"
)
_OPENING = re.compile(r"<text ([0-9a-f]+)>")


@dataclass(frozen=True)
class Passage:
    """A hit, as its head and its fence show it; ``content`` is None if its text did not fit."""

    number: int
    tool: str | None
    file_path: str
    lines: tuple[int, int]
    span: tuple[int, int]
    heading: str
    about: str
    score: float
    content: str | None


def outside(text: str) -> list[str]:
    """The lines that the server wrote; fails if a fence is not closed."""
    lines, closing = [], None
    for line in text.split("\n"):
        opening = _OPENING.fullmatch(line)
        if closing is None and opening:
            closing = f"</text {opening[1]}>"
        elif closing is None:
            lines.append(line)
        elif line == closing:
            closing = None
    assert closing is None
    return lines


def fenced(text: str) -> list[str]:
    """The texts within the fences."""
    return [
        text[match.end() + 1 : text.index(f"\n</text {match[1]}>", match.end())]
        for match in _OPENING.finditer(text)
    ]


def passages(text: str) -> list[Passage]:
    """The hits of an answer, in order."""
    found = []
    for block in re.split(r"\n\n(?=\[\d+\] )", text)[1:]:
        head = _HEAD.match(block)
        assert head, block
        contents = fenced(block)
        heading, about = (json.loads(head[name] or '""') for name in ("heading", "about"))
        found.append(
            Passage(
                int(head["number"]), head["tool"], json.loads(head["path"]),
                (int(head["first"]), int(head["last"])), (int(head["start"]), int(head["end"])),
                heading, about, float(head["score"]), contents[0] if contents else None,
            )
        )  # fmt: skip
    return found


def notes(text: str) -> list[str]:
    """The notes of an answer."""
    return [line.removeprefix("note: ") for line in outside(text) if line.startswith("note: ")]
