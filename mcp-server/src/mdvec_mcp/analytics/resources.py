"""The resources of tables, and the prompt that begins an analysis."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.prompts import Prompt
from mdvec.sql import Analytics, JsonAnswer, RequestedData, compared_name

from mdvec_mcp.analytics.tools import call_within_guard
from mdvec_mcp.calls import in_thread

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer


_TABLES = "data://tables"
_TABLE = "data://tables/{table}{?column,start}"
_JSON = "application/json"


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

    async def columns(given: dict[str, str]) -> list[str]:
        known = await in_thread(analytics.queries.tables)
        there = {compared_name(name): listed for name, listed in known.items()}
        return [column.name for column in there.get(compared_name(given.get("table", "")), ())]

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
    guard = analytics.tables.guard
    try:
        reply = await call_within_guard(
            analytics, work, request, guard, runs_sql=request.sql is not None
        )
    except ToolError as error:
        raise ResourceError(str(error)) from error
    return reply.text


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
