"""The view of data: tables and their profiles, an SQL editor, saved questions, charts and files."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from mcp.server.mcpserver.exceptions import ToolError
from mdvec import charts
from mdvec.analysis import ExportFormat
from mdvec.charts import PLOT_KINDS, ImageFormat, Plot, PlotKind, PlotRefused
from mdvec.datasets import Column
from mdvec.queries import Parameter, SaveMode
from mdvec.sql import AnswerGuard, Hint, JsonAnswer, NoHistogram, Prepared, QueryError
from mdvec.text import identifier
from mdvec.tools import KINDS
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from mdvec_mcp.household import in_picture
from mdvec_mcp.web.page.views import Query, Views, Visit, or_again

_GUARD = AnswerGuard(100_000, 500)
"""The limits of results on the page: more than tools return to a model, as people read it."""
_SAMPLES = AnswerGuard(20_000, 5)
_MAX_HISTOGRAMS = 4
"""How many histograms of a table are shown at once; the others need a click."""
_BINS = 12
_MAX_SQL_CHARS = 20_000
_VALUE = "p."
"""The prefix of address fields for parameters."""
_GONE = 499
"""The HTTP status of an answer for which no browser waits, as in nginx."""


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column with its statistics, and the bins of its histogram, if its type has one."""

    name: str
    type: str
    figures: dict[str, Any]
    bins: tuple[tuple[str, int], ...]

    @property
    def most(self) -> int:
        """The count of the highest bin."""
        return max((count for _, count in self.bins), default=0) or 1


@dataclass(frozen=True, slots=True)
class Asked:
    """The editor's query: its parameters, and its result unless parameters have no value yet.

    If a chart is wanted, ``chart`` describes it, or ``not_drawn`` says why there is none.
    """

    parameters: tuple[Parameter, ...] = ()
    result: JsonAnswer | None = None
    chart: str = ""
    not_drawn: str = ""


def routes(views: Views) -> list[Route]:
    """The routes of the view."""
    return [
        views.route("/data", show),
        views.route("/data/table", table),
        views.route("/data/file", file),
        views.route("/data/chart", chart),
        views.route("/data/export", export, changes=True),
        views.route("/data/save", or_again(save, _page), changes=True),
    ]


async def show(visit: Visit) -> Response:
    """Show the tables, the exports, and the result of a query, or why it was refused.

    The tables are omitted if only they would need the query process to start, unless the
    address asks for ``all`` or for them alone, as the page's script does.
    """
    query = visit.query
    active = await visit.run(lambda: visit.views.tools(active_only=True))
    if not any(KINDS[tool.kind].has_tables for tool in active):
        return visit.page("no_data.html")
    if query.text("part") == "tables":
        known = await visit.run(partial(_handles, visit))
        return visit.page("data_tables.html", handles=known)
    return await _page(visit)


async def _page(visit: Visit) -> Response:
    query, analytics = visit.query, visit.wiring.analytics
    sql, reason, instead = _sql(query), "", list[tuple[str, str]]()
    is_asked = bool(sql) or "all" in query
    handles = await visit.run(
        lambda: _handles(visit) if is_asked or analytics.queries.is_ready() else None
    )
    questions = await visit.run(analytics.questions.listed)
    result: Asked | None = Asked()
    if sql:
        try:
            result = await visit.run_while_awaited(partial(_result_of, visit))
        except ToolError as error:
            reason, cause = str(error), error.__cause__
            if isinstance(cause, QueryError) and cause.hint is not None:
                instead = instead_of(sql, cause.hint)
    if result is None:
        return Response(status_code=_GONE)
    return visit.page(
        "data.html", status=400 if reason else 200, sql=sql, handles=handles,
        questions=questions, asked=result, refusal=reason, instead=instead,
        kinds=PLOT_KINDS, mark=_VALUE,
    )  # fmt: skip


