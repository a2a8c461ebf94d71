"""Checks that an output is small enough for a model: JSON, tables, or both in one text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from mdvec.analysis.limits import OutputLimits, limits_in_force

_AGGREGATES = {"bins"}
"""Keys of lists that are aggregates already, as ``histogram`` returns; only their size counts."""
_JSON_START = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_LINE_END = re.compile(r"[ \t]*(?=[\r\n]|$)")
_RULE = re.compile(r"[\s|+:=.…\-─━═┄┌┬┐├┼┤└┴┘╞╪╡│┆]*")
_SENTENCE_END = re.compile(r"[^\W\d][)」』）\"'*_`]*[。．.!?！？:：][)」』）\"'*_`]*$")
_COLUMN_MARKS = ("|", "│", "┆", "\t", "  ")
_WHAT_TO_DO = "aggregate, or use safe_summary_table and safe_json_output"


def validate_output(output: str, limits: OutputLimits | None = None) -> tuple[bool, str | None]:
    """Whether an output is within the limits; if not, also why, and what to do instead.

    By default the limits are those of the settings, ``[analytics]`` ``max_output_bytes``,
    ``max_output_rows`` and ``max_printed_bytes``. Without settings they are:

    - The whole output: 100,000 bytes; of that 100 lines that are not sentences, with 8,192 bytes.
    - JSON on lines of its own: 1,024 bytes and 10 rows.
    - A table: 10 rows below its header. Another block of lines: 15 lines.
    - A line: 1,024 bytes; a line of whole sentences: 4,096.
    """
    limits = limits or limits_in_force()
    trouble = next(_troubles(output, limits), None)
    return (True, None) if trouble is None else (False, f"{trouble}; {_WHAT_TO_DO}")


def _troubles(output: str, limits: OutputLimits) -> Iterator[str]:
    """Every violated limit, as a reason; the first ones keep the work of the others small."""
    if _bytes(output) > limits.printed_bytes:
        yield f"the output has more than {limits.printed_bytes:,} bytes"
    data = [line for line in output.splitlines() if not _is_rule(line) and not _is_sentence(line)]
    max_data_lines, max_data_bytes = 10 * limits.rows, 8 * limits.json_bytes
    if len(data) > max_data_lines:
        yield f"there are {len(data):,} lines of data, at most {max_data_lines} are allowed"
    values, text = _json_and_text(output)
    yield from _json_troubles(values, limits)
    if (size := sum(map(_bytes, data))) > max_data_bytes:
        yield f"lines of data have {size:,} bytes, at most {max_data_bytes:,} are allowed"
    for is_blank, block in groupby(text.splitlines(), key=lambda line: not line.strip()):
        if not is_blank:
            yield from _block_troubles([line for line in block if not _is_rule(line)], limits)


def _json_and_text(output: str) -> tuple[list[tuple[object, str]], str]:
    """The JSON values that have lines to themselves, each with its text; and the other text."""
    decoder = json.JSONDecoder()
    values, texts, end = [], [], 0
    for start in _JSON_START.finditer(output):
        if start.end() < end:
            continue  # inside the value before
        try:
            value, after = decoder.raw_decode(output, start.end())
        except (ValueError, RecursionError):
            continue
        if _LINE_END.match(output, after):
            values.append((value, output[start.end() : after]))
            texts.append(output[end : start.end()])
            end = after
    return values, "".join([*texts, output[end:]])


def _json_troubles(values: Sequence[tuple[object, str]], limits: OutputLimits) -> Iterator[str]:
    if (size := sum(_bytes(text) for _, text in values)) > limits.json_bytes:
        yield f"JSON has {size:,} bytes, at most {limits.json_bytes:,} are allowed"
    if len(values) > limits.rows:
        yield f"there are {len(values):,} JSON values, at most {limits.rows} are allowed"
    for value, _ in values:
        if (rows := _most_rows(value)) > limits.rows:
            yield f"a JSON list has {rows:,} rows, at most {limits.rows} are allowed"


def _most_rows(value: object) -> int:
    """The length of the longest list of rows; at the top level, any list counts."""
    most = len(value) if isinstance(value, list) else 0
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            waiting += [item for key, item in inner.items() if key not in _AGGREGATES]
        elif isinstance(inner, list):
            waiting += inner
            if all(isinstance(item, (dict, list)) for item in inner):
                most = max(most, len(inner))
    return most


def _block_troubles(lines: Sequence[str], limits: OutputLimits) -> Iterator[str]:
    """Violated limits of lines that stand together, and of each of them."""
    header = 2 if any("┆" in line or "│" in line for line in lines) else 1  # polars names types
    for is_table, rows in groupby(lines, key=_is_in_columns):
        if is_table and (count := len([*rows]) - header) > limits.rows:
            yield f"a table has {count:,} rows, at most {limits.rows} are allowed"
    max_lines = limits.rows + 5  # their header, rules, a note of omitted rows
    if len(lines) > max_lines:
        yield f"{len(lines):,} lines stand together, at most {max_lines} are allowed"
    for line in lines:
        most = 4 * limits.json_bytes if _is_sentence(line) else limits.json_bytes
        if (size := _bytes(line)) > most:
            yield f"a line has {size:,} bytes, at most {most:,} are allowed"


def _is_rule(line: str) -> bool:
    """Whether a line is blank, or only separates the parts of a table."""
    return _RULE.fullmatch(line) is not None


def _is_sentence(line: str) -> bool:
    """Whether a line ends like a sentence and has more letters than other characters."""
    text = line.strip()
    if _SENTENCE_END.search(text[-20:]) is None or "\t" in text or "|" in text:
        return False
    return sum(letter.isalpha() for letter in text) * 2 > len(text)


def _is_in_columns(line: str) -> bool:
    text = line.strip()
    if text.startswith(("(", "…")):
        return False  # a note of omitted rows or columns
    return text.count(",") > 1 or any(mark in text for mark in _COLUMN_MARKS)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
