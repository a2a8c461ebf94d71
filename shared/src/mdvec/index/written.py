"""Searches the stored texts themselves for words that the index of words does not have.

A text may spell a word in several parts: Wi-Fi for wifi, サーバー室 for サーバ室.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING

import apsw
import numpy as np

from mdvec.database import column
from mdvec.index.conditions import ChunkRanges
from mdvec.index.properties import other_names, stored_properties
from mdvec.index.tables import Tables, has_current_words, has_properties
from mdvec.index.words import chunks_matching, chunks_with_phrases
from mdvec.text import (
    CJK,
    HYPHENS,
    MAX_TERM,
    WORD_MARK,
    Morpheme,
    folded,
    identifier,
    is_kanji,
    is_letters,
    is_org,
    morphemes,
    org_headlines,
    readable_chunk,
    shown_lines,
    terms,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_READ_BYTES = 64_000_000
"""How much stored text is read at most; a million bytes take about 2.5 ms."""
_MAX_STATING = 1_000
"""Of how many documents the front matter and the passages are read for a word that is nowhere else,
which takes about 10 ms."""


def documents_with(connection: apsw.Connection, tables: Tables, spelling: str) -> list[int] | None:
    """The documents that contain a word in any case; None if there is too much text to read.

    A number matches in any grouping, an identifier with digits with any signs between its parts,
    kanji with a space among them, as between a person's names, and a compound of kanji with the
    endings of its verbs, if the reading is the same (申込書: 申し込み書).
    """
    if _is_too_much(connection, tables):
        return None
    texts = f"SELECT id, content AS text FROM {identifier(tables.documents)}"
    return _rows_with(connection, tables, texts, spelling)


def documents_saying(connection: apsw.Connection, tables: Tables, words: str) -> list[int]:
    """The documents, perhaps too many to read, that contain words as for ``chunks_saying``."""
    if _is_too_much(connection, tables):
        return []
    pattern = _pattern(folded(words), inside=True)
    rows = connection.execute(f"SELECT id, content FROM {identifier(tables.documents)}")
    return [int(number) for number, content in rows if pattern.search(folded(str(content)))]


def _rows_with(connection: apsw.Connection, tables: Tables, texts: str, spelling: str) -> list[int]:
    """The ids of a query's rows whose ``text`` contains a word, as for ``documents_with``."""
    wanted = folded(spelling)
    parts = _PARTS.findall(wanted) if _IDENTIFIER.fullmatch(wanted) else []
    if _NUMBER.fullmatch(wanted) and len(_digits(wanted)) >= _MIN_GROUPED:
        pattern, parts = _pattern(wanted, inside=True), [*_digits(wanted)]
    elif len(parts) > 1:
        pattern = re.compile(rf"[\s_.:/,{HYPHENS}]{{0,2}}".join(parts), re.IGNORECASE)
    elif _FEW_KANJI.fullmatch(spelling):
        return _rows_with_kanji(connection, texts, spelling)
    else:
        where, value = _contains("text", spelling)
        return column(connection, f"SELECT id FROM ({texts}) WHERE {where}", (value,))
    # Full width would need every text to be folded; a current index already has such words.
    is_current = has_current_words(connection, tables)
    rows = connection.execute(
        f"SELECT id, text FROM ({texts}) WHERE text LIKE ?",
        ("%".join(["", *parts, ""]) if is_current else "%",),
    )
    return [
        int(str(number))
        for number, text in rows
        if pattern.search(str(text) if is_current else folded(str(text)))
    ]


def _rows_with_kanji(connection: apsw.Connection, texts: str, spelling: str) -> list[int]:
    """The rows that have a compound of kanji, perhaps with signs among them."""
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


def chunks_naming(connection: apsw.Connection, tables: Tables, name: str) -> list[int] | None:
    """The chunks with a name that the index has no term for (C++), as a word, in any case.

    None if there is too much text to read.
    """
    if _is_too_much(connection, tables):
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.ASCII | re.IGNORECASE)
    where, value = _contains("chunk_text", name)
    rows = connection.execute(
        f"SELECT id, chunk_text FROM {identifier(tables.vectors)} WHERE {where} ORDER BY id",
        (value,),
    )
    return [int(str(number)) for number, text in rows if pattern.search(str(text))]


def chunks_written(connection: apsw.Connection, tables: Tables, text: str) -> list[int]:
    """The chunks that contain a text of several terms (15.3.1) literally, in any width."""
    wanted = folded(text)
    side_by_side = chunks_matching(connection, tables, f'"{" ".join(terms(wanted))}"')
    pattern = _pattern(wanted, inside=False)
    return [
        number
        for number, names, chunk in chunk_texts(connection, tables, side_by_side)
        if pattern.search(folded(names)) or pattern.search(folded(chunk))
    ]


