"""Links with which clients and people can open the files of hits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from mdvec.manage import list_tools

if TYPE_CHECKING:
    from mdvec.search import Answer

LinkKind = Literal["path", "obsidian"]


def links_of(database: Path, answer: Answer, kind: LinkKind | None) -> list[str]:
    """A link for each hit; none if ``kind`` is None."""
    if kind is None:
        return []
    sources = {tool.name: tool.source for tool in list_tools(database, active_only=False)}
    return [
        link_to(sources[hit.tool] / hit.file_path, kind) if hit.tool in sources else ""
        for hit in answer.results
    ]


def link_to(file: Path, kind: LinkKind) -> str:
    """The absolute path, or the URI with which Obsidian opens the note in its vault."""
    return str(file) if kind == "path" else f"obsidian://open?path={quote(str(file), safe='')}"
