"""The sentences that terms and headings are asked in."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

FRAMES = Path(__file__).with_name("question_frames.toml")

About = Literal["terms", "headings"]


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with a place for what is asked about; see the file for its attributes."""

    text: str
    kind: str
    about: tuple[str, ...] = ("terms", "headings")
    language: str = "ja"
    typos: bool = False
    misspelt: bool = False
    held_out: bool = False

    def around(self, words: str) -> str:
        """The question."""
        return self.text.replace("{}", _misspelt(words) if self.misspelt else words)


def frames_about(subject: About) -> list[Frame]:
    """The frames that may stand around a term, or around a heading."""
    read = tomllib.loads(FRAMES.read_text("utf-8"))["frame"]
    frames = [
        Frame(**{name: tuple(value) if name == "about" else value for name, value in row.items()})
        for row in read
    ]
    return [frame for frame in frames if subject in frame.about]


def _misspelt(words: str) -> str:
    """Two neighbouring letters in the middle have changed places."""
    for place in range(len(words) // 2, len(words) - 1):
        left, right = words[place : place + 2]
        if left != right and left.isalpha() and right.isalpha():
            return words[:place] + right + left + words[place + 2 :]
    return words
