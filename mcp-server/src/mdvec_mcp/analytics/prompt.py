"""How a model should analyse data: the prompt, and its summary in the server's instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.mcpserver.prompts import Prompt

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

INSTRUCTIONS = (
    "Data tables are for SQL (DuckDB): plan the query, let profile, histogram, materialize and "
    "export compute, and interpret their summaries. Never ask for raw rows to read them yourself: "
    "export returns a handle for Python (mdvec.analysis.safe_load_export), not data. list_handles "
    "names the tables; spending in transactions is sum(-amount) WHERE kind = 'expense'; "
    "look for shops in its column shop (one spelling, lower case), not in description."
)

RULES = """\
You plan and interpret; DuckDB and Python compute. Only summaries and handles come to you.

Flow: PLAN (which question, which columns, which period) → profile (what is there) → histogram or \
a small GROUP BY (how it is spread) → export (rows for Python, by handle) → CODE \
(safe_load_export, compute, plot) → RESULT (at most 1 KB of JSON or 10 rows) → INTERPRET.

Never
- read raw rows into the conversation, page through a table, or print a whole data frame;
- guess columns: profile or list_handles first;
- pass a path: Python takes the handle that export returned, as it is;
- call one and the same query again after an error: its text says what to do instead.

Which tool
- what is in a table, its period, its quality → profile
- how values are spread, typical and odd ones → histogram
- a few aggregated rows of a dataset → the dataset's own tool with a query
- rows for resampling, correlation, plots → export, then Python
- a join or window that is asked again → materialize, then the other tools by its name
- which tables and handles are there → list_handles
- a household's sums, trends and charts → get_monthly_household, get_category_trend

In SQL: one SELECT; aggregate with GROUP BY, date_trunc, quantile_cont, windows; instead of PIVOT \
use sum(x) FILTER (WHERE …). transactions has yen in amount, negative for money out: spending is \
sum(-amount) WHERE kind = 'expense' (refunds taken off), income sum(amount) WHERE kind = 'income'; \
both leave out transfers, excluded rows and duplicates, as the household's tools do. shop is the \
description in one spelling (half width, lower case, one kind of dash, no branch number): \
look for a shop with shop ILIKE '%amazon%' and group by shop; description is what the bank wrote.

Answer the user in their language: the figures that matter, what they mean, what is uncertain \
(approximate figures say so), and what could be looked at next.\
"""


def add_analytics_prompt(server: MCPServer) -> None:
    """Add the rules as a prompt, which users choose in their client."""

    def analyze_data(question: str = "") -> str:
        return f"{RULES}\n\nThe question: {question}" if question.strip() else RULES

    server.add_prompt(
        Prompt.from_function(
            analyze_data,
            title="データ分析のルール",
            description="How to analyse the user's tables without reading bulk data.",
        )
    )
