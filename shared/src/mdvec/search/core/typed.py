"""Parses the filters in a typed query: "literal text", -excluded, tag:NAME and path:FOLDER."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mdvec.text import some_of

_QUOTED = r"[\"“]([^\"“”\n]*[^\s\"“”][^\"“”\n]*)[\"”]"
_SIGNED = re.compile(
    rf"(?<!\S)([-\u2212\uff0d](?=[^\W\d_]|[\"“])|tag:|path:)(?:{_QUOTED}|([^\s\"“”]+))(?!\S)"
)
"""A filter in a query; its hyphen may be a minus sign or full-width, as input methods type it."""
_EXACT = re.compile(rf"(?<![\w\"“”]){_QUOTED}(?![A-Za-z0-9_])|(?<=[^\x00-\x7f]){_QUOTED}")
_CODE_SIGNS = frozenset("{}[]()<>=;|`$\\")
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A query split into its words and the filters in it."""

    words: str
    exact: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str | None = None


def typed_query(text: str) -> TypedQuery:
    """Parse a typed query; all other signs, even 「」, are text.

    If a query only excludes something, its signs are text as well.
    """
    stated: dict[str, list[str]] = {"-": [], "tag:": [], "path:": []}
    exact: list[str] = []

    def take(match: re.Match[str]) -> str:
        stated[match[1] if match[1] in stated else "-"].append((match[2] or match[3]).strip())
        return " "

    def unquote(match: re.Match[str]) -> str:
        exact.append((match[1] or match[2]).strip())
        return f" {exact[-1]} "

    words = " ".join(_EXACT.sub(unquote, _SIGNED.sub(take, text)).split())
    if not (words or stated["tag:"] or stated["path:"]):
        return TypedQuery(text)
    return TypedQuery(
        words if exact or any(stated.values()) else text,
        tuple(dict.fromkeys(exact)),
        tuple(dict.fromkeys(stated["-"])),
        tuple(dict.fromkeys(stated["tag:"])),
        stated["path:"][-1] if stated["path:"] else None,
    )


def looks_like_code(text: str) -> bool:
    """Whether a query may be a command, code or several lines, where such signs mean other things.

    A line of ASCII that begins in lower case counts as a command (ls -la, grep "a b" file).
    """
    line = text.strip()
    if "\n" in line or not _CODE_SIGNS.isdisjoint(line) or " --" in f" {line}":
        return True
    return line.isascii() and line[:1].islower() and not line.startswith(("tag:", "path:"))


def signs_read_as_text(text: str, *, is_code: bool) -> list[str]:
    """A note on signs that are not filters: in code, or in a query without other words."""
    signs = [match[0] for match in (*_SIGNED.finditer(text), *_EXACT.finditer(text))]
    signs = list(dict.fromkeys(signs))
    if not signs or not (is_code or typed_query(text) == TypedQuery(text)):
        return []
    why = "the query looks like a command or code" if is_code else "nothing else is asked"
    return [
        f"read as text, as {why}: {some_of(signs, _MAX_NAMED)}; exact and exclude state such words"
    ]
