"""Reads Jupyter notebooks: Markdown, code blocks, and the beginning of their output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from mdvec.converters.formats import Converted, NotConverted, joined_pages, refused_if_odd

_MAX_OUTPUT = 1_000
_COLOR = re.compile(r"\x1b\[[\d;]*m")


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
        if text := _text(_shown(output)).strip():
            yield _fence(text if len(text) <= _MAX_OUTPUT else f"{text[:_MAX_OUTPUT]} …", "")


def _shown(output: dict[str, Any]) -> str | list[str]:
    """The text of an output as a reader sees it; of an error, its last line.

    Markdown is formatted text only if there is no HTML: R writes each value in both.
    """
    if output.get("output_type") == "error":
        return _error(output)
    data = output.get("data", {})
    formatted = "" if "text/html" in data else _text(data.get("text/markdown", "")).strip()
    return output.get("text") or formatted or data.get("text/plain") or ""


def _error(output: dict[str, Any]) -> str:
    """The kind of an error and its message; Colab has the message only in the traceback."""
    kind, message = str(output.get("ename", "")), str(output.get("evalue", ""))
    said = ": ".join(filter(None, (kind, message)))
    trace = "\n".join(map(str, [said, *(output.get("traceback") or ())]))
    last = _COLOR.sub("", trace).strip().rpartition("\n")[2]
    return last if kind and last.startswith(kind) else _COLOR.sub("", said)


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


def _fence(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
