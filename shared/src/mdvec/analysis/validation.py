"""Checks that an output is small enough for a model: JSON, tables, or both in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from mdvec.analysis.data_in_text import TextPart, parts_of
from mdvec.analysis.limits import OutputLimits, limits_in_force

_MAX_ROW_LINES = 2
"""A block of at most this many lines may be one row of a table with blank lines between rows."""
_AGGREGATES = {"bins"}
"""Keys of lists that are aggregates already, as ``histogram`` returns; only their size counts."""
_RULE = re.compile(r"[\s|+:=.…\-─━═┄┌┬┐├┼┤└┴┘╞╪╡│┆]*")
_LINE_END = re.compile(r"\\r\\n|\\n|\\r|<br ?/?>|[\u200b\u2060\ufeff]", re.IGNORECASE)
"""Line breaks that Python does not split at: escaped, in HTML, or zero-width."""
_HTML_ROW = re.compile(r"<(?:tr|row|item|li|dd)\b", re.IGNORECASE)
_HTML_ROW_END = re.compile(r"</tr>", re.IGNORECASE)
_HTML_TAG = re.compile(r"</?(?:table|thead|tbody|tr|td|th)\b[^<>]*>", re.IGNORECASE)
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{60,}")
_SENTENCE_END = re.compile(r"[^\W\d][)」』）\"'*_`]*[。．.!?！？:：][)」』）\"'*_`]*$")
_FIGURE = re.compile(r"[\d,:;|{}\[\]()'\"\t=<>]")
_MIN_FIGURES = 0.25
_SEPARATORS = (",", ";", "=", ": ")
_WHAT_TO_DO = "aggregate, or use safe_summary_table and safe_json_output"


def validate_output(output: str, limits: OutputLimits | None = None) -> tuple[bool, str | None]:
    """Whether an output is within the limits; if not, also why, and what to do instead.

    By default the limits are those of the settings, ``[analytics]`` ``max_output_bytes``,
    ``max_output_rows`` and ``max_printed_bytes``. Without settings they are:

    - JSON, and lists and dicts as Python prints them, anywhere in the text: 1,024 bytes, 10 rows.
    - A table, in text or HTML: 10 rows below its header.
    - Another block of lines: 15 lines; blank lines between single rows do not end a block.
    - A line: 2,048 bytes; a line of whole sentences: 4,096.
    - The whole output: 100 lines that are not sentences, and 100,000 bytes.
    """
    limits = limits or limits_in_force()
    most = limits.printed_bytes
    if len(output) > most or _bytes(output) > most:
        trouble: str | None = f"the output has more than {most:,} bytes"
    else:
        trouble = next(_troubles(output, limits), None)
    return (True, None) if trouble is None else (False, f"{trouble}; {_WHAT_TO_DO}")


def _troubles(output: str, limits: OutputLimits) -> Iterator[str]:
    """Every violated limit, as a reason."""
    parts = [*parts_of(output)]
    yield from _data_troubles([part for part in parts if _is_data(part)], limits)
    text = "\n".join(part.text for part in parts if not _is_data(part))
    rows = len(_HTML_ROW.findall(text))
    if rows > limits.rows + 1:
        yield f"there are {rows:,} rows of HTML, at most {limits.rows} are allowed"
    encoded = sum(len(word) for word in _ENCODED.findall(text) if not _RULE.fullmatch(word))
    if encoded > limits.json_bytes:
        yield f"encoded data have {encoded:,} bytes, at most {limits.json_bytes:,} are allowed"
    lines = _LINE_END.sub("\n", _without_html(text)).splitlines()
    blocks = _blocks(lines)
    for block in _joined(blocks):
        yield from _table_troubles(block, limits)
    yield from _record_troubles(blocks, limits)
    yield from _line_troubles(lines, limits)


def _is_data(part: TextPart) -> bool:
    """Whether it is data, and not just a footnote such as [1]."""
    value = part.value
    if isinstance(value, list):
        return len(value) > 1 or any(isinstance(one, (list, dict, tuple, str)) for one in value)
    return isinstance(value, (dict, set)) and bool(value)


def _data_troubles(data: Sequence[TextPart], limits: OutputLimits) -> Iterator[str]:
    if (size := sum(_bytes(part.text) for part in data)) > limits.json_bytes:
        yield f"JSON has {size:,} bytes, at most {limits.json_bytes:,} are allowed"
    if len(data) > limits.rows:
        yield f"there are {len(data):,} JSON values, at most {limits.rows} are allowed"
    for part in data:
        if (rows := _most_rows(part.value)) > limits.rows:
            yield f"a JSON list has {rows:,} rows, at most {limits.rows} are allowed"


def _most_rows(value: object) -> int:
    """The length of the longest list of rows; at the top level, any list counts."""
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
    """The text with each row of an HTML table on a line of its own, without tags."""
    *rows, rest = _HTML_ROW_END.split(text)
    seen = []
    for row in rows:
        begin = max(row.lower().rfind("<tr"), 0)
        before = _HTML_TAG.sub("", row[:begin])
        seen += [before] if before.strip() else []
        seen.append("  ".join(_HTML_TAG.sub(" ", row[begin:]).split()))
    return "\n".join([*seen, _HTML_TAG.sub("", rest)])


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """The blocks of lines between blank lines."""
    parted = groupby(lines, key=lambda line: not line.strip())
    return [[*block] for is_blank, block in parted if not is_blank]


def _joined(blocks: Sequence[list[str]]) -> Iterator[list[str]]:
    """The blocks, with adjacent single rows joined into one block."""
    for are_rows, found in groupby(blocks, key=_are_rows):
        if are_rows:
            yield [line for block in found for line in block]
        else:
            yield from found


def _are_rows(block: list[str]) -> bool:
    return len(block) <= _MAX_ROW_LINES and not any(map(_is_sentence, block))


def _record_troubles(blocks: Sequence[list[str]], limits: OutputLimits) -> Iterator[str]:
    """Adjacent blocks of the same number of lines are records with one line per column."""
    alike = groupby(blocks, key=lambda block: -1 if any(map(_is_sentence, block)) else len(block))
    for size, found in alike:
        if size > 0 and (count := len([*found])) > limits.rows:
            yield f"there are {count:,} records, at most {limits.rows} are allowed"


def _table_troubles(block: list[str], limits: OutputLimits) -> Iterator[str]:
    if len(block) > limits.data_lines:
        yield _too_many_lines(len(block), limits)  # skips the check of each line
    lines = [line for line in block if not _RULE.fullmatch(line)]
    for in_columns, table in groupby(lines, key=_is_in_columns):
        rows = len([*table]) - (_head(block) if in_columns else 0)
        if in_columns and rows > limits.rows:
            yield f"a table has {rows:,} rows, at most {limits.rows} are allowed"
    if len(lines) > limits.lines:
        yield _too_many_lines(len(lines), limits)
    elif len(lines) > limits.rows + 1 and _has_one_separator(lines):
        yield f"a table has {len(lines):,} rows, at most {limits.rows} are allowed"


def _line_troubles(lines: Sequence[str], limits: OutputLimits) -> Iterator[str]:
    """Violated limits of single lines, and of all lines together."""
    others = figures = 0
    for line in lines:
        if not line.strip() or _RULE.fullmatch(line):
            continue
        size, is_sentence = _bytes(line), _is_sentence(line)
        most = limits.paragraph_bytes if is_sentence else limits.line_bytes
        is_full = len(_FIGURE.findall(line)) > _MIN_FIGURES * len(line)
        if size > (limits.json_bytes if is_full else most):
            most = limits.json_bytes if is_full else most
            yield f"a line of data has {size:,} bytes, at most {most:,} are allowed"
        others += not is_sentence
        figures += size * is_full
    if others > limits.data_lines:
        yield f"there are {others:,} lines of data, at most {limits.data_lines} are allowed"
    if figures > limits.figure_bytes:
        most = limits.figure_bytes
        yield f"lines of figures have {figures:,} bytes, at most {most:,} are allowed"


def _is_sentence(line: str) -> bool:
    """Whether a line ends like a sentence and has more letters than other characters."""
    text = line.strip()
    if _SENTENCE_END.search(text[-20:]) is None or "\t" in text or "|" in text:
        return False
    return sum(letter.isalpha() for letter in text) * 2 > len(text)


def _too_many_lines(count: int, limits: OutputLimits) -> str:
    return f"{count:,} lines stand together, at most {limits.lines} are allowed"


def _has_one_separator(lines: Sequence[str]) -> bool:
    """Whether all lines have the same separators, as rows of two columns do."""
    return any(
        all(line.count(sign) == lines[0].count(sign) for line in lines)
        for sign in _SEPARATORS
        if sign in lines[0]
    )


def _is_in_columns(line: str) -> bool:
    text = line.strip()
    if text.startswith(("(", "…")):
        return False  # a note of omitted rows or columns
    return text.count(",") > 1 or any(mark in text for mark in ("|", "│", "┆", "\t", "  "))


def _head(block: list[str]) -> int:
    """The number of header lines; polars prints the types below the names."""
    return 2 if any("┆" in line or "│" in line for line in block) else 1


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