def front_matter_with(
    connection: apsw.Connection, tables: Tables, word: str, document_ids: Sequence[int]
) -> list[str]:
    """The paths of the documents with a whole word in a front matter's value, if no passage has it.

    Only the passages of ``document_ids`` are read. A part of a longer word, of an address or of a
    version is not whole. None are named of a word that very many documents have.
    """
    if not has_properties(connection, tables) or len(document_ids) > _MAX_STATING:
        return []
    front_matter = f"SELECT document_id AS id, kept AS text FROM {tables.properties}"
    stating = _rows_with(connection, tables, front_matter, word)
    passages = (
        f"SELECT id, chunk_text AS text FROM {identifier(tables.vectors)} "
        f"WHERE document_id IN ({_listed(document_ids)})"
    )
    if not 0 < len(stating) <= _MAX_STATING or _rows_with(connection, tables, passages, word):
        return []
    pattern = _whole_word(folded(word))
    rows = connection.execute(
        f"SELECT d.file_path, value.atom FROM {tables.properties} AS p "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = p.document_id, "
        f"json_tree(p.kept) AS value WHERE p.document_id IN ({_listed(stating)}) "
        "AND value.atom IS NOT NULL ORDER BY d.file_path"
    ).fetchall()
    whole = {value for value in {str(value) for _, value in rows} if pattern.search(folded(value))}
    return [*dict.fromkeys(str(path) for path, value in rows if str(value) in whole)]


