"""The help of the commands in Japanese, in lines that fit the terminal."""

from __future__ import annotations

import inspect
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_HEADINGS = {
    "Usage": "使い方",
    "Options": "オプション",
    "Arguments": "引数",
    "Commands": "コマンド",
}
_PIECE = re.compile(r"[!-~]+ ?|.", re.DOTALL)
_NEVER_FIRST = "、。，．）」』】〉》！？：；…ー)]}"
_NEVER_FIRST_ASCII = re.compile(r"[\])},.:;!?]")
_EXTRA = re.compile(r"  \[")


def put_into_japanese(command: Any) -> None:  # noqa: ANN401 - typer's own click is private
    """Put the help of a command, of its options and of all commands below into Japanese.

    A text that is not in ``help.ja.toml`` stays in English.
    """
    text = (Path(__file__).parent / "help.ja.toml").read_text(encoding="utf-8")
    words = tomllib.loads(text)
    _put(command, words, _context_class(command, words))


def _put(command: Any, words: dict[str, str], context_class: type) -> None:  # noqa: ANN401
    command.context_class = context_class
    if command.help:
        command.help = words.get(inspect.cleandoc(command.help), command.help)
        command.short_help = command.help.partition("\n")[0]
    for parameter in command.params:
        if help_ := getattr(parameter, "help", None):
            parameter.help = words.get(inspect.cleandoc(help_), help_)
    for below in getattr(command, "commands", {}).values():
        _put(below, words, context_class)


def _context_class(command: Any, words: dict[str, str]) -> type:  # noqa: ANN401
    """The contexts of commands, which make their help with a formatter of Japanese."""
    usual = command.context_class.formatter_class

    class JapaneseFormatter(usual):  # type: ignore[misc, valid-type]
        """Writes help with headings in Japanese, and breaks lines between any characters."""

        def write_heading(self, heading: str) -> None:
            super().write_heading(_HEADINGS.get(heading, heading))

        def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
            super().write_usage(prog, args, prefix or f"{_HEADINGS['Usage']}: ")

        def write_text(self, text: str) -> None:
            width = self.width - self.current_indent
            for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
                self.write("\n" if number else "")
                for line in wrapped(paragraph.replace("\n", " "), width):
                    self.write(f"{'':>{self.current_indent}}{line}\n")

        def write_dl(
            self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
        ) -> None:
            first = min(max(columns(term) for term, _ in rows), col_max) + col_spacing
            indent = " " * (self.current_indent + first)
            for term, text in rows:
                about, *extra = _EXTRA.split(text, maxsplit=1)
                said = words.get(about, about) + "".join(f" [{more}" for more in extra)
                lines = list(wrapped(said, max(self.width - len(indent), 20)))
                start = f"{'':>{self.current_indent}}{term}"
                if columns(term) > first - col_spacing:
                    self.write(f"{start}\n")
                    start = indent
                self.write(f"{start}{' ' * (len(indent) - columns(start))}")
                self.write(f"\n{indent}".join(lines) + "\n")

    return type("JapaneseContext", (command.context_class,), {"formatter_class": JapaneseFormatter})


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def wrapped(text: str, width: int) -> Iterator[str]:
    """The lines of a text; words are kept whole, and no line begins with a closing mark."""
    line = ""
    for piece in _PIECE.findall(text):
        may_break = piece[0] not in _NEVER_FIRST and not _NEVER_FIRST_ASCII.match(piece)
        if line and may_break and columns(line + piece.rstrip()) > width:
            yield line.rstrip()
            line = ""
        line += piece if line or piece != " " else ""
    yield line.rstrip()
