"""Lines of text on a page, and the normal form of their letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

_RADICALS = str.maketrans(
    "⺠⻑⻄⻘⻩⻝⻁⻲⻯⻭⻫⻨⻤⻣⻅⻆⻋⻚⻛⻜⺟⻳", "民長西青黄食虎亀竜歯斉麦鬼骨見角車頁風飛母龟"
)
_FOLDED = re.compile("[\u2f00-\u2fdf\ufb00-\ufb06]")
_SPACED_OUT = re.compile(r"(?<!\S)(?:[^\s!-~] ){2,}[^\s!-~](?!\S)")
_HYPHENS = "-\u00ad\u2010\x02\ufffe"
_PARTED = re.compile("(?<![a-z])[\x02\ufffe](?=\\S)|[\x02\ufffe](?![a-z])(?=\\S)")
"""PDFium's sign for a hyphen at the end of a line that belongs to the word (RUF-A2405SAW).

Between small letters it may divide a word instead (configu-ration).
"""
_PERHAPS = "\u00ad"
"""Marks a hyphen at the end of a line until the whole document is read."""
_PERHAPS_PARTED = re.compile(rf"([^\W\d_]*){_PERHAPS}([^\W\d_]*)")
_COMPOUND = re.compile(r"\b[^\W\d_]+-[^\W\d_]+")
_WIDE_LETTERS = "[\u2e80-\u303f\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60]"
_WIDE = re.compile(_WIDE_LETTERS)
WIDE_SPACE = re.compile(f"(?<={_WIDE_LETTERS}) (?={_WIDE_LETTERS})")
"""A space between two kanji or kana."""
_ODD = re.compile(
    r"[\x00-\x1f\x7f\u00ad\u2010\u2e80-\u2fdf\ufb00-\ufb06\ufffe]|\s\s|[^!-~] [^!-~] |-$"
)
"""Characters that normal text does not have."""

APART = 2.0
"""Rows further apart than this many times their size do not follow each other."""


@dataclass(frozen=True, slots=True)
class TextBox:
    """A rectangle on a page, where ``y`` grows upwards.

    ``size`` is the size of its letters, not of their ink: 一 is as large as 国.
    """

    left: float
    right: float
    bottom: float
    top: float
    size: float

    @property
    def height(self) -> float:
        """The extent from bottom to top."""
        return self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Line(TextBox):
    """Text in one line of one column, or in one cell, of a page of ``page_height``."""

    text: str
    page_height: float
    is_vertical: bool = False

    @property
    def width(self) -> float:
        """The extent from left to right."""
        return self.right - self.left

    @property
    def middle(self) -> float:
        """The vertical position of its centre on the page."""
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        """Its extent from top to bottom; for a vertical line, the size of its letters."""
        return self.size if self.is_vertical else self.top - self.bottom

    def turned(self) -> Line:
        """The line on the page rotated so that vertical columns become horizontal lines."""
        return replace(
            self,
            left=self.page_height - self.top,
            right=self.page_height - self.bottom,
            bottom=self.left,
            top=self.right,
        )


def stacked(lines: Iterable[Line]) -> list[Line]:
    """The lines, with characters that were drawn below each other joined to vertical lines."""
    columns: list[Line] = []
    for line in lines:
        above = columns[-1] if columns else None
        if above is not None and _is_under(above, line):
            columns[-1] = replace(
                above,
                text=above.text + line.text,
                left=min(above.left, line.left),
                right=max(above.right, line.right),
                bottom=line.bottom,
                is_vertical=True,
            )
        else:
            columns.append(line)
    return columns


def _is_under(above: Line, line: Line) -> bool:
    is_column = above.is_vertical or (len(above.text) == 1 and is_wide(above.text))
    is_character = len(line.text) == 1 or (len(line.text) == 2 and line.text.isdigit())
    return (
        is_column
        and is_character
        and abs(above.left + above.right - line.left - line.right) < line.size
        and -line.size / 2 < above.bottom - line.top < line.size
    )


def in_rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Lines at the same height, from top to bottom and from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -line.middle):
        if rows and rows[-1][0].middle - line.middle < min(line.height, rows[-1][0].height) / 2:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.left) for row in rows]


def is_wide(char: str) -> bool:
    """Whether a character is kanji, kana or their punctuation, which need no spaces."""
    return _WIDE.match(char) is not None


def normal_text(text: str) -> str:
    """Text with kanji for radicals, letters for ligatures and no spaces within spaced-out words."""
    if _ODD.search(text) is None:
        return text.strip()
    text = _FOLDED.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    text = _SPACED_OUT.sub(lambda match: match[0].replace(" ", ""), text.translate(_RADICALS))
    text = _PARTED.sub("-", text)
    end = text[-1:] if text[-1:] in _HYPHENS else ""
    body = text.removesuffix(end) if end else text
    body = body.replace(_PERHAPS, "").replace("\x02", _PERHAPS).replace("\ufffe", _PERHAPS)
    body = "".join(char for char in body if char >= " " and char != "\x7f")
    return " ".join(f"{body}{'-' if end else ''}".split())


def joined(first: str, second: str) -> str:
    """Two lines of a paragraph joined: without a space between kanji, and with words rejoined."""
    if not first or not second:
        return first or second
    if is_wide(first[-1]) or is_wide(second[0]):
        return first + second
    if first[-1] == "-" and first[-2:-1].isalpha() and second[0].islower():
        return first[:-1] + _PERHAPS + second
    return f"{first} {second}"


def with_words_whole(pages: Sequence[str]) -> list[str]:
    """The pages with words rejoined that were divided at the end of a line.

    The hyphen stays in a word that has it elsewhere in the document, such as full-time.
    """
    if not any(_PERHAPS in page for page in pages):
        return list(pages)
    compounds = {word for page in pages for word in _COMPOUND.findall(page.lower())}

    def whole(word: re.Match[str]) -> str:
        compound = "-".join(word.groups())
        return compound if compound.lower() in compounds else "".join(word.groups())

    return [_PERHAPS_PARTED.sub(whole, page) for page in pages]
