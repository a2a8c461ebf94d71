"""Check that each Japanese page has the sections, commands and tables of its English one.

python tools/check_translations.py; part of `make lint`. Prose may differ, because each
language has its own. Compared are the order and depth of the headings, the commands and settings in
code blocks without their comments, and the rows of each table with the code in them. What a command
prints, and messages cut with "…", each page shows in its own language. Every command, setting and
address that the English page names must be on the Japanese one.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
COMMENT = re.compile(r"\s*#.*$")
QUOTED = re.compile(r'"[^"]*"')
CODE = re.compile(r"`([^`]+)`")
SETTING = re.compile(r"^(?:# )?(\[\w+\]|\w+ = [^#]*?) *(?:#.*)?$")
TERM = re.compile(r"`(\[\w+\]|[a-z]+(?:_[a-z]+)+|mdvec(?: [a-z]+)+)`|(127\.0\.0\.1)")


@dataclass(frozen=True, slots=True)
class Outline:
    """What two translations of a page have in common."""

    headings: list[str]
    commands: list[str]
    tables: list[str]


def outline(text: str) -> Outline:
    """The outline of a Markdown page."""
    tokens = MarkdownIt().enable("table").parse(text)
    return Outline(
        headings=[token.tag for token in tokens if token.type == "heading_open"],
        commands=[line for token in tokens if token.type == "fence" for line in _commands(token)],
        tables=list(_rows(tokens)),
    )


def _commands(fence: Token) -> list[str]:
    """The lines of a block for the shell, comments and quoted texts aside."""
    if fence.info == "toml":
        found = (SETTING.match(line) for line in fence.content.splitlines())
        return [match[1] for match in found if match]
    if fence.info not in {"bash", "sh", "console"}:
        return [f"({fence.info or 'text'})"]
    typed = [
        line
        for line in fence.content.splitlines()
        if fence.info != "console" or line.startswith("$ ")
    ]
    lines = (QUOTED.sub('"…"', COMMENT.sub("", line)) for line in typed)
    return [line.strip() for line in lines if line.strip()]


def _rows(tokens: list[Token]) -> list[str]:
    """A line for each row of each table: how many cells, and the code in the first."""
    rows: list[str] = []
    cells: list[str] = []
    for token, inner in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "tr_open":
            cells = []
        elif token.type in {"th_open", "td_open"} and inner is not None:
            cells.append(inner.content)
        elif token.type == "tr_close":
            names = [code for code in CODE.findall(cells[0]) if "…" not in code]
            rows.append(f"{len(cells)} cells, {' '.join(names) or 'no code'}")
    return rows


def differences(english: Path, japanese: Path) -> list[str]:
    """The differences between two pages, one per line."""
    ours, theirs = (outline(page.read_text(encoding="utf-8")) for page in (english, japanese))
    found = _unnamed(english, japanese)
    for name in ("headings", "commands", "tables"):
        one, other = getattr(ours, name), getattr(theirs, name)
        if one == other:
            continue
        at = next(
            (place for place, pair in enumerate(zip(one, other, strict=False)) if len({*pair}) > 1),
            min(len(one), len(other)),
        )
        here, there = (lines[at] if at < len(lines) else "the end" for lines in (one, other))
        found.append(
            f"{english.name} and {japanese.name} differ in {name}, number {at + 1}: "
            f"{here!r} against {there!r}"
        )
    return found


def _unnamed(english: Path, japanese: Path) -> list[str]:
    """The commands, settings and addresses that only the English page names."""
    text = japanese.read_text(encoding="utf-8")
    terms = {match[1] or match[2] for match in TERM.finditer(english.read_text(encoding="utf-8"))}
    return [f"{japanese.name} does not name {term}" for term in sorted(terms) if term not in text]


def main() -> int:
    """Compare every pair of pages."""
    pages = [*ROOT.glob("*.ja.md"), *(ROOT / "docs").glob("*.ja.md")]
    found = [
        line
        for page in sorted(pages)
        for line in differences(page.with_name(page.name.replace(".ja.md", ".md")), page)
    ]
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
