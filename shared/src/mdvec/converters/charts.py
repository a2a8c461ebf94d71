"""Reads the values of a document's charts as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import accumulate, islice, zip_longest
from xml.etree import ElementTree as ET

from mdvec.text import on_one_line

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_CATEGORIES = (f"{_C}cat", f"{_C}xVal")
_VALUES = (f"{_C}val", f"{_C}yVal")
_QUOTED = re.compile(r"\"[^\"]*\"|\[[^\]]*\]|\\\\.")
_DATE = re.compile("[ymd]", re.IGNORECASE)
_FIRST_DAY, _FIRST_DAY_OF_1904 = date(1899, 12, 30), date(1904, 1, 1)
_WHOLE = re.compile(r"[0-9]{1,9}(?:\.0+)?")
_MAX_DAYS = 100_000
_MAX_CELLS = 200_000


def chart_tables(chart: ET.Element) -> str:
    """A chart's title, and a table of its values for each set of categories; "" without values."""
    first_day = _FIRST_DAY_OF_1904 if _is_1904(chart) else _FIRST_DAY
    tables: dict[tuple[str, ...], list[tuple[str, list[str]]]] = {}
    for series in chart.iter(f"{_C}ser"):
        categories, values = (_points(series, name, first_day) for name in (_CATEGORIES, _VALUES))
        columns = tables.setdefault(tuple(categories), [])
        columns.append((_text_in(series.find(f"{_C}tx")), values))
        for sizes in series.iterfind(f"{_C}bubbleSize"):
            columns.append(("size", _values(sizes, first_day)))
    written = [_table_of_series(*table) for table in tables.items()]
    if not any(values for columns in tables.values() for _, values in columns):
        return ""
    title = _text_in(chart.find(f"{_C}chart/{_C}title"))
    return "\n\n".join([title, *written] if title else written)


def table_of(rows: Sequence[Sequence[str]]) -> str:
    """Rows, of which the first is the header, in Markdown."""
    cells = [[on_one_line(text).replace("|", "\\|") for text in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]]) if lines else ""


def _table_of_series(categories: Sequence[str], columns: list[tuple[str, list[str]]]) -> str:
    names, values = [name for name, _ in columns], [each for _, each in columns]
    count = max(map(len, values))
    along = [*categories, *map(str, range(len(categories) + 1, count + 1))]
    rows = islice(zip_longest(along, *values, fillvalue=""), _MAX_CELLS // (len(columns) + 1))
    return table_of([["", *names], *rows])


def _is_1904(chart: ET.Element) -> bool:
    flag = chart.find(f"{_C}date1904")
    return flag is not None and flag.get("val", "1") not in ("0", "false")


def _text_in(element: ET.Element | None) -> str:
    """The words of a title or of a series' name."""
    if element is None:
        return ""
    texts = [t.text or "" for t in element.iter() if t.tag == f"{_C}v" or t.tag.endswith("main}t")]
    return on_one_line("".join(texts))


def _points(series: ET.Element, names: Sequence[str], first_day: date) -> list[str]:
    element = next((child for name in names for child in series.iterfind(name)), None)
    return [] if element is None else _values(element, first_day)


def _values(element: ET.Element, first_day: date) -> list[str]:
    """The values in order, with "" for missing ones; several levels are joined.

    The name of a group, stored only at its first category, is repeated for all its categories.
    """
    levels = list(element.iter(f"{_C}lvl"))
    if not levels:
        return _cached_values(element, element, first_day)
    columns = [_cached_values(level, element, first_day) for level in reversed(levels)]
    count = max(map(len, columns))
    padded = [column + [""] * (count - len(column)) for column in columns]
    groups: list[accumulate[str]] = [
        accumulate(column, lambda above, name: name or above) for column in padded[:-1]
    ]
    return [" ".join(filter(None, parts)) for parts in zip(*groups, padded[-1], strict=True)]


def _cached_values(element: ET.Element, around: ET.Element, first_day: date) -> list[str]:
    known: dict[int, str] = {}
    formats = [code.text or "" for code in around.iter(f"{_C}formatCode")]
    is_date = bool(formats) and _DATE.search(_QUOTED.sub("", formats[0])) is not None
    for point in element.iter(f"{_C}pt"):
        index, text = point.get("idx", ""), point.findtext(f"{_C}v", "")
        if index.isdecimal() and int(index) < _MAX_CELLS:
            known[int(index)] = _day(text, first_day) if is_date else text
    return [known.get(at, "") for at in range(max(known, default=-1) + 1)]


def _day(text: str, first_day: date) -> str:
    """The date of a number of days after ``first_day``, in ISO 8601; other text is unchanged."""
    days = text.partition(".")[0] if _WHOLE.fullmatch(text) else ""
    return str(first_day + timedelta(int(days))) if days and int(days) < _MAX_DAYS else text
