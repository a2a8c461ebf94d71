"""Reads Jupyter notebooks: Markdown, code blocks, and the beginning of their output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mdvec.converters.formats import Converted, NotConverted, joined_pages, refused_if_odd

_MAX_OUTPUT = 1_000


def convert(data: bytes, file_name: str) -> Converted:  # noqa: ARG001 - as every converter's
    """The text of a notebook, cell by cell."""
    with refused_if_odd("it is not a notebook of Jupyter's format 4, or it is damaged"):
        notebook = json.loads(data)
        cells = notebook["cells"]
        language = notebook.get("metadata", {}).get("language_info", {}).get("name", "python")
        pages = ["\n\n".join(_parts(cell, str(language))) for cell in cells]
    if not any(pages):
        raise NotConverted("no cell of it has text")
    return Converted(joined_pages(pages))


def _parts(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _text(cell["source"]).strip()
    if cell["cell_type"] != "code":
        yield source
        return
    if source:
        yield _fence(source, language)
    for output in cell.get("outputs", []):
        text = _text(output.get("text") or output.get("data", {}).get("text/plain") or "").strip()
        if text:
            yield _fence(text if len(text) <= _MAX_OUTPUT else f"{text[:_MAX_OUTPUT]} …", "")


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


def _fence(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
