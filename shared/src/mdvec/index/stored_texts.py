"""Searches the stored texts themselves for words that the word index does not have.

A text may write a word differently, such as サーバー室 for サーバ室.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import apsw

from mdvec.index.conditions import ChunkRanges
from mdvec.index.tables import Tables, has_current_words, has_properties
from mdvec.index.word_patterns import (
    FEW_KANJI,
    MIN_GROUPED,
    NUMBER,
    contains,
    digits_of,
    is_path_of,
    version_pattern,
    whole_word_pattern,
    words_pattern,
)
from mdvec.text import HYPHENS, folded, identifier, morphemes

_MAX_READ_BYTES = 64_000_000
"""How much stored text is read at most; a million bytes take about 2.5 ms."""
_MAX_STATING = 1_000
"""The maximum number of documents in which ``front_matter_with`` looks, which takes about 10 ms."""
_PARTS = re.compile(r"[a-z]+|\d+")
_HIRAGANA = re.compile("[\u3041-\u3096]")
_VERB_END = "[\u3041-\u3096]{1,3}"
_IDENTIFIER = re.compile(
    rf"(?=.*[a-z])(?=.*\d)[a-z0-9{HYPHENS}]+|[a-z]\w*(?:[.-][a-z]\w*)+", re.ASCII
)


def documents_with(tables: Tables, spelling: str) -> list[int] | None:
    """The documents that contain a word in any case; None if there is too much text to read.

    A number matches in any grouping, and an identifier with digits, dots or hyphens with any signs
    between its parts. Kanji also match with a space between them, as between the names of a
    person, and with the endings of verbs if the reading is the same (申込書: 申し込み書). A name
    with a dot may also be the file's.
    """
    if _is_too_much(tables):
        return None
    texts = f"SELECT id, content AS text FROM {identifier(tables.documents)}"
    if "." in spelling:
        texts += f" UNION ALL SELECT id, file_path FROM {identifier(tables.documents)}"
    return _rows_with(tables, texts, spelling)


def paths_saying(
    tables: Tables, words: str, document_ids: Sequence[int] | None = None
) -> dict[int, str] | None:
    """By document, the paths that end with words, or whose documents have them, in their order.

    None if there is too much text to read. The words match as in ``chunks_saying``. Only
    ``document_ids`` are read, if given.
    """
    if _is_too_much(tables):
        return None
    pattern = words_pattern(folded(words), inside=True)
    where = "" if document_ids is None else f"WHERE id IN ({_listed(document_ids)})"
    rows = tables.execute(
        f"SELECT id, file_path, content FROM {identifier(tables.documents)} {where} "
        "ORDER BY file_path"
    )
    return {
        int(str(number)): str(path)
        for number, path, content in rows
        if is_path_of(words, str(path)) or pattern.search(folded(str(content)))
    }


def chunks_naming(tables: Tables, name: str) -> list[int] | None:
    """The chunks with a whole word for which the word index has no term, such as C++, in any case.

    None if there is too much text to read.
    """
    if _is_too_much(tables):
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.ASCII | re.IGNORECASE)
    where, values = contains("chunk_text", name)
    rows = tables.execute(
        f"SELECT id, chunk_text FROM {identifier(tables.vectors)} WHERE {where} ORDER BY id", values
    )
    return [int(str(number)) for number, text in rows if pattern.search(str(text))]


def chunks_with(
    tables: Tables,
    spelling: str,
    document_ids: Sequence[int],
    limit: int,
    within: ChunkRanges | None = None,
) -> list[int]:
    """The first chunks of some documents that contain a word, in any case."""
    if within is not None and not within.size:
        return []
    where, values = contains("chunk_text", spelling)
    numbers = ",".join(map(str, document_ids))
    inside = "" if within is None else "AND +id IN carray(?)"
    return tables.column(
        f"SELECT id FROM {identifier(tables.vectors)} "
        f"WHERE document_id IN ({numbers}) AND {where} {inside} ORDER BY id LIMIT ?",
        (*values, *(() if within is None else (apsw.carray(within.ids()),)), limit),
    )


def front_matter_with(tables: Tables, word: str, document_ids: Sequence[int]) -> list[str]:
    """The paths of documents with a whole word in a value of front matter.

    Empty if a chunk of ``document_ids`` has the word, or if too many documents would be read. A
    part of a longer word, an address or a version is not a whole word.
    """
    if not has_properties(tables) or len(document_ids) > _MAX_STATING:
        return []
    front_matter = f"SELECT document_id AS id, kept AS text FROM {tables.properties}"
    stating = _rows_with(tables, front_matter, word)
    passages = (
        f"SELECT id, chunk_text AS text FROM {identifier(tables.vectors)} "
        f"WHERE document_id IN ({_listed(document_ids)})"
    )
    if not 0 < len(stating) <= _MAX_STATING or _rows_with(tables, passages, word):
        return []
    pattern = whole_word_pattern(folded(word))
    rows = tables.execute(
        f"SELECT d.file_path, value.atom FROM {tables.properties} AS p "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = p.document_id, "
        f"json_tree(p.kept) AS value WHERE p.document_id IN ({_listed(stating)}) "
        "AND value.atom IS NOT NULL ORDER BY d.file_path"
    ).fetchall()
    whole = {value for value in {str(value) for _, value in rows} if pattern.search(folded(value))}
    return [*dict.fromkeys(str(path) for path, value in rows if str(value) in whole)]


def _rows_with(tables: Tables, texts: str, spelling: str) -> list[int]:
    """The ids of the rows of a query whose ``text`` contains a word as in ``documents_with``."""
    wanted = folded(spelling)
    parts = _PARTS.findall(wanted) if _IDENTIFIER.fullmatch(wanted) else []
    if NUMBER.fullmatch(wanted) and len(digits_of(wanted)) >= MIN_GROUPED:
        # 401,403 may be two numbers, as in 401、403.
        groups = r"\s*[,、]?\s*".join(wanted.split(","))
        pattern = re.compile(groups) if "," in wanted else words_pattern(wanted, inside=True)
        parts = [*digits_of(wanted)]
    elif version := version_pattern(wanted):
        pattern, parts = version, [wanted.removeprefix("v")]
    elif len(parts) > 1:
        pattern = re.compile(rf"[\s_.:/,{HYPHENS}]{{0,2}}".join(parts), re.IGNORECASE)
    elif FEW_KANJI.fullmatch(spelling):
        return _rows_with_kanji(tables.connection, texts, spelling)
    else:
        where, values = contains("text", spelling)
        return tables.column(f"SELECT id FROM ({texts}) WHERE {where}", values)
    # Full-width words are only found in folded text; a current word index already has them.
    is_current = has_current_words(tables)
    rows = tables.execute(
        f"SELECT id, text FROM ({texts}) WHERE text LIKE ?",
        ("%".join(["", *parts, ""]) if is_current else "%",),
    )
    return [
        int(str(number))
        for number, text in rows
        if pattern.search(str(text) if is_current else folded(str(text)))
    ]


def _rows_with_kanji(connection: apsw.Connection, texts: str, spelling: str) -> list[int]:
    """The rows with a compound of kanji, perhaps with spaces or endings of verbs between them."""
    pattern = re.compile(rf"(?:[\s・]?|{_VERB_END})".join(spelling))
    rows = connection.execute(
        f"SELECT id, text FROM ({texts}) WHERE text LIKE ?", ("%".join(["", *spelling, ""]),)
    )
    reading = _reading(spelling)
    return [
        int(str(number))
        for number, text in rows
        if any(
            not _HIRAGANA.search(word_found) or _reading(word_found) == reading
            for word_found in dict.fromkeys(pattern.findall(str(text)))
        )
    ]


def _reading(spelling: str) -> str:
    return "".join(word.reading for word in morphemes(spelling))


def _listed(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


def _is_too_much(tables: Tables) -> bool:
    size = tables.execute(f"SELECT sum(size) FROM {identifier(tables.documents)}").get
    return int(size or 0) > _MAX_READ_BYTES
