"""The analytics tools and resources, which return few rows, statistics and handles, never bulk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import anyio
from anyio.lowlevel import RunVar
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.prompts import Prompt
from mcp_types import ToolAnnotations
from mdvec.settings import MAX_EXPORT_ROWS
from mdvec.sql import (
    MAX_ERROR_BYTES,
    MAX_SQL_CHARACTERS,
    Analytics,
    AnswerGuard,
    JsonAnswer,
    Prepared,
    RequestedData,
    answered_within_guard,
    as_json,
    compared_name,
    described_dataset,
    portable,
    tables_of,
)
from mdvec.tools import Tool
from pydantic import Field, WithJsonSchema

from mdvec_mcp.calls import READ_ONLY, ToolReply, in_thread
from mdvec_mcp.offer import Offer

_MAX_THREADS = 100
"""The threads for queries, most of which only wait for their turn: others must not be blocked."""
_threads: RunVar[anyio.CapacityLimiter] = RunVar("mdvec-analytics-threads")
CREATES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

# Bounds of texts are not in the schemas, which cost tokens in every conversation; errors state
# them.
TEXT = WithJsonSchema({"type": "string"})
Sql = Annotated[
    str,
    Field(min_length=1, max_length=MAX_SQL_CHARACTERS, description="A table or one DuckDB SELECT."),
    TEXT,
]
DateRange = Annotated[
    list[Annotated[str, Field(max_length=40), TEXT]] | None,
    Field(min_length=2, max_length=2, description="First and last day or time, included."),
]
DateColumn = Annotated[
    str | None, Field(max_length=200, description="If several columns hold dates."), TEXT
]
_MIN_OUTPUT_BYTES = 200
_MAX_OUTPUT_BYTES = 10_240
"""The largest ``max_output_size`` of a call, unless the setting is larger."""
_WHAT = (
    "What this one dataset holds: its tables, columns and periods without a query; with one, a few "
    "aggregated rows (SQL over several sources: query)."
)
_TABLES = "data://tables"
_TABLE = "data://tables/{table}{?column,start}"
_JSON = "application/json"
RULES = """\
You plan and interpret; DuckDB and Python compute. You receive only summaries and handles.

Flow: PLAN (question, columns, period) → profile (contents) → histogram or a small GROUP BY in \
query (distribution) → export (rows for Python, by handle) → CODE (safe_load_export, compute, \
plot) → RESULT (at most 1 KB of JSON or 10 rows) → INTERPRET.

Never
- read raw rows into the conversation, page through a table, or print a whole data frame;
- guess column names: call profile or list_handles first;
- pass a path: give Python the handle that export returned, unchanged;
- repeat a query that failed: the error has the nearest names, or says what to write instead.

Which tool
- a table's contents, period and quality → profile
- distribution, typical values, outliers → histogram
- a few aggregated rows of any table → query
- rows for resampling, correlation, plots → export, then Python
- a join or window that several queries need → materialize, then query the new table
- a trend, two periods, anomalies, correlations of any table, a question asked before → query with \
its name and parameters
- a question that will be asked again → query with save_as, with what changes as $parameters
- a picture of a result → query with chart
- existing tables and handles, a column by part of its name, joins → list_handles
- a household's sums, trends and charts → get_monthly_household, get_category_trend

In SQL: one SELECT; aggregate with GROUP BY, date_trunc, quantile_cont, windows; sum(x) FILTER \
(WHERE …) for a column a value. In transactions, amount is in yen, negative for \
money spent: spending is sum(-amount) WHERE kind = 'expense' (refunds subtracted), income \
sum(amount) WHERE kind = 'income'; both leave out transfers, excluded rows and duplicates, as the \
household's tools do. shop is the normalised description (half width, lower case, one kind of \
dash, no branch number); month is the household's month (YYYY-MM), which may start on another \
day than the 1st; for calendar months use date. Find a shop with shop ILIKE '%amazon%' and \
group by shop. description is the bank's original text.

Answer in the user's language: the figures that matter, what they mean, what is uncertain \
(approximate figures are marked), and what to look at next.\
"""


def add_analytics_tools(offer: Offer, analytics: Analytics) -> None:
    """Add export, profile, histogram, materialize and list_handles."""
    _add_profile(offer, analytics)
    _add_histogram(offer, analytics)
    _add_list_handles(offer, analytics)
    _add_export(offer, analytics)
    _add_materialize(offer, analytics)


