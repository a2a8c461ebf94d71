"""`save_query` and `run_query`, and the resource that lists the questions."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp_types import CallToolResult, ToolAnnotations
from mdvec.queries.saved import MAX_QUESTION_DESCRIPTION
from pydantic import Field

from mdvec_mcp.analytics.requested_data import RequestedData
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.analytics.tools import CREATES, MAX_SQL_CHARS, call_within_guard
from mdvec_mcp.calls import in_thread

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

RESOURCE = "data://saved_questions"
_MAX_NAME = 60
_REPLACES = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
Name = Annotated[str, Field(min_length=1, max_length=_MAX_NAME)]


def add_question_tools(offer: Offer, analytics: Analytics) -> None:
    """Add both tools and the resource."""
    questions = analytics.questions

    async def save_query(
        name: Name,
        sql: Annotated[
            str | None,
            Field(
                max_length=MAX_SQL_CHARS, description="One SELECT; values as $since or $n::INTEGER."
            ),
        ] = None,
        description: Annotated[str | None, Field(max_length=MAX_QUESTION_DESCRIPTION)] = None,
        mode: Literal["create", "replace", "delete"] = "create",
    ) -> CallToolResult:
        work = partial(questions.save, name, sql, description, mode)
        return await call_within_guard(
            analytics, work, RequestedData(sql or ""), questions.answers.guard
        )

    async def run_query(
        name: Name,
        parameters: dict[str, Any] | None = None,
    ) -> CallToolResult:
        asked = RequestedData(await in_thread(partial(questions.sql_of, name, parameters or {})))
        work = partial(questions.run, name, parameters or {})
        return await call_within_guard(analytics, work, asked, questions.answers.guard)

    async def saved_questions() -> str:
        return json.dumps(await in_thread(questions.listed), ensure_ascii=False)

    offer.add_tool(
        save_query,
        description="Save a SELECT as a question for run_query; "
        "its parameters' types are inferred.",
        annotations=_REPLACES,
        structured_output=False,
    )
    offer.add_tool(
        run_query,
        description="Answer a saved question, as query does, or a ready one: trend(table, measure, "
        "period=month), compare_periods(table, measure, first, second, by), anomalies(table, "
        "measure, period=day, window=30, threshold=3.5) by robust z, correlations(table, columns); "
        f"date_column where several hold dates. {RESOURCE} lists all.",
        annotations=CREATES,
        structured_output=False,
    )
    offer.add_resource(
        RESOURCE, "Saved and ready questions of run_query", "application/json", saved_questions
    )