async def table(visit: Visit) -> Response:
    """Show a few rows of a table or query, and its columns: types, statistics, histograms.

    Unless the address names a column or asks for ``all``, the page's script loads the columns.
    """
    query = visit.query
    name, part = query.text("name"), query.text("part")
    source, sql = await visit.run(lambda: _source(visit, name))
    profile, columns, samples = None, None, None
    if part or "all" in query or "column" in query:
        profile, columns = await visit.run(partial(_profile, visit, source))
    if not part:
        rows = visit.wiring.analytics.questions.rows
        samples = await visit.run(partial(rows, Prepared(sql), _SAMPLES))
    return visit.page(
        "data_columns.html" if part else "data_table.html",
        name=name, profile=profile, columns=columns, sql=sql, samples=samples,
    )  # fmt: skip


async def file(visit: Visit) -> Response:
    """All rows of a query as CSV or Parquet."""
    fmt: ExportFormat = "parquet" if visit.query.text("format") == "parquet" else "csv"
    questions = visit.wiring.analytics.questions
    exported = await visit.run(lambda: questions.file(_prepare(visit), fmt, None))
    headers = {"Content-Disposition": f'attachment; filename="mdvec-result.{fmt}"'}
    lines = _spreadsheet_lines(exported.path) if fmt == "csv" else file_parts(exported.path)
    kind = "text/csv; charset=utf-8" if fmt == "csv" else "application/vnd.apache.parquet"
    return StreamingResponse(lines, headers=headers, media_type=kind)


async def chart(visit: Visit) -> Response:
    """The chart of a result that the address names."""
    return await drawing(visit, "result", partial(_plot, visit), "svg")


async def export(visit: Visit) -> Response:
    """Write the result of a query to a file for Python."""

    def work() -> None:
        prepared = _prepare(visit)
        visit.wiring.analytics.exporter.export(
            prepared.source, "parquet", None, prepared.sql, parameters=prepared.bound
        )

    await visit.run(work)
    return RedirectResponse("/data#exports", 303)


async def save(visit: Visit) -> Response:
    """Save or delete a question; if refused, it stays in its form, with the reason."""
    query = visit.query
    name, sql, mode = query.text("name").strip(), _sql(query), query.text("mode")
    wanted: SaveMode = "delete" if mode == "delete" else "replace" if mode else "create"
    keep = visit.wiring.analytics.questions.save
    await visit.run(lambda: keep(name, sql, query.text("description") or None, wanted))
    fields = {"name": name, "sql": sql} if wanted != "delete" else {"deleted": name}
    return RedirectResponse(f"/data?{urlencode(fields)}", 303)


def _result_of(visit: Visit) -> Asked:
    """The result and a description of its chart, unless parameters have no values yet."""
    questions = visit.wiring.analytics.questions
    parameters = questions.parameters(_sql(visit.query))
    values = {name.casefold() for name in _values(visit.query)}
    needed = (
        parameter
        for parameter in parameters
        if parameter.default is None and not parameter.is_optional
    )
    if any(parameter.name.casefold() not in values for parameter in needed):
        return Asked(parameters)
    result = questions.rows(_prepare(visit), _GUARD)
    if _kind(visit.query) is None:
        return Asked(parameters, result)
    try:
        return Asked(parameters, result, _plot(visit).in_words())
    except PlotRefused as error:
        return Asked(parameters, result, not_drawn=str(error))


def _prepare(visit: Visit) -> Prepared:
    query = visit.query
    return visit.wiring.analytics.questions.prepare(_sql(query), _values(query) or None)


def _plot(visit: Visit) -> Plot:
    kind = _kind(visit.query) or "bar"
    return visit.wiring.analytics.questions.plot(_prepare(visit), kind, "")


def _handles(visit: Visit) -> dict[str, Any]:
    analytics = visit.wiring.analytics
    exports = list(reversed(analytics.exports.list()))
    return {"tables": analytics.queries.tables(), "exports": exports}


def _source(visit: Visit, name: str) -> tuple[str, str]:
    """A query for all rows of a table or query, and a query for rows to show."""
    known = {table.lower(): table for table in visit.wiring.analytics.queries.tables()}
    table = known.get(name.lower())
    if table is None:  # a query; or an unknown table, which the query process refuses
        return name, name
    source = f"SELECT * FROM {identifier(table)}"
    return source, f"{source} LIMIT 100"


