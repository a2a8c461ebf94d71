"""Puts text of files where it can imitate nothing: on one line, in quotes, or within a fence."""

import json
import re
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

_MAX_SHORTENED = 60
_MARK_BYTES = 3
_FENCED = re.compile(r"^<text (\w+)>\n.*?\n</text \1>$", re.DOTALL | re.MULTILINE)


def on_one_line(text: str) -> str:
    """``text`` with white space collapsed and control characters escaped.

    A file name may contain line breaks and terminal codes; shown raw, it could imitate output.
    """
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in " ".join(text.split())
    )


def visible(text: str) -> str:
    """``text`` with the characters that end or turn a line, or cannot be seen, as JSON has them."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or unicodedata.category(char) == "Zs" else json.dumps(char)[1:-1]
        for char in text
    )


def quoted(text: str) -> str:
    """``text`` as a JSON string on one line.

    It reads back exactly (``json.loads``), so that it can be passed on as an argument.
    """
    return visible(json.dumps(text, ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class TextFence:
    """The lines around the texts of one answer; ``mark`` occurs in none of them."""

    mark: str

    def around(self, text: str) -> str:
        """The text between its own two lines; a line break at its end is the last line's."""
        end = "" if text.endswith("\n") else "\n"
        return f"<text {self.mark}>\n{text}{end}</text {self.mark}>"

    @property
    def chars(self) -> int:
        """How much longer a text gets."""
        return len(self.around(""))


def fence_for(texts: Iterable[str]) -> TextFence:
    """A fence that none of these texts can close: its mark is drawn anew for each answer."""
    known = list(texts)
    mark = secrets.token_hex(_MARK_BYTES)
    while any(mark in text for text in known):
        mark = secrets.token_hex(_MARK_BYTES)
    return TextFence(mark)


def outside_fences(answer: str) -> list[str]:
    """The lines of an answer that its server wrote."""
    return _FENCED.sub("", answer).splitlines()


def shortened(text: str) -> str:
    """The beginning of ``text`` on one line, to quote in a message."""
    line = "".join(char if char.isprintable() else " " for char in text[:_MAX_SHORTENED])
    return line if len(text) <= _MAX_SHORTENED else line + "…"
