"""Whether an output is small enough for a model: JSON, tables, and both in one text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from mdvec.analysis.limits import MAX_JSON_BYTES, MAX_PRINTED_BYTES, MAX_TABLE_ROWS

_MOST_LINES = MAX_TABLE_ROWS + 5
"""Of lines that stand together: rows, their head, rules, what was left out."""
_CLEARLY_LONG = 100
_AGGREGATES = {"bins"}
"""Lists that are counts already, as histogram gives them; their size alone is limited."""
_RULE = re.compile(r"[\s|+:=.…\-─━═┄┌┬┐├┼┤└┴┘╞╪╡│┆]*")
_MOST_ATTEMPTS = 30
"""At how many lines JSON is looked for in vain before the rest is taken for text."""
_WHAT_TO_DO = "aggregate, or use safe_summary_table and safe_json_output"


def validate_output(output: str) -> tuple[bool, str | None]:
    """Whether a model may read this, and if not, why and what to do.

    JSON, alone or within a text: at most 1,024 bytes and 10 rows. A table: at most 10 rows,
    beside its head; a block of other lines: 15. All together: at most 100,000 bytes.
    """
    if len(output) > MAX_PRINTED_BYTES or _bytes(output) > MAX_PRINTED_BYTES:
        trouble: str | None = f"the output has more than {MAX_PRINTED_BYTES:,} bytes"
    else:
        trouble = next(_troubles(output), None)
    return (True, None) if trouble is None else (False, f"{trouble}; {_WHAT_TO_DO}")


def _troubles(output: str) -> Iterator[str]:
    """What is wrong, one reason after the other."""
    parts = [*_parts(output)]
    data = [(text, value) for text, value in parts if value is not None]
    if (size := sum(_bytes(text) for text, _ in data)) > MAX_JSON_BYTES:
        yield f"JSON has {size:,} bytes, at most {MAX_JSON_BYTES:,} are allowed"
    if len(data) > MAX_TABLE_ROWS:
        yield f"there are {len(data):,} JSON values, at most {MAX_TABLE_ROWS} are allowed"
    for _, value in data:
        if (rows := _most_rows(value)) > MAX_TABLE_ROWS:
            yield f"a JSON list has {rows:,} rows, at most {MAX_TABLE_ROWS} are allowed"
    for block in _blocks("\n".join(text for text, value in parts if value is None)):
        yield from _table_troubles(block)


def _parts(output: str) -> Iterator[tuple[str, Any]]:
    """The text in parts: those that are JSON with their value, the others with None."""
    decoder = json.JSONDecoder()
    begin = attempts = 0
    for match in re.finditer(r"^[ \t]*(?=[\[{])", output, re.MULTILINE):
        if match.end() < begin:
            continue  # within the JSON before
        try:
            value, end = decoder.raw_decode(output, match.end())
        except (ValueError, RecursionError):
            attempts += 1
            if attempts == _MOST_ATTEMPTS:
                break
            continue
        yield output[begin : match.end()], None
        yield output[match.end() : end], value
        begin = end
    yield output[begin:], None


def _most_rows(value: object) -> int:
    """The length of the longest list of rows in JSON data; at the top any list is one."""
    most = len(value) if isinstance(value, list) else 0
    inside = [value]
    while inside:
        one = inside.pop()
        if isinstance(one, dict):
            inside += [item for key, item in one.items() if key not in _AGGREGATES]
        elif isinstance(one, list):
            inside += one
            if all(isinstance(item, (dict, list)) for item in one):
                most = max(most, len(one))
    return most


def _blocks(text: str) -> Iterator[list[str]]:
    """Lines that stand together, without a blank one between."""
    for is_blank, lines in groupby(text.splitlines(), key=lambda line: not line.strip()):
        if not is_blank:
            yield list(lines)


def _table_troubles(block: list[str]) -> Iterator[str]:
    if len(block) > _CLEARLY_LONG:
        yield _too_many_lines(len(block))  # without a look at each
    for line in block:
        if line.lstrip().startswith(("[", "{", "(")) and _bytes(line) > MAX_JSON_BYTES:
            size = f"{_bytes(line):,} bytes"
            yield f"a line of data has {size}, at most {MAX_JSON_BYTES:,} are allowed"
    lines = [line for line in block if not _RULE.fullmatch(line)]
    for in_columns, table in groupby(lines, key=_is_in_columns):
        rows = len([*table]) - (_head(block) if in_columns else 0)
        if in_columns and rows > MAX_TABLE_ROWS:
            yield f"a table has {rows:,} rows, at most {MAX_TABLE_ROWS} are allowed"
    if len(lines) > _MOST_LINES:
        yield _too_many_lines(len(lines))


def _too_many_lines(count: int) -> str:
    return f"{count:,} lines stand together, at most {_MOST_LINES} are allowed"


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
