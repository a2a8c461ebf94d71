"""Shows text from files so that it cannot imitate output: on one line, quoted, or in a fence."""

from __future__ import annotations

import json
import re
import secrets
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

_MAX_PLAIN_NAME = 40
_MARK_BYTES = 3
_PLAIN_NAME = re.compile(
    r"(?!.*\d[百千万億]* ?[円%％])"
    r"[\w(（\u3200-\u32ff][\w\u3200-\u32ff\u3099\u309a \u3000.・&'’()（）/＆+*＊>!@〜～－-]*"
    r"(?<!\u3000)"
)
_BLANKS = re.compile(r"[^\S\u3000]+")
_FULL_WIDTH = re.compile(r"(?<!\\)((?:\\\\)*)\\u3000")
_TAGS = dict.fromkeys(range(0xE0000, 0xE0080), "\ufffd")
_FENCED = re.compile(r"^<text (\w+)>\n.*?\n</text \1>$", re.DOTALL | re.MULTILINE)


def on_one_line(text: str) -> str:
    """``text`` with white space collapsed and control characters escaped.

    A file name may contain line breaks and terminal codes; shown raw, it could imitate output. A
    full-width space is visible, so it stays.
    """
    if text.isprintable() and "  " not in text:
        return text.strip(" ")
    return "".join(
        char if is_visible(char) else char.encode("unicode_escape").decode("ascii")
        for char in _BLANKS.sub(" ", text).strip(" ")
    )


def is_visible(char: str) -> bool:
    """Whether a character is shown as it is: printable, or a space of any width."""
    return char.isprintable() or unicodedata.category(char) == "Zs"


def visible(text: str) -> str:
    """``text`` with line breaks, direction marks and invisible characters escaped as in JSON."""
    if text.isprintable():
        return text
    return "".join(char if is_visible(char) else json.dumps(char)[1:-1] for char in text)


def quoted(text: str) -> str:
    """``text`` as a JSON string on one line.

    ``json.loads`` restores it exactly, so that it can be passed on as an argument.
    """
    return visible(json.dumps(text, ensure_ascii=False))


def is_shown_as(path: str, name: str) -> bool:
    """Whether a path may have been shown as ``name``: on one line, as JSON, or as JSON unquoted."""
    if name == on_one_line(path):
        return True
    is_json = '"' in name or "\\" in name  # writing JSON takes far longer
    return is_json and name in ((as_json := quoted(path)), as_json[1:-1])


def cited(text: str | int) -> str:
    """``text`` in quotation marks as Python writes it, but with full-width spaces unescaped."""
    return _FULL_WIDTH.sub("\\1\u3000", repr(text))


def shown_name(name: object) -> str:
    """A name from the data (of a shop, a category or a file) for a line of an answer.

    It is unchanged if it can only be a name: letters and joining marks, without marks that end a
    sentence, open a list or begin a figure, and without invisible blanks. Otherwise it becomes a
    JSON string. Tools accept both forms as arguments.
    """
    text = str(name)
    is_short = len(text) <= _MAX_PLAIN_NAME and on_one_line(text) == text
    is_plain = is_short and _PLAIN_NAME.fullmatch(text)
    return text if is_plain or not text else quoted(text)


@dataclass(frozen=True, slots=True)
class TextFence:
    """The lines around the texts of one answer; ``mark`` occurs in none of them."""

    mark: str

    def around(self, text: str) -> str:
        """The text between two fence lines; its final line break is that of its last line.

        Each tag character, which a model can read but people cannot see, is replaced by ``�``.
        """
        end = "" if text.endswith("\n") else "\n"
        return f"<text {self.mark}>\n{text.translate(_TAGS)}{end}</text {self.mark}>"

    @property
    def chars(self) -> int:
        """The number of characters that a fence adds."""
        return len(self.around(""))


def fence_for(texts: Iterable[str]) -> TextFence:
    """A fence that none of these texts can close; its mark is random for each answer."""
    known = list(texts)
    mark = secrets.token_hex(_MARK_BYTES)
    while any(mark in text for text in known):
        mark = secrets.token_hex(_MARK_BYTES)
    return TextFence(mark)


def outside_fences(answer: str) -> list[str]:
    """The lines of an answer that its server wrote."""
    return _FENCED.sub("", answer).splitlines()


def shortened(text: str, most: int = 60) -> str:
    """The beginning of ``text`` on one line, to quote in a message."""
    line = visible(text[:most])
    return line if len(text) <= most else line + "…"


def identifier(name: str) -> str:
    """``name`` of a table, column or index as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """``text`` as a string literal."""
    return "'" + text.replace("'", "''") + "'"


def some_of(names: Sequence[str], most: int) -> str:
    """The first ``most`` names, and how many others there are: a, b and 3 more."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(number: int, noun: str) -> str:
    """The number with its noun: 1 file, 1,200 files."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def file_size(size: int) -> str:
    """A number of bytes as text such as 8.0 kB; 1 kB is 1,024 bytes, as in settings and limits."""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GB"


def utc_time(stored: str | None) -> str | None:
    """A stored UTC time as ISO 8601 with its zone, ``2026-11-21T04:26:00Z``; None stays None."""
    if stored is None:
        return None
    return f"{datetime.fromisoformat(stored).replace(tzinfo=UTC):%Y-%m-%dT%H:%M:%SZ}"


def local_time(stored: str | None) -> str | None:
    """A UTC time as local time, such as ``2026-11-21 13:26 JST``; None stays None."""
    if stored is None:
        return None
    return f"{datetime.fromisoformat(stored).replace(tzinfo=UTC).astimezone():%Y-%m-%d %H:%M %Z}"