def _add_export(offer: Offer, analytics: Analytics) -> None:
    @offer.tool(
        description="Export all rows of a query to a file, when Python (pandas, statistics, plots) "
        "needs them and not only an aggregate; returns a handle for "
        "mdvec.analysis.safe_load_export(handle). 全行の書き出し。",
        annotations=CREATES,
    )
    async def export(
        query: Sql,
        format: Literal["parquet", "csv"] = "parquet",  # noqa: A002 - the seed's name
        max_rows: Annotated[
            int | None,
            Field(ge=1, le=MAX_EXPORT_ROWS, description="More rows than this are an error."),
        ] = None,
    ) -> ToolReply:
        work = partial(analytics.exporter.export, query, format, max_rows)
        return await call_within_guard(analytics, work, RequestedData(query))


def _add_profile(offer: Offer, analytics: Analytics) -> None:
    @offer.tool(
        description="Profile a table or query: rows, period, and statistics of each column (min, "
        "max, mean, median, null rate, distinct values). Call it before you write SQL. "
        "列の統計、欠損、データの概要。",
        annotations=READ_ONLY,
    )
    async def profile(
        table_or_query: Sql,
        date_range: DateRange = None,
        columns: Annotated[
            list[str] | None, Field(min_length=1, max_length=200, description="Default: all.")
        ] = None,
        date_column: DateColumn = None,
        exact: Annotated[  # noqa: FBT002 - a tool's arguments have names
            bool, Field(description="Slow, without estimates.")
        ] = False,
    ) -> ToolReply:
        period = _pair(date_range)
        work = partial(
            analytics.summaries.profile, table_or_query, period, date_column, columns, exact=exact
        )
        return await call_within_guard(analytics, work, RequestedData(table_or_query))


def _add_histogram(offer: Offer, analytics: Analytics) -> None:
    @offer.tool(
        description="Histogram: the distribution of one column's values as numbers, in bins, or "
        "its most frequent categories (a picture: query with chart). 分布、ヒストグラム、頻度。",
        annotations=READ_ONLY,
    )
    async def histogram(
        table_or_query: Sql,
        column: Annotated[str, Field(min_length=1, max_length=200), TEXT],
        bins: Annotated[int, Field(ge=1, le=100, description="Maximum number of bins.")] = 20,
        date_range: DateRange = None,
        date_column: DateColumn = None,
    ) -> ToolReply:
        period = _pair(date_range)
        work = partial(
            analytics.summaries.histogram, table_or_query, column, bins, period, date_column
        )
        return await call_within_guard(analytics, work, RequestedData(table_or_query))


def _add_materialize(offer: Offer, analytics: Analytics) -> None:
    @offer.tool(
        description="Materialize a slow query (a join or window over many rows) as a temporary "
        "table, when several further queries need its result. Replaces a materialized table of "
        "the same name. 中間テーブル。",
        annotations=CREATES,
    )
    async def materialize(
        name: Annotated[
            str, Field(min_length=1, max_length=63, description="The table's name in SQL."), TEXT
        ],
        query: Sql,
        ttl_seconds: Annotated[
            int | None, Field(ge=1, le=30 * 86_400, description="Lifetime; default: the setting.")
        ] = None,
    ) -> ToolReply:
        work = partial(analytics.exporter.materialize, name, query, ttl_seconds)
        return await call_within_guard(analytics, work, RequestedData(query))


def _add_list_handles(offer: Offer, analytics: Analytics) -> None:
    @offer.tool(
        description="List the tables that SQL can query, with their columns, materialized tables "
        "and export handles; or describe one table: types, samples, keys, periods, joins. "
        "テーブルと列の一覧。",
        annotations=READ_ONLY,
    )
    async def list_handles(
        table: Annotated[
            str | None,
            Field(min_length=1, max_length=200, description="Describe this table instead."),
            TEXT,
        ] = None,
        match: Annotated[
            str | None,
            Field(min_length=1, max_length=100, description="In a table's or column's name."),
            TEXT,
        ] = None,
        start: Annotated[int, Field(ge=1, le=100_000, description="next of an answer.")] = 1,
    ) -> ToolReply:
        tables = analytics.tables
        looked_up = tables.handles if table is None else partial(tables.describe, table)
        work = partial(looked_up, match, start)
        return await call_within_guard(analytics, work, RequestedData(table), tables.guard)


