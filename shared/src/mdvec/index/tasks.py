"""Finds the open tasks of documents."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np

from mdvec.index.tables import Tables
from mdvec.text import (
    identifier,
    indented_code,
    is_markdown,
    is_org,
    org_headlines,
    shown_lines,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OPEN_TASK = re.compile(r"(?m)^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[ \][ \t]+(\S.*)$")

_MAYBE_CODE = re.compile(r"(?m)^(?![ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]).*\n[ >]*(?: {4}|\t)[ \t]*\S")
"""Matches where indented code is possible; only then is a document parsed, which is slow."""


def chunks_with_tasks(tables: Tables) -> NDArray[np.int64]:
    """The chunks with an open task, in order."""
    chunks = identifier(tables.vectors)
    ids: set[int] = set()
    for document_id, path, content in tables.execute(
        f"SELECT id, file_path, content FROM {identifier(tables.documents)} "
        "WHERE instr(content, '[ ]') OR file_path LIKE '%.org'"
    ):
        lines = [line for line, _ in open_tasks(str(content), str(path))]
        rows = tables.execute(
            f"SELECT id, start_line, end_line FROM {chunks} WHERE document_id = ?", (document_id,)
        )
        ids.update(
            int(number)
            for number, first, last in rows
            if bisect_left(lines, first) < bisect_right(lines, last)
        )
    return np.array(sorted(ids), dtype=np.int64)


def open_tasks(content: str, file_path: str) -> list[tuple[int, str]]:
    """The open tasks of a document outside code and comments, each with its line.

    Open tasks are list items (- [ ]), and Org headings with a state such as TODO.
    """
    shown = shown_lines(content, file_path)
    tasks = [(match.start(), match[1].strip()) for match in _OPEN_TASK.finditer(shown)]
    if is_org(file_path):
        tasks += [(line.start, line.words) for line in org_headlines(content) if line.is_open]
    lines = [(shown.count("\n", 0, start) + 1, words) for start, words in sorted(tasks)]
    if not (lines and is_markdown(file_path) and _MAYBE_CODE.search(f"\n{shown}")):
        return lines
    code = {line for block in indented_code(content, file_path) for line in range(*block)}
    return [task for task in lines if task[0] not in code]
