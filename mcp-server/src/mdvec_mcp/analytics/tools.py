"""The six analytics tools: they return few rows, handles, statistics and bins, never bulk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from anyio.lowlevel import RunVar
from mcp_types import CallToolResult, ToolAnnotations
from mdvec.settings import MAX_EXPORT_ROWS
from pydantic import Field

from mdvec_mcp.analytics import schema as models
from mdvec_mcp.analytics.core.guard import AnswerGuard, JsonAnswer, as_json, portable
from mdvec_mcp.analytics.guarded import MAX_ERROR_BYTES, guarded
from mdvec_mcp.analytics.requested_data import RequestedData
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.calls import READ_ONLY, in_thread, text_result

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

MAX_SQL_CHARS = 20_000
_MAX_THREADS = 8
_threads: RunVar[anyio.CapacityLimiter] = RunVar("mdvec-analytics-threads")
CREATES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

Sql = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_SQL_CHARS,
        description="A table or one DuckDB SELECT.",
    ),
]
DateRange = Annotated[
    list[Annotated[str, Field(max_length=40)]] | None,
    Field(
        min_length=2,
        max_length=2,
        description="First and last day or time (2025-06-30), both included.",
    ),
]
DateColumn = Annotated[
    str | None,
    Field(
        max_length=200,
        description="For date_range; needed if several columns hold dates.",
    ),
]


def add_analytics_tools(offer: Offer, analytics: Analytics) -> None:
    """Add query, export, profile, histogram, materialize and list_handles."""
    _add_query(offer, analytics)
    _add_export(offer, analytics)
    _add_profile(offer, analytics)
    _add_histogram(offer, analytics)
    _add_materialize(offer, analytics)
    _add_list_handles(offer, analytics)


def _add_query(offer: Offer, analytics: Analytics) -> None:
    async def query(query: Sql) -> CallToolResult:
        answers = analytics.small_answers
        return await call_within_guard(
            analytics, partial(answers.answer, query), RequestedData(query), answers.guard
        )

    offer.add_tool(
        query,
        description="Return the first rows of a query over any tables (see list_handles) and "
        "total_rows; if there are more rows, also the handle of an export of all.",
        annotations=CREATES,
        structured_output=False,
    )


def _add_export(offer: Offer, analytics: Analytics) -> None:
    async def export(
        query: Sql,
        format: Literal["parquet", "csv"] = "parquet",  # noqa: A002 - the seed's name
        max_rows: Annotated[
            int | None,
            Field(
                ge=1,
                le=MAX_EXPORT_ROWS,
                description="More rows than this are an error.",
            ),
        ] = None,
    ) -> Annotated[CallToolResult, models.ExportModel]:
        return await call_within_guard(
            analytics,
            partial(analytics.exporter.export, query, format, max_rows),
            RequestedData(query),
        )

    offer.add_tool(
        export,
        description="Write all rows of a query to a file for Python and return its handle; load it "
        "with mdvec.analysis.safe_load_export(handle).",
        annotations=CREATES,
        structured_output=True,
    )


def _add_profile(offer: Offer, analytics: Analytics) -> None:
    async def profile(
        table_or_query: Sql,
        date_range: DateRange = None,
        columns: Annotated[
            list[str] | None,
            Field(min_length=1, max_length=200, description="Default: all."),
        ] = None,
        date_column: DateColumn = None,
        exact: Annotated[  # noqa: FBT002 - a tool's arguments have names
            bool, Field(description="Estimate nothing, even if that is slow.")
        ] = False,
    ) -> Annotated[CallToolResult, models.ProfileModel]:
        period = _pair(date_range)
        return await call_within_guard(
            analytics,
            partial(
                analytics.summaries.profile,
                table_or_query,
                period,
                date_column,
                columns,
                exact=exact,
            ),
            RequestedData(table_or_query),
        )

    offer.add_tool(
        profile,
        description="Return the row count and period of a table or query, and statistics of each "
        "column. Call this before you write a query.",
        annotations=READ_ONLY,
        structured_output=True,
    )


def _add_histogram(offer: Offer, analytics: Analytics) -> None:
    async def histogram(
        table_or_query: Sql,
        column: Annotated[str, Field(min_length=1, max_length=200)],
        bins: Annotated[int, Field(ge=1, le=100, description="Maximum number of bins.")] = 20,
        date_range: DateRange = None,
        date_column: DateColumn = None,
    ) -> Annotated[CallToolResult, models.HistogramModel]:
        period = _pair(date_range)
        return await call_within_guard(
            analytics,
            partial(
                analytics.summaries.histogram, table_or_query, column, bins, period, date_column
            ),
            RequestedData(table_or_query),
        )

    offer.add_tool(
        histogram,
        description="Return the distribution of one column: bins of numbers or dates, or the most "
        "frequent categories.",
        annotations=READ_ONLY,
        structured_output=True,
    )


def _add_materialize(offer: Offer, analytics: Analytics) -> None:
    async def materialize(
        name: Annotated[
            str, Field(min_length=1, max_length=63, description="The table's name in SQL.")
        ],
        query: Sql,
        ttl_seconds: Annotated[
            int | None, Field(ge=1, le=30 * 86_400, description="Lifetime; default: the setting.")
        ] = None,
    ) -> Annotated[CallToolResult, models.MaterializeModel]:
        return await call_within_guard(
            analytics,
            partial(analytics.materialized.materialize, name, query, ttl_seconds),
            RequestedData(query),
        )

    offer.add_tool(
        materialize,
        description="Store a query's result as a temporary table for later queries. Replaces a "
        "materialized table of the same name.",
        annotations=CREATES,
        structured_output=True,
    )


def _add_list_handles(offer: Offer, analytics: Analytics) -> None:
    async def list_handles(
        table: Annotated[
            str | None,
            Field(min_length=1, max_length=200, description="Describe this table instead."),
        ] = None,
        match: Annotated[
            str | None,
            Field(min_length=1, max_length=100, description="In a table's or column's name."),
        ] = None,
        start: Annotated[int, Field(ge=1, le=100_000, description="next of an answer.")] = 1,
    ) -> CallToolResult:
        guard = analytics.listing.guard
        if table is None:
            work = partial(analytics.listing.handles, match, start)
            return await call_within_guard(analytics, work, RequestedData(), guard, runs_sql=False)
        describe = partial(analytics.descriptions.describe, table, match, start)
        return await call_within_guard(analytics, describe, RequestedData(table), guard)

    offer.add_tool(
        list_handles,
        description="List the tables that SQL can query, with columns, and the materialized "
        "tables and export handles; or a table's columns with types, samples, keys, periods, and "
        "joins that fit.",
        annotations=READ_ONLY,
        structured_output=False,
    )


async def call_within_guard(
    analytics: Analytics,
    work: Callable[[], JsonAnswer],
    asked: RequestedData,
    guard: AnswerGuard | None = None,
    *,
    runs_sql: bool = True,
) -> CallToolResult:
    """Run ``guarded`` in a thread; work that ``runs_sql`` waits while many other queries run.

    Raises:
        ToolError: the work raised an MdvecError; the text is for the model.
    """
    limiter = _limiter() if runs_sql else None
    answer = await in_thread(
        partial(guarded, analytics, work, asked, guard),
        limiter=limiter,
        max_error_bytes=MAX_ERROR_BYTES,
    )
    return text_result(as_json(answer), portable(answer))


def _limiter() -> anyio.CapacityLimiter:
    """A limit apart from anyio's, so that queries in the queue do not block searches."""
    try:
        return _threads.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(_MAX_THREADS)
        _threads.set(limiter)
        return limiter


def _pair(given: list[str] | None) -> tuple[str, str] | None:
    return None if given is None else (given[0], given[1])
