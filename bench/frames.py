"""The sentences that terms and headings are asked in."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FRAMES = Path(__file__).with_name("question_frames.toml")


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with a place for what is asked about; see the file for its attributes."""

    text: str
    language: str = "ja"
    misspelt: bool = False
    held_out: bool = False

    def around(self, words: str) -> str:
        """The question."""
        return self.text.replace("{}", _misspelt(words) if self.misspelt else words)


def frames(*, held_out: bool) -> list[Frame]:
    """The frames that nothing was chosen by, or the others."""
    rows = tomllib.loads(FRAMES.read_text("utf-8"))["frame"]
    return [frame for frame in (Frame(**row) for row in rows) if frame.held_out == held_out]


def _misspelt(words: str) -> str:
    """Two neighbouring letters in the middle have changed places."""
    for place in range(len(words) // 2, len(words) - 1):
        left, right = words[place : place + 2]
        if left != right and left.isalpha() and right.isalpha():
            return words[:place] + right + left + words[place + 2 :]
    return words