async def call_within_guard(
    analytics: Analytics,
    work: Callable[[], JsonAnswer],
    request: RequestedData,
    guard: AnswerGuard | None = None,
) -> ToolReply:
    """Answer in a thread, or raise a ToolError; requests with SQL have their own threads."""
    answer = await in_thread(
        partial(answered_within_guard, analytics, work, request, guard),
        limiter=None if request.sql is None else _limiter(),
        max_error_bytes=MAX_ERROR_BYTES,
    )
    return ToolReply(as_json(answer), partial(portable, answer))


def _limiter() -> anyio.CapacityLimiter:
    """The thread limiter of queries, separate so that waiting queries do not block searches."""
    limiter = _threads.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(_MAX_THREADS)
        _threads.set(limiter)
    return limiter


def _pair(pair: list[str] | None) -> tuple[str, str] | None:
    return None if pair is None else (pair[0], pair[1])


def add_dataset_tool(offer: Offer, tool: Tool, database: Path, analytics: Analytics) -> None:
    """Add the tool of one dataset, under its own name and description."""

    async def query_dataset(
        query: Sql | None = None,
        statistics_only: Annotated[  # noqa: FBT002 - a tool's arguments have names
            bool, Field(description="Return a profile of the result instead of rows.")
        ] = False,
        max_output_size: int | None = None,
    ) -> ToolReply:
        limits = analytics.guard
        guard = AnswerGuard(max_output_size or limits.max_bytes, limits.max_rows)

        def work() -> JsonAnswer:
            if query is None:
                return described_dataset(tool, tables_of(database, tool.name), guard)
            if statistics_only:
                return analytics.summaries.profile(
                    query, None, None, None, exact=False, guard=guard
                )
            return analytics.questions.rows(Prepared(query), guard)

        request = RequestedData(query, tool.name)
        return await call_within_guard(analytics, work, request, guard)

    # The schema refuses larger sizes, which would otherwise be silently reduced.
    largest = max(_MAX_OUTPUT_BYTES, analytics.guard.max_bytes)
    bounds = Field(ge=_MIN_OUTPUT_BYTES, le=largest, description="Maximum bytes.")
    query_dataset.__annotations__["max_output_size"] = Annotated[int | None, bounds]
    offer.tool(
        name=tool.name,
        title=tool.title,
        description=f"{_WHAT} {tool.description}",
        annotations=READ_ONLY,
        is_row=True,
    )(query_dataset)


def add_table_resources(offer: Offer, analytics: Analytics) -> None:
    """Add the list of tables, and the columns of each."""

    async def tables() -> str:
        return await _read(analytics, analytics.tables.handles, RequestedData())

    async def table_columns(table: str, column: str = "", start: str = "1") -> str:
        number = int(start) if start.isdecimal() and 0 < int(start) < 10**6 else 1
        describe = partial(analytics.tables.describe, table, column or None, number)
        return await _read(analytics, describe, RequestedData(table))

    async def names(_given: dict[str, str]) -> list[str]:
        return await in_thread(lambda: list(analytics.queries.tables()))

    async def columns(arguments: dict[str, str]) -> list[str]:
        known = await in_thread(analytics.queries.tables)
        there = {compared_name(name): listed for name, listed in known.items()}
        return [column.name for column in there.get(compared_name(arguments.get("table", "")), ())]

    offer.add_resource(_TABLES, "The tables that SQL can query, with columns", _JSON, tables)
    offer.resources.add_template(
        table_columns,
        _TABLE,
        description="A table's columns (those whose names hold `column`): types, samples, keys, "
        "periods, joins",
        mime_type=_JSON,
    )
    offer.completions |= {(_TABLE, "table"): names, (_TABLE, "column"): columns}


async def _read(
    analytics: Analytics, work: Callable[[], JsonAnswer], request: RequestedData
) -> str:
    try:
        reply = await call_within_guard(analytics, work, request, analytics.tables.guard)
    except ToolError as error:
        raise ResourceError(str(error)) from error
    return reply.text


def add_analytics_prompt(offer: Offer) -> None:
    """Add the rules as a prompt that users choose in their client."""

    def analyze_data(question: str = "") -> str:
        return f"{RULES}\n\nThe question: {question}" if question.strip() else RULES

    prompt = Prompt.from_function(
        analyze_data,
        title="データ分析のルール",
        description="Rules for analysing the user's tables without reading bulk data.",
    )
    offer.prompts[prompt.name] = prompt
