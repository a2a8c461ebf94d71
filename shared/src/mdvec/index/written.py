"""Looks for words in the stored texts themselves, whatever the index of words has of them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from mdvec.index.properties import ChunkRanges
from mdvec.index.tables import Tables
from mdvec.text import (
    MAX_TERM,
    WORD_MARK,
    folded,
    identifier,
    is_letters,
    readable_chunk,
    shown_lines,
    terms,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_READ_BYTES = 64_000_000
"""How much stored text one look reads; it takes about 2.5 ms for a million bytes."""


def documents_with(connection: apsw.Connection, tables: Tables, spelling: str) -> list[int] | None:
    """The documents that contain a word, in whatever case; None if they are too many to look."""
    documents = identifier(tables.documents)
    (size,) = connection.execute(f"SELECT sum(size) FROM {documents}").fetchone() or (0,)
    if int(str(size or 0)) > _MAX_READ_BYTES:
        return None
    where, value = _contains("content", spelling)
    rows = connection.execute(f"SELECT id FROM {documents} WHERE {where}", (value,))
    return [int(document_id) for (document_id,) in rows]


def chunks_with(
    connection: apsw.Connection,
    tables: Tables,
    spelling: str,
    document_ids: Sequence[int],
    limit: int,
    within: ChunkRanges | None = None,
) -> list[int]:
    """The first chunks of some documents that contain a word, in whatever case."""
    where, value = _contains("chunk_text", spelling)
    numbers = ",".join(map(str, document_ids))
    inside = "" if within is None else "AND +id IN carray(?)"
    rows = connection.execute(
        f"SELECT id FROM {identifier(tables.vectors)} "
        f"WHERE document_id IN ({numbers}) AND {where} {inside} ORDER BY id LIMIT ?",
        (value, *(() if within is None else (apsw.carray(within.ids()),)), limit),
    )
    return [int(chunk_id) for (chunk_id,) in rows]


def chunks_saying(
    connection: apsw.Connection, tables: Tables, words: str, *, inside: bool
) -> NDArray[np.int64]:
    """The chunks that have words as they are written, whatever the case and width, in order.

    They may stand in the text, the heading, the title, or the document's other names. Letters at
    either end may be a part of a longer word if ``inside``.
    """
    import numpy as np

    wanted = folded(words)
    matching = _matching(connection, tables, wanted, inside=inside)
    is_one_term = len(set(terms(words))) == 1 and wanted.isalnum()
    if not is_one_term:
        pattern = _pattern(wanted, inside=inside)
        matching = [
            number
            for number, name, text in _texts(connection, tables, matching)
            if pattern.search(name)
            or pattern.search(folded(text))
            or pattern.search(folded(readable_chunk(".md", text)))
        ]
    if not matching:  # addresses and tags are not indexed
        where, value = _contains("chunk_text", words)
        table = identifier(tables.vectors)
        rows = connection.execute(f"SELECT id FROM {table} WHERE {where}", (value,))
        matching = [int(number) for (number,) in rows] if inside else []
    return np.array(sorted(matching), dtype=np.int64)


_OPEN_TASK = re.compile(r"(?m)^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[ \][ \t]+(\S.*)$")


def chunks_with_tasks(connection: apsw.Connection, tables: Tables) -> NDArray[np.int64]:
    """The chunks with an open task (- [ ]), in order."""
    import numpy as np

    chunks = identifier(tables.vectors)
    ids: set[int] = set()
    for document_id, content in connection.execute(
        f"SELECT id, content FROM {identifier(tables.documents)} WHERE instr(content, '[ ]')"
    ):
        lines = [line for line, _ in open_tasks(str(content))]
        rows = connection.execute(
            f"SELECT id, start_line, end_line FROM {chunks} WHERE document_id = ?", (document_id,)
        )
        ids.update(
            int(number)
            for number, first, last in rows
            if bisect_left(lines, first) < bisect_right(lines, last)
        )
    return np.array(sorted(ids), dtype=np.int64)


def open_tasks(content: str) -> list[tuple[int, str]]:
    """The open tasks (- [ ]) of a document outside code and comments, each with its line."""
    shown = shown_lines(content)
    return [
        (shown.count("\n", 0, match.start()) + 1, match[1].strip())
        for match in _OPEN_TASK.finditer(shown)
    ]


def _matching(
    connection: apsw.Connection, tables: Tables, wanted: str, *, inside: bool
) -> list[int]:
    """The chunks that have all terms of some folded words."""
    groups = []
    for term in dict.fromkeys(terms(wanted)):
        any_of = [term]
        if inside and is_letters(term):
            rows = connection.execute(
                f"SELECT term FROM {identifier(tables.vocabulary)} "
                "WHERE instr(term, ?) AND substr(term, 1, 1) <> ?",
                (term, WORD_MARK),
            )
            any_of += [str(longer) for (longer,) in rows if len(longer) <= MAX_TERM]
        groups.append("(" + " OR ".join(f'"{variant}"' for variant in any_of) + ")")
    if not groups:
        return []
    fts = identifier(tables.fts)
    rows = connection.execute(
        f"SELECT rowid FROM {fts} WHERE {fts} MATCH ?", (" AND ".join(groups),)
    )
    return [int(number) for (number,) in rows]


def _texts(
    connection: apsw.Connection, tables: Tables, ids: Sequence[int]
) -> list[tuple[int, str, str]]:
    """Each chunk's id, its folded title, path and heading, and its text."""
    rows = connection.execute(
        "SELECT v.id, d.title, d.file_path, v.heading, v.chunk_text "
        f"FROM {identifier(tables.vectors)} AS v "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = v.document_id "
        f"WHERE v.id IN ({','.join(map(str, ids))})"
    )
    return [
        (int(str(number)), folded(f"{title}\n{path}\n{heading}"), str(text))
        for number, title, path, heading, text in rows
    ]


def _pattern(wanted: str, *, inside: bool) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, wanted.split()))
    edge = "" if inside else "[a-z0-9]"
    before = f"(?<!{edge})" if edge and wanted[0].isascii() and wanted[0].isalnum() else ""
    after = f"(?!{edge})" if edge and wanted[-1].isascii() and wanted[-1].isalnum() else ""
    return re.compile(f"{before}{words}{after}")


def _contains(column: str, spelling: str) -> tuple[str, str]:
    """A SQL condition that a column contains a word, and its value."""
    if not spelling.isascii():
        return f"instr({column}, ?)", spelling
    escaped = spelling.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{column} LIKE ? ESCAPE '\\'", f"%{escaped}%"
