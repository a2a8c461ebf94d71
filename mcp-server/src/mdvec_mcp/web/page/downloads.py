"""Files that a view offers: tables as CSV, charts as PNG or SVG."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from mdvec.charts.chart import Chart, ImageFormat
from mdvec.household.core.categories import Hierarchy
from mdvec.household.month import HouseholdAnswer
from mdvec.household.trend import TrendAnswer
from starlette.responses import Response

from mdvec_mcp.household.pictures import month_chart, trend_chart

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What begins a formula; Japanese spreadsheets also take signs of full width."""
_SIZE = (1200, 675)


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Response:
    """A table as CSV that spreadsheets open as UTF-8, and in which no text is a formula."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([_cell(column) for column in columns])
    writer.writerows([[_cell(value) for value in row] for row in rows])
    return _file(text.getvalue().encode("utf-8-sig"), "text/csv; charset=utf-8", f"{name}.csv")


def picture(
    answer: HouseholdAnswer | TrendAnswer,
    known: Hierarchy,
    image_format: ImageFormat,
    font_path: str | None,
) -> Response:
    """The chart of an answer, in the colours of the ledger's categories.

    Raises:
        ChartError: there is nothing to draw, or the font is unusable.
    """
    if isinstance(answer, HouseholdAnswer):
        return drawing(month_chart(answer, None, known), "categories", image_format, font_path)
    return drawing(trend_chart(answer, None, known), "months", image_format, font_path)


def drawing(chart: Chart, name: str, image_format: ImageFormat, font_path: str | None) -> Response:
    """A chart.

    Raises:
        ChartError: there is nothing to draw, or the font is unusable.
    """
    from mdvec.charts.figure import draw  # matplotlib: a second, at the first chart

    drawn = draw(chart, _SIZE, image_format, font_path=font_path)
    return _file(drawn.data, drawn.media_type, f"{name}.{image_format}")


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def _file(data: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="mdvec-{name}"'}
    return Response(data, headers=headers, media_type=media_type)
