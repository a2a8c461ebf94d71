"""The figures of a chart in a document, as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
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
    tables: list[tuple[list[str], list[tuple[str, list[str]]]]] = []
    for series in chart.iter(f"{_C}ser"):
        categories, values = (_points(series, name, first_day) for name in (_CATEGORIES, _VALUES))
        known = next((columns for along, columns in tables if along == categories), None)
        if known is None:
            known = []
            tables.append((categories, known))
        known.append((_text_in(series.find(f"{_C}tx")), values))
        for sizes in series.iterfind(f"{_C}bubbleSize"):
            known.append(("size", _values(sizes, first_day)))
    written = [_table_of_series(*table) for table in tables]
    if not any(values for _, columns in tables for _, values in columns):
        return ""
    title = _text_in(chart.find(f"{_C}chart/{_C}title"))
    return "\n\n".join([title, *written] if title else written)


def table_of(rows: Sequence[Sequence[str]]) -> str:
    """Rows, of which the first is the header, in Markdown."""
    cells = [[on_one_line(text).replace("|", "\\|") for text in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]]) if lines else ""


def _table_of_series(categories: list[str], columns: list[tuple[str, list[str]]]) -> str:
    count = max([len(categories), *(len(values) for _, values in columns)])
    count = min(count, _MAX_CELLS // (len(columns) + 1))
    along = [*categories, *map(str, range(len(categories) + 1, count + 1))]
    rows = [
        [along[at], *(values[at] if at < len(values) else "" for _, values in columns)]
        for at in range(count)
    ]
    return table_of([["", *(name for name, _ in columns)], *rows])


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
    elements = (series.find(name) for name in names)
    element = next((element for element in elements if element is not None), None)
    return [] if element is None else _values(element, first_day)


def _values(element: ET.Element, first_day: date) -> list[str]:
    """The values in order, with "" for missing ones; several levels are joined."""
    levels = list(element.iter(f"{_C}lvl"))
    if not levels:
        return _cached_values(element, element, first_day)
    columns = [_cached_values(level, element, first_day) for level in reversed(levels)]
    count = max(map(len, columns))
    filled = [_filled_down(column, count) for column in columns[:-1]]
    last = columns[-1] + [""] * (count - len(columns[-1]))
    return [" ".join(filter(None, parts)) for parts in zip(*filled, last, strict=True)]


def _filled_down(values: list[str], count: int) -> list[str]:
    """The values, with the name of each group repeated for all of its categories."""
    filled: list[str] = []
    for at in range(count):
        value = values[at] if at < len(values) else ""
        filled.append(value or (filled[-1] if filled else ""))
    return filled


def _cached_values(element: ET.Element, around: ET.Element, first_day: date) -> list[str]:
    known: dict[int, str] = {}
    formats = [code.text or "" for code in around.iter(f"{_C}formatCode")]
    is_date = bool(formats) and _DATE.search(_QUOTED.sub("", formats[0])) is not None
    for point in element.iter(f"{_C}pt"):
        place, text = point.get("idx", ""), point.findtext(f"{_C}v", "")
        if place.isdecimal() and int(place) < _MAX_CELLS:
            known[int(place)] = _day(text, first_day) if is_date else text
    return [known.get(at, "") for at in range(max(known, default=-1) + 1)]


def _day(text: str, first_day: date) -> str:
    """A day that is stored as a number of days."""
    days = text.partition(".")[0] if _WHOLE.fullmatch(text) else ""
    return str(first_day + timedelta(int(days))) if days and int(days) < _MAX_DAYS else text