def _listed(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


def _is_too_much(connection: apsw.Connection, tables: Tables) -> bool:
    size = connection.execute(f"SELECT sum(size) FROM {identifier(tables.documents)}").get
    return int(size or 0) > _MAX_READ_BYTES


def chunks_with(
    connection: apsw.Connection,
    tables: Tables,
    spelling: str,
    document_ids: Sequence[int],
    limit: int,
    within: ChunkRanges | None = None,
) -> list[int]:
    """The first chunks of some documents that contain a word, in any case."""
    if within is not None and not within.size:
        return []
    where, value = _contains("chunk_text", spelling)
    numbers = ",".join(map(str, document_ids))
    inside = "" if within is None else "AND +id IN carray(?)"
    return column(
        connection,
        f"SELECT id FROM {identifier(tables.vectors)} "
        f"WHERE document_id IN ({numbers}) AND {where} {inside} ORDER BY id LIMIT ?",
        (value, *(() if within is None else (apsw.carray(within.ids()),)), limit),
    )


def chunks_saying(
    connection: apsw.Connection, tables: Tables, words: str, *, inside: bool
) -> NDArray[np.int64]:
    """The chunks, in order, that contain words literally, in any case and width.

    The words may be in the text, the heading, the title, or the document's other names. Letters at
    either end may be a part of a longer word if ``inside``. Digits match with and without grouping
    (0120-333-906, 1,234,567).
    """
    wanted = folded(words)
    indexed = _matching(connection, tables, wanted, inside=inside)
    pattern = _pattern(wanted, inside=inside)
    if wanted.isalpha() and len(wanted) > 1 == len(set(terms(wanted))):  # needs no further check
        saying = set(indexed)
    else:
        saying = {
            number
            for number, name, text in chunk_texts(connection, tables, indexed)
            if pattern.search(folded(name))
            or pattern.search(folded(text))
            or pattern.search(folded(readable_chunk(".md", text)))
        }
    # Addresses are not indexed; an earlier format lacks more.
    where, value = _contains("chunk_text", words)
    if not has_current_words(connection, tables):
        where, value = "?", "1"
    rows = connection.execute(
        f"SELECT id, chunk_text FROM {identifier(tables.vectors)} WHERE {where}", (value,)
    )
    saying.update(int(number) for number, text in rows if pattern.search(folded(str(text))))
    return np.array(sorted(saying), dtype=np.int64)


_OPEN_TASK = re.compile(r"(?m)^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[ \][ \t]+(\S.*)$")


def chunks_with_tasks(connection: apsw.Connection, tables: Tables) -> NDArray[np.int64]:
    """The chunks with an open task, in order."""
    chunks = identifier(tables.vectors)
    ids: set[int] = set()
    for document_id, path, content in connection.execute(
        f"SELECT id, file_path, content FROM {identifier(tables.documents)} "
        "WHERE instr(content, '[ ]') OR file_path LIKE '%.org'"
    ):
        lines = [line for line, _ in open_tasks(str(content), str(path))]
        rows = connection.execute(
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

    They are items (- [ ]), and Org's headings with a state such as TODO.
    """
    shown = shown_lines(content, file_path)
    tasks = [(match.start(), match[1].strip()) for match in _OPEN_TASK.finditer(shown)]
    if is_org(file_path):
        tasks += [(line.start, line.words) for line in org_headlines(content) if line.is_open]
    return [(shown.count("\n", 0, start) + 1, words) for start, words in sorted(tasks)]


_SEPARATOR = f"[,{HYPHENS}]"
_PARTS = re.compile(r"[a-z]+|\d+")
_FEW_KANJI = re.compile("[々\u3400-\u9fff]{3,6}")
_HIRAGANA = re.compile("[\u3041-\u3096]")
_IN_WORD = "[a-z0-9\u30a1-\u30fa\u30fc\u3005-\u3007\u3400-\u9fff]"
_JOINING = f"[_.@+{HYPHENS}]"
_VERB_END = "[\u3041-\u3096]{1,3}"
_IDENTIFIER = re.compile(rf"(?=.*[a-z])(?=.*\d)[a-z0-9{HYPHENS}]+")
_NUMBER = re.compile(rf"\d+(?:{_SEPARATOR}\d+)*")
_NUMBER_FIRST = re.compile(rf"(?<![a-z0-9_]){_NUMBER.pattern}")
"""A number with no letter before it, as in an identifier."""
_LETTER = rf"[^\W\d{CJK}]"
_BESIDE_NUMBER = re.compile(rf"({_LETTER}*)({_NUMBER.pattern})((?:{_LETTER}[^\W{CJK}]*)?)")
"""A number with the letters around it, with which it may be one term (US$, 48260km)."""
_MIN_GROUPED = 4
"""The least digits of a number that may be written in groups of thousands."""
_GAP = r"(?:(?!\n[^\S\n]*\n)\s)+"
"""What may be between words: no blank line, behind which other text begins."""
_MIN_JOINED = 6
"""The least digits of a number that may be grouped in any way (a phone's); fewer may be a range."""


def _matching(
    connection: apsw.Connection, tables: Tables, wanted: str, *, inside: bool
) -> list[int]:
    """The chunks that have all terms of some folded words, with numbers in any grouping."""
    groups = []
    for match in _BESIDE_NUMBER.finditer(wanted):
        before, number, after = match.groups()
        digits = _digits(number)
        spellings = (number, digits, ",".join(_thousands(digits)))
        longer = _containing(connection, tables, digits) if inside else []
        phrases = (" ".join(terms(f"{before}{spelled}{after}")) for spelled in spellings)
        groups.append([digits, digits + after, *phrases, *longer])
    for term in dict.fromkeys(terms(_BESIDE_NUMBER.sub(" ", wanted))):
        if is_letters(term):
            groups.append([term, *(_containing(connection, tables, term) if inside else [])])
        elif len(term) == _PAIR or is_kanji(term):  # others are only terms if they are whole runs
            groups.append([term])
    if not groups:
        return column(connection, f"SELECT id FROM {identifier(tables.vectors)}")
    any_of_each = (" OR ".join(f'"{term}"' for term in dict.fromkeys(group)) for group in groups)
    expression = " AND ".join(f"({group})" for group in any_of_each)
    return chunks_matching(connection, tables, expression)


_PAIR = 2


def _containing(connection: apsw.Connection, tables: Tables, term: str) -> list[str]:
    """The words in letters and digits that contain one."""
    return column(
        connection,
        f"SELECT term FROM {tables.vocabulary} "
        "WHERE instr(term, ?) AND substr(term, 1, 1) <> ? AND length(term) <= ?",
        (term, WORD_MARK, MAX_TERM),
    )


def _digits(number: str) -> str:
    return "".join(filter(str.isdecimal, number))


def _thousands(digits: str) -> list[str]:
    """The digits in groups of three from the end; a single group if they are few."""
    if len(digits) < _MIN_GROUPED:
        return [digits]
    ends = range(len(digits) % 3 or 3, len(digits) + 1, 3)
    return [digits[max(end - 3, 0) : end] for end in ends]


def chunk_texts(
    connection: apsw.Connection, tables: Tables, ids: Sequence[int]
) -> list[tuple[int, str, str]]:
    """Each chunk's id, its title, path, heading and document's other names, and its text."""
    rows = connection.execute(
        "SELECT v.id, v.document_id, d.title, d.file_path, v.heading, v.chunk_text "
        f"FROM {identifier(tables.vectors)} AS v "
        f"JOIN {identifier(tables.documents)} AS d ON d.id = v.document_id "
        f"WHERE v.id IN ({','.join(map(str, ids))})"
    ).fetchall()
    properties = stored_properties(connection, tables, {int(str(row[1])) for row in rows})
    others = {number: "\n".join(other_names(known)) for number, known in properties.items()}
    return [
        (
            int(str(number)),
            f"{title}\n\n{path}\n\n{heading}\n\n{others.get(int(str(document_id)), '')}",
            str(text),
        )
        for number, document_id, title, path, heading, text in rows
    ]


def _pattern(wanted: str, *, inside: bool) -> re.Pattern[str]:
    words = _GAP.join(map(_word_pattern, wanted.split()))
    edge = "" if inside else "[a-z0-9]"
    before = f"(?<!{edge})" if edge and wanted[:1].isascii() and wanted[:1].isalnum() else ""
    after = f"(?!{edge})" if edge and wanted[-1:].isascii() and wanted[-1:].isalnum() else ""
    return re.compile(f"{before}{words}{after}")


def _whole_word(wanted: str) -> re.Pattern[str]:
    """A pattern for a folded word that is no part of a longer one; spaces may be among kanji."""
    is_kanji = _FEW_KANJI.fullmatch(wanted) is not None
    word = r"[\s・]?".join(wanted) if is_kanji else _pattern(wanted, inside=True).pattern
    return re.compile(f"(?<!{_IN_WORD})(?<!{_IN_WORD}{_JOINING}){word}(?!{_JOINING}?{_IN_WORD})")


def _word_pattern(word: str) -> str:
    """A pattern for a word, whose numbers may be written in groups."""
    pattern, end = "", 0
    for match in _NUMBER_FIRST.finditer(word):
        pattern += re.escape(word[end : match.start()]) + _any_groups(match[0])
        end = match.end()
    return pattern + re.escape(word[end:])


def _any_groups(number: str) -> str:
    digits = _digits(number)
    thousands = _thousands(digits)
    if "," in number and number != ",".join(thousands):  # 1,2,3 are several
        return re.escape(number)
    if len(digits) >= _MIN_JOINED:
        return f"(?:{f'[{HYPHENS}]?'.join(digits)}|{','.join(thousands)})"
    return ",?".join(thousands) if number == digits or "," in number else re.escape(number)


def _contains(column: str, spelling: str) -> tuple[str, str]:
    """A SQL condition that a column contains a word, and its value."""
    if spelling.upper() == spelling.lower():
        return f"instr({column}, ?)", spelling
    escaped = spelling.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{column} LIKE ? ESCAPE '\\'", f"%{escaped}%"


_MAX_PHRASES, _MAX_COMPARED = 16, 30
_MIN_LETTERS = 4
"""A shorter word (api, use) may consist of two others by chance."""
_SIGN = f"[./&+{HYPHENS}]"


def chunks_in_parts(connection: apsw.Connection, tables: Tables, word: str) -> list[int]:
    """The best hundred chunks that spell a word in letters as two (Wi-Fi, VS Code, Node.js).

    Between them is one sign, or a space if both begin with a capital: "is land" is no island.
    """
    if len(word) < _MIN_LETTERS or not (word.isascii() and word.isalpha()):
        return []
    cuts = [(word[:at], word[at:]) for at in range(1, len(word))]
    ids = chunks_with_phrases(connection, tables, cuts)
    if not ids:
        return []
    signs = rf"(?:{_SIGN}|\s)"
    spellings = "|".join(f"{first}{signs}{second}" for first, second in cuts)
    pattern = re.compile(f"(?<![a-z0-9])(?:{spellings})(?![a-z0-9])", re.IGNORECASE)
    saying = {
        number
        for number, names, text in chunk_texts(connection, tables, ids)
        if any(
            map(_is_one_word, pattern.findall(unicodedata.normalize("NFKC", f"{names}\n{text}")))
        )
    }
    return [number for number in ids if number in saying]


def _is_one_word(parts: str) -> bool:
    """Whether two parts are one word: all have capitals if a space is between them."""
    return all(part[0].isupper() for part in parts.split()) or len(parts.split()) == 1


def has_compound(
    connection: apsw.Connection, tables: Tables, words: Sequence[Sequence[str]]
) -> bool:
    """Whether a text has the words of a compound in sequence, with nothing between them.

    ``words`` has, for each word, the terms that count as it. If very many passages have the words
    separately, such as around a particle, the check stops and the answer is yes.
    """
    phrases = (f'"{" ".join(phrase)}"' for phrase in islice(product(*words), _MAX_PHRASES))
    ids = chunks_matching(connection, tables, " OR ".join(phrases), _MAX_COMPARED + 1)
    return len(ids) > _MAX_COMPARED or any(
        _has_side_by_side(morphemes(f"{names}\n{text}"), words)
        for _, names, text in chunk_texts(connection, tables, ids)
    )


def _has_side_by_side(text: Sequence[Morpheme], words: Sequence[Sequence[str]]) -> bool:
    stretches = (text[first : first + len(words)] for first in range(len(text) - len(words) + 1))
    return any(
        all(word.term in terms for word, terms in zip(stretch, words, strict=True))
        and all(before.end == after.start for before, after in pairwise(stretch))
        for stretch in stretches
    )