def _profile(visit: Visit, source: str) -> tuple[JsonAnswer, list[ShownColumn]]:
    """The profile of the rows of a query, and their columns."""
    query, summaries = visit.query, visit.wiring.analytics.summaries
    since, until = query.text("since"), query.text("until")
    days, by = (since, until) if since and until else None, query.text("date_column") or None
    profile = summaries.profile(
        source, days, by, query.all("column") or None, exact=False, guard=_GUARD
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
    return profile, shown


def _sql(query: Query) -> str:
    return query.text("sql").strip()[:_MAX_SQL_CHARS]


def _values(query: Query) -> dict[str, str]:
    """The values that a URL gives to the query's parameters, by name."""
    return {
        name.removeprefix(_VALUE): value
        for name, value in query.others()
        if name.startswith(_VALUE) and value
    }


def _kind(query: Query) -> PlotKind | None:
    return next((kind for kind in PLOT_KINDS if kind == query.text("chart")), None)


def instead_of(sql: str, hint: Hint) -> list[tuple[str, str]]:
    """The names that a refusal suggests, each with the corrected SQL."""
    if hint.form:
        return [(hint.form, hint.form)]
    corrected = [(name, hint.put_in(sql, name)) for name in hint.names]
    return [(name, query) for name, query in corrected if query != sql]


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Characters that begin a formula; Japanese spreadsheets also accept full-width ones."""
_IS_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_SIZE = (1200, 675)


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Response:
    """A table as CSV that spreadsheets read as UTF-8, without formulas."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([_cell(column) for column in columns])
    writer.writerows([[_cell(value) for value in row] for row in rows])
    return _file(text.getvalue().encode("utf-8-sig"), "text/csv; charset=utf-8", f"{name}.csv")


Table = tuple[Sequence[str], Iterable[Sequence[object]]]
S = TypeVar("S")


def table_file(tables: Mapping[str, Callable[[S], Table]], shown: S, name: str) -> Response:
    """The named table of a view, else its first, as CSV."""
    name = name if name in tables else next(iter(tables))
    return csv_file(name, *tables[name](shown))


async def drawing(visit: Visit, name: str, make: Callable[[], Plot], kind: str = "") -> Response:
    """The chart that ``make`` returns, as SVG or PNG (by default the requested ``format``).

    Raises:
        ToolError: there is nothing to draw, or the font is unusable.
    """
    image: ImageFormat = "svg" if "svg" in (kind, visit.query.text("format")) else "png"
    font = visit.wiring.settings.charts.font_path
    wording = in_picture if visit.language == "en" else None

    def drawn() -> Response:
        picture = charts.draw(make(), _SIZE, image, font_path=font, words=wording)
        return _file(picture.data, picture.media_type, f"{name}.{image}")

    return await visit.run(drawn)


def _spreadsheet_lines(file: Path) -> Iterator[bytes]:
    """The lines of an exported CSV file with a BOM and without formulas; then deletes it."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            yield codecs.BOM_UTF8
            for row in csv.reader(lines):
                text = io.StringIO()
                cells = [value if _IS_NUMBER.fullmatch(value) else _cell(value) for value in row]
                csv.writer(text).writerow(cells)
                yield text.getvalue().encode()
    finally:
        file.unlink(missing_ok=True)


def file_parts(file: Path) -> Iterator[bytes]:
    """The parts of a file, which is unlinked first, so that a killed server leaves nothing."""
    whole = file.open("rb")
    with suppress(OSError):  # Windows deletes no open file
        file.unlink()

    def parts() -> Iterator[bytes]:
        try:
            with whole:
                yield from iter(partial(whole.read, 2**16), b"")
        finally:
            file.unlink(missing_ok=True)

    return parts()


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def _file(data: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="mdvec-{name}"'}
    return Response(data, headers=headers, media_type=media_type)
