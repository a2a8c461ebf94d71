"""The view of data: tables, a profile of one, a box for SQL, and its chart and CSV download."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mdvec import charts
from mdvec.charts import Chart, ImageFormat
from mdvec.database import DatabaseMissing
from mdvec.datasets import Column
from mdvec.household import Hierarchy, HouseholdAnswer, TrendAnswer
from mdvec.manage import list_tools
from mdvec.sql import AnswerGuard, JsonAnswer, NoHistogram
from mdvec.text import identifier
from mdvec.tools import KINDS
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.household import month_chart, trend_chart
from mdvec_mcp.web.page.bars import MonthChart, chart_of_months
from mdvec_mcp.web.page.views import Query, Views

_GUARD = AnswerGuard(300_000, 500)
"""What a page shows of a result, which a person reads: more than a model's tools answer."""
_PROFILE_GUARD = AnswerGuard(100_000, 500)
_MAX_HISTOGRAMS = 24
_BINS = 12
_MAX_CHARTED = 60
_MAX_SQL_CHARS = 20_000
_MAX_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column with its figures, and its histogram's bins if its type has any."""

    name: str
    type: str
    figures: dict[str, Any]
    bins: tuple[tuple[str, int], ...]

    @property
    def most(self) -> int:
        """The count of the highest bin."""
        return max((count for _, count in self.bins), default=0) or 1


def routes(views: Views) -> list[Route]:
    """The routes of the view."""
    data = _Data(views)
    return [
        views.route("/data", data.show),
        views.route("/data/table", data.table),
        views.route("/data/export", data.export, changes=True),
    ]


@dataclass(frozen=True, slots=True)
class _Data:
    views: Views

    async def show(self, request: Request) -> Response:
        """The tables, the exports, and the result of a query, or why it was refused.

        The tables are left out if the query process has to be started for them alone, unless the
        address asks for ``all``, or for them alone, as the script of the page does.
        """
        query = Query(request)
        sql = query.text("sql").strip()[:_MAX_SQL_CHARS]
        if not await self.views.run(request, self._has_tables):
            return self.views.page(request, "no_data.html")
        if query.text("part") == "tables":
            known = await self.views.run(request, self._handles)
            return self.views.page(request, "data_tables.html", handles=known)
        is_asked = bool(sql) or "all" in query
        handles = await self.views.run(request, lambda: self._handles_if(asked=is_asked))
        result, refusal = None, ""
        if sql:
            try:
                rows = self.views.wiring.analytics.small_answers.rows
                result = await self.views.run(request, partial(rows, sql, _GUARD))
            except ToolError as error:
                refusal = str(error)
        return self.views.page(
            request, "data.html", status=400 if refusal else 200,
            sql=sql, handles=handles, result=result, refusal=refusal,
            chart=None if result is None else charted(result),
        )  # fmt: skip

    async def table(self, request: Request) -> Response:
        """The columns of a table or query: types, figures, and small histograms."""
        query = Query(request)
        name = query.text("name")
        sql, profile, columns = await self.views.run(request, lambda: self._profile(name, query))
        return self.views.page(
            request, "data_table.html", name=name, profile=profile, columns=columns, sql=sql
        )

    async def export(self, request: Request) -> Response:
        """Write the result of a query to a file for Python."""
        sql = request.state.form.get("sql", [""])[0].strip()[:_MAX_SQL_CHARS]
        exporter = self.views.wiring.analytics.exporter
        await self.views.run(request, lambda: exporter.export(sql, "parquet", None))
        return RedirectResponse("/data#exports", 303)

    def _has_tables(self) -> bool:
        try:
            tools = list_tools(self.views.wiring.database, active_only=True)
        except DatabaseMissing:
            return False
        return any(KINDS[tool.kind].has_tables for tool in tools)

    def _handles_if(self, *, asked: bool) -> dict[str, Any] | None:
        is_ready = self.views.wiring.analytics.queries.is_ready()
        return self._handles() if asked or is_ready else None

    def _handles(self) -> dict[str, Any]:
        analytics = self.views.wiring.analytics
        tables = analytics.queries.tables()
        return {"tables": tables, "exports": list(reversed(analytics.exports.list()))}

    def _profile(self, name: str, query: Query) -> tuple[str, JsonAnswer, list[ShownColumn]]:
        """A query for the rows of a table or of another query, their profile, and their columns."""
        summaries = self.views.wiring.analytics.summaries
        known = {table.lower(): table for table in summaries.queries.tables()}
        table = known.get(name.lower())
        # What is no table is a query, or refused by the query process, which names those there are.
        source = name if table is None else f"SELECT * FROM {identifier(table)}"
        since, until = query.text("since"), query.text("until")
        days, by = (since, until) if since and until else None, query.text("date_column") or None
        profile = summaries.profile(
            source, days, by, query.all("column") or None, exact=False, guard=_PROFILE_GUARD
        )
        figures = profile["columns"]
        types = [field for field in summaries.queries.columns(source) if field.name in figures]

        def bins(column: Column) -> tuple[tuple[str, int], ...]:
            try:
                histogram = summaries.histogram(source, column.name, _BINS, days, by)
            except NoHistogram:
                return ()
            return tuple((str(bin_.get("value", bin_.get("min"))), bin_["count"])
                         for bin_ in histogram["bins"])  # fmt: skip

        shown = [
            ShownColumn(
                column.name, column.type, figures[column.name],
                bins(column) if number < _MAX_HISTOGRAMS else (),
            )
            for number, column in enumerate(types)
        ]  # fmt: skip
        return name if table is None else f"{source} LIMIT 100", profile, shown


def charted(result: JsonAnswer) -> MonthChart | None:
    """A chart of the first column of numbers by the first other column; None if there is none."""
    rows = result["rows"]
    if not 1 < len(rows) <= _MAX_CHARTED:
        return None
    numeric = [
        position
        for position in range(len(result["columns"]))
        if all(_is_amount(row[position]) for row in rows)
    ]
    others = [position for position in range(len(result["columns"])) if position not in numeric]
    if not numeric or not any(row[numeric[0]] for row in rows):
        return None
    labels = [str(row[others[0]])[:12] if others else str(n + 1) for n, row in enumerate(rows)]
    amounts = [None if row[numeric[0]] is None else round(row[numeric[0]]) for row in rows]
    return chart_of_months(labels, {"out": amounts}, {})


def _is_amount(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return value is None or (isinstance(value, int | float) and abs(value) < _MAX_EXACT)


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
    drawn = charts.draw(chart, _SIZE, image_format, font_path=font_path)
    return _file(drawn.data, drawn.media_type, f"{name}.{image_format}")


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def _file(data: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="mdvec-{name}"'}
    return Response(data, headers=headers, media_type=media_type)
