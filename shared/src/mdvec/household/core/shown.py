"""Names from the ledger in the lines of an answer."""

from __future__ import annotations

from mdvec import text


def shown_name(name: object) -> str:
    """A name, in quotation marks if it is not plain; its blanks become single spaces."""
    return text.shown_name(" ".join(str(name).split()))


def shown_path(path: str) -> str:
    """A file's path, in quotation marks if it is not plain; all its blanks stay."""
    return text.shown_name(path)


def bracketed_name(name: object) -> str:
    """The name in 「」, or in quotation marks if it is not plain."""
    shown = shown_name(name)
    return shown if shown.startswith('"') else f"「{shown}」"
