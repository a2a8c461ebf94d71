"""Finds chunks that contain words literally, among candidates from the index of words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mdvec.index.properties import other_names, stored_properties
from mdvec.index.tables import Tables, has_current_words
from mdvec.index.word_patterns import (
    NUMBER,
    contains,
    digits_of,
    is_path_of,
    thousands,
    version_pattern,
    words_pattern,
)
from mdvec.index.words import chunks_matching
from mdvec.text import (
    CJK,
    MAX_TERM,
    WORD_MARK,
    folded,
    identifier,
    is_kanji,
    is_letters,
    readable_chunk,
    terms,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LETTER = rf"[^\W\d{CJK}]"
_BESIDE_NUMBER = re.compile(rf"({_LETTER}*)({NUMBER.pattern})((?:{_LETTER}[^\W{CJK}]*)?)")
"""A number with the letters around it, with which it may be one term (US$, 48260km)."""
_FILE_NAME = re.compile(r"\w\.[a-z]")
"""An ending as files have them."""
_PAIR = 2
_FULL_WIDTH = {sign: sign + 0xFEE0 for sign in range(0x21, 0x7F)}
"""Maps each printable ASCII character to its full-width form."""


def chunks_saying(tables: Tables, words: str, *, inside: bool) -> NDArray[np.int64]:
    """The chunks, in order, that contain words literally, in any case and width.

    The words may be in the text, the heading, the title, or other names, or be the path or its last
    parts. With ``inside``, the first and last word may be parts of longer words. Digits match with
    and without grouping (0120-333-906, 1,234,567).
    """
    saying = _saying(tables, words, lambda chunk: chunk, inside=inside)
    return np.array(sorted(saying), dtype=np.int64)


def documents_saying(tables: Tables, words: str, *, inside: bool) -> set[int]:
    """The documents that have a chunk of ``chunks_saying``, each read up to its first."""
    rows = tables.execute(f"SELECT id, document_id FROM {identifier(tables.vectors)}")
    document_of = {int(str(chunk)): int(str(document)) for chunk, document in rows}
    return _saying(tables, words, document_of.__getitem__, inside=inside)


def _saying(tables: Tables, words: str, key: Callable[[int], int], *, inside: bool) -> set[int]:
    """The keys of the chunks that contain words; of those with one key, one is enough."""
    wanted = folded(words)
    pattern = words_pattern(wanted, inside=inside)
    # The index has no addresses, so texts are searched too; an earlier format lacks more.
    where, values = contains("chunk_text", words)
    if not has_current_words(tables):
        where, values = "?", ("1",)
    rows = tables.execute(
        f"SELECT id, chunk_text FROM {identifier(tables.vectors)} WHERE {where}", values
    )
    saying: set[int] = set()
    for number, text in rows:
        if key(int(str(number))) not in saying and pattern.search(folded(str(text))):
            saying.add(key(int(str(number))))
    saying.update(map(key, _chunks_at_path(tables, wanted)) if _FILE_NAME.search(wanted) else ())
    matching = _matching(tables, wanted, inside=inside)
    others = [number for number in matching if key(number) not in saying]
    # Signs have no terms, so all texts are read.
    says = _says_words if any(map(str.isalnum, wanted)) else partial(_says_signs, wanted)
    for number, name, text in chunk_texts(tables, others):
        if key(number) not in saying and says(pattern, name, text):
            saying.add(key(number))
    return saying


def _says_words(pattern: re.Pattern[str], name: str, text: str) -> bool:
    return any(pattern.search(folded(part)) for part in (name, text)) or bool(
        pattern.search(folded(readable_chunk(".md", text)))
    )


def _says_signs(wanted: str, pattern: re.Pattern[str], *parts: str) -> bool:
    longest = max(wanted.split(), key=len)
    spelled = (longest, longest.translate(_FULL_WIDTH))
    return any(
        any(map(part.__contains__, spelled)) and pattern.search(folded(part)) for part in parts
    )


def _chunks_at_path(tables: Tables, name: str) -> Iterator[int]:
    """The chunks of documents at this path or of this file name; the index has no endings."""
    for number, path in tables.execute(f"SELECT id, file_path FROM {identifier(tables.documents)}"):
        if is_path_of(name, str(path)):
            yield from tables.column(
                f"SELECT id FROM {identifier(tables.vectors)} WHERE document_id = {number}"
            )


def chunks_written(tables: Tables, text: str) -> list[int]:
    """The chunks that contain a text of several terms literally, in any width.

    A version matches with and without its v (15.3.1, v15.3.1).
    """
    wanted = folded(text)
    bare = wanted.removeprefix("v")
    spellings = [bare, f"v{bare}"] if bare[:1].isdecimal() else [wanted]
    phrases = (" ".join(terms(spelling)) for spelling in spellings)
    side_by_side = chunks_matching(tables, " OR ".join(f'"{phrase}"' for phrase in phrases))
    version = version_pattern(wanted)
    patterns = [version or words_pattern(spelling, inside=False) for spelling in spellings]
    return [
        number
        for number, names, chunk in chunk_texts(tables, side_by_side)
        if any(pattern.search(folded(part)) for pattern in patterns for part in (names, chunk))
    ]


def chunk_texts(tables: Tables, ids: Sequence[int]) -> list[tuple[int, str, str]]:
    """For each chunk: its id; title, path, heading and other names as one text; its own text."""
    rows = tables.execute(
        "SELECT v.id, v.document_id, d.title, d.file_path, v.heading, v.chunk_text "
        f"FROM {identifier(tables.vectors)} AS v "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = v.document_id "
        f"WHERE v.id IN ({','.join(map(str, ids))})"
    ).fetchall()
    properties = stored_properties(tables, {int(str(row[1])) for row in rows})
    others = {number: "\n".join(other_names(known)) for number, known in properties.items()}
    return [
        (
            int(str(number)),
            f"{title}\n\n{path}\n\n{heading}\n\n{others.get(int(str(document_id)), '')}",
            str(text),
        )
        for number, document_id, title, path, heading, text in rows
    ]


def _matching(tables: Tables, wanted: str, *, inside: bool) -> list[int]:
    """The ids of chunks that have all terms of some folded words; numbers match in any grouping."""
    groups = []
    for match in _BESIDE_NUMBER.finditer(wanted):
        before, number, after = match.groups()
        digits = digits_of(number)
        if before and before[-1].isascii() and number == digits:  # it has no groups
            word = f"{before}{digits}{after}"[:MAX_TERM]
            groups.append([word, *(_containing(tables, word) if inside else [])])
            continue
        spellings = (number, digits, ",".join(thousands(digits)))
        longer = _containing(tables, digits) if inside else []
        phrases = (" ".join(terms(f"{before}{spelled}{after}")) for spelled in spellings)
        groups.append([digits, digits + after, *phrases, *longer])
    for term in dict.fromkeys(terms(_BESIDE_NUMBER.sub(" ", wanted))):
        if is_letters(term):
            groups.append([term, *(_containing(tables, term) if inside else [])])
        elif len(term) == _PAIR or is_kanji(term):  # others are only terms if they are whole runs
            groups.append([term])
    if not groups:
        return tables.column(f"SELECT id FROM {identifier(tables.vectors)}")
    any_of_each = (" OR ".join(f'"{term}"' for term in dict.fromkeys(group)) for group in groups)
    expression = " AND ".join(f"({group})" for group in any_of_each)
    return chunks_matching(tables, expression)


def _containing(tables: Tables, term: str) -> list[str]:
    """The indexed words in letters and digits that contain a term."""
    return tables.column(
        f"SELECT term FROM {tables.vocabulary} "
        "WHERE instr(term, ?) AND substr(term, 1, 1) <> ? AND length(term) <= ?",
        (term, WORD_MARK, MAX_TERM),
    )
