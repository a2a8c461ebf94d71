"""Whether an output is small enough for a model: JSON, tables, and both in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from mdvec.analysis.data_in_text import Part, parts_of
from mdvec.analysis.limits import MAX_JSON_BYTES, MAX_PRINTED_BYTES, MAX_TABLE_ROWS

_MOST_LINES = MAX_TABLE_ROWS + 5
"""Of lines that stand together: rows, their head, rules, what was left out."""
_CLEARLY_LONG = 100
"""So many lines together, or lines that are no sentences in the whole output."""
_LONGEST_LINE = 2_048
_LONGEST_PARAGRAPH = 4_096
_MOST_FIGURES = 8_192
"""Bytes of lines full of figures, all tables of an output together."""
_FEW_LINES = 2
"""Blocks of so many lines, one after the other, are rows with room between them."""
_AGGREGATES = {"bins"}
"""Lists that are counts already, as histogram gives them; their size alone is limited."""
_RULE = re.compile(r"[\s|+:=.…\-─━═┄┌┬┐├┼┤└┴┘╞╪╡│┆]*")
_LINE_END = re.compile(r"\\r\\n|\\n|\\r|<br ?/?>|[\u200b\u2060\ufeff]", re.IGNORECASE)
"""What ends a line without being one to Python: escaped, in HTML, or of no width."""
_HTML_ROW = re.compile(r"<(?:tr|row|item|li|dd)\b", re.IGNORECASE)
_HTML_ROW_END = re.compile(r"</tr>", re.IGNORECASE)
_HTML_TAG = re.compile(r"</?(?:table|thead|tbody|tr|td|th)\b[^<>]*>", re.IGNORECASE)
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{60,}")
_SENTENCE_END = re.compile(r"[^\W\d][)」』）\"'*_`]*[。．.!?！？:：][)」』）\"'*_`]*$")
_FIGURE = re.compile(r"[\d,:;|{}\[\]()'\"\t=<>]")
_MANY_FIGURES = 0.25
_SEPARATORS = (",", ";", "=", ": ")
_WHAT_TO_DO = "aggregate, or use safe_summary_table and safe_json_output"


def validate_output(output: str) -> tuple[bool, str | None]:
    """Whether a model may read this, and if not, why and what to do.

    JSON, alone or anywhere in a text: at most 1,024 bytes and 10 rows; so with lists and dicts as
    Python prints them. A table, HTML's too: at most 10 rows, beside its head; a block of other
    lines: 15, and blank lines between single rows part nothing. A line: 2,048 bytes, a paragraph
    of sentences 4,096. All together: 100 lines that are no sentences, and 100,000 bytes.
    """
    if len(output) > MAX_PRINTED_BYTES or _bytes(output) > MAX_PRINTED_BYTES:
        trouble: str | None = f"the output has more than {MAX_PRINTED_BYTES:,} bytes"
    else:
        trouble = next(_troubles(output), None)
    return (True, None) if trouble is None else (False, f"{trouble}; {_WHAT_TO_DO}")


def _troubles(output: str) -> Iterator[str]:
    """What is wrong, one reason after the other."""
    parts = [*parts_of(output)]
    yield from _data_troubles([part for part in parts if _is_data(part)])
    text = "\n".join(part.text for part in parts if not _is_data(part))
    rows = len(_HTML_ROW.findall(text))
    if rows > MAX_TABLE_ROWS + 1:
        yield f"there are {rows:,} rows of HTML, at most {MAX_TABLE_ROWS} are allowed"
    encoded = sum(len(word) for word in _ENCODED.findall(text) if not _RULE.fullmatch(word))
    if encoded > MAX_JSON_BYTES:
        yield f"encoded data have {encoded:,} bytes, at most {MAX_JSON_BYTES:,} are allowed"
    lines = _LINE_END.sub("\n", _without_html(text)).splitlines()
    blocks = _blocks(lines)
    for block in _joined(blocks):
        yield from _table_troubles(block)
    yield from _record_troubles(blocks)
    yield from _line_troubles(lines)


def _is_data(part: Part) -> bool:
    """Whether it is more than a number in brackets, such as a footnote has."""
    value = part.value
    if isinstance(value, list):
        return len(value) > 1 or any(isinstance(one, (list, dict, tuple, str)) for one in value)
    return isinstance(value, (dict, set)) and bool(value)


def _data_troubles(data: Sequence[Part]) -> Iterator[str]:
    if (size := sum(_bytes(part.text) for part in data)) > MAX_JSON_BYTES:
        yield f"JSON has {size:,} bytes, at most {MAX_JSON_BYTES:,} are allowed"
    if len(data) > MAX_TABLE_ROWS:
        yield f"there are {len(data):,} JSON values, at most {MAX_TABLE_ROWS} are allowed"
    for part in data:
        if (rows := _most_rows(part.value)) > MAX_TABLE_ROWS:
            yield f"a JSON list has {rows:,} rows, at most {MAX_TABLE_ROWS} are allowed"


def _most_rows(value: object) -> int:
    """The length of the longest list of rows in JSON data; at the top any list is one."""
    most = len(value) if isinstance(value, (list, set)) else 0
    inside = [value]
    while inside:
        one = inside.pop()
        if isinstance(one, dict):
            inside += [item for key, item in one.items() if key not in _AGGREGATES]
        elif isinstance(one, (list, tuple)):
            inside += one
            if all(isinstance(item, (dict, list, tuple)) for item in one):
                most = max(most, len(one))
    return most


def _without_html(text: str) -> str:
    """The text with each row of an HTML table on one line, as a person sees it."""
    *rows, rest = _HTML_ROW_END.split(text)
    seen = []
    for row in rows:
        begin = max(row.lower().rfind("<tr"), 0)
        before = _HTML_TAG.sub("", row[:begin])
        seen += [before] if before.strip() else []
        seen.append("  ".join(_HTML_TAG.sub(" ", row[begin:]).split()))
    return "\n".join([*seen, _HTML_TAG.sub("", rest)])


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """Lines that stand together, without a blank one between."""
    parted = groupby(lines, key=lambda line: not line.strip())
    return [[*block] for is_blank, block in parted if not is_blank]


def _joined(blocks: Sequence[list[str]]) -> Iterator[list[str]]:
    """The blocks, with rows that have only blank lines between them as one."""
    for are_rows, found in groupby(blocks, key=_are_rows):
        if are_rows:
            yield [line for block in found for line in block]
        else:
            yield from found


def _are_rows(block: list[str]) -> bool:
    return len(block) <= _FEW_LINES and not any(map(_is_sentence, block))


def _record_troubles(blocks: Sequence[list[str]]) -> Iterator[str]:
    """Blocks of equally many lines, one after the other: a line for each column."""
    alike = groupby(blocks, key=lambda block: -1 if any(map(_is_sentence, block)) else len(block))
    for size, found in alike:
        if size > 0 and (count := len([*found])) > MAX_TABLE_ROWS:
            yield f"there are {count:,} records, at most {MAX_TABLE_ROWS} are allowed"


def _table_troubles(block: list[str]) -> Iterator[str]:
    if len(block) > _CLEARLY_LONG:
        yield _too_many_lines(len(block))  # without a look at each
    lines = [line for line in block if not _RULE.fullmatch(line)]
    for in_columns, table in groupby(lines, key=_is_in_columns):
        rows = len([*table]) - (_head(block) if in_columns else 0)
        if in_columns and rows > MAX_TABLE_ROWS:
            yield f"a table has {rows:,} rows, at most {MAX_TABLE_ROWS} are allowed"
    if len(lines) > _MOST_LINES:
        yield _too_many_lines(len(lines))
    elif len(lines) > MAX_TABLE_ROWS + 1 and _has_one_separator(lines):
        yield f"a table has {len(lines):,} rows, at most {MAX_TABLE_ROWS} are allowed"


def _line_troubles(lines: Sequence[str]) -> Iterator[str]:
    """What is wrong with single lines, and with all of them together."""
    others = figures = 0
    for line in lines:
        if not line.strip() or _RULE.fullmatch(line):
            continue
        size, is_sentence = _bytes(line), _is_sentence(line)
        most = _LONGEST_PARAGRAPH if is_sentence else _LONGEST_LINE
        is_full = len(_FIGURE.findall(line)) > _MANY_FIGURES * len(line)
        if size > (MAX_JSON_BYTES if is_full else most):
            most = MAX_JSON_BYTES if is_full else most
            yield f"a line of data has {size:,} bytes, at most {most:,} are allowed"
        others += not is_sentence
        figures += size * is_full
    if others > _CLEARLY_LONG:
        yield f"there are {others:,} lines of data, at most {_CLEARLY_LONG} are allowed"
    if figures > _MOST_FIGURES:
        yield f"lines of figures have {figures:,} bytes, at most {_MOST_FIGURES:,} are allowed"


def _is_sentence(line: str) -> bool:
    """Whether it ends as a sentence does, and is made of words rather than of figures."""
    text = line.strip()
    if _SENTENCE_END.search(text[-20:]) is None or "\t" in text or "|" in text:
        return False
    return sum(letter.isalpha() for letter in text) * 2 > len(text)


def _too_many_lines(count: int) -> str:
    return f"{count:,} lines stand together, at most {_MOST_LINES} are allowed"


def _has_one_separator(lines: Sequence[str]) -> bool:
    """Whether each line is parted in the same way, as rows of two columns are."""
    return any(
        all(line.count(sign) == lines[0].count(sign) for line in lines)
        for sign in _SEPARATORS
        if sign in lines[0]
    )


def _is_in_columns(line: str) -> bool:
    text = line.strip()
    if text.startswith(("(", "…")):
        return False  # what a summary says below its rows
    return text.count(",") > 1 or any(mark in text for mark in ("|", "│", "┆", "\t", "  "))


def _head(block: list[str]) -> int:
    """How many lines name the columns; polars gives their types too."""
    return 2 if any("┆" in line or "│" in line for line in block) else 1


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
