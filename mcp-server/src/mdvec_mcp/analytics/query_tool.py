"""The tool that runs SQL and named questions, returns a few rows or a chart, and saves questions.

A question is a SELECT with ``$parameters`` that was saved under a name, or a ready-made one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ContentBlock, ToolAnnotations
from mdvec.charts import ImageFormat, PlotKind
from mdvec.errors import MdvecError
from mdvec.queries import MAX_QUESTION_DESCRIPTION, SaveMode
from mdvec.sql import (
    MAX_SQL_CHARACTERS,
    Analytics,
    JsonAnswer,
    RequestedData,
    with_warnings,
)
from mdvec.text import visible
from pydantic import Field

from mdvec_mcp.analytics.tools import TEXT, call_within_guard
from mdvec_mcp.calls import READ_ONLY, ToolReply, in_thread
from mdvec_mcp.charts import ChartServer
from mdvec_mcp.offer import Offer

RESOURCE = "data://saved_questions"
_MAX_NAME = 60
_SAVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
_WHAT = (
    "Run an SQL query (DuckDB) on any tables, also households' transactions: sum, average, group "
    "by, join; answers few rows{handle}. Or a question by its name: {saved}, or ready-made: "
    "trend(table, measure, period), compare_periods(table, measure, first, second, by),"
    " anomalies(table, measure, period), correlations(table, columns). chart draws the result: x, "
    "then numbers; histogram: one column; box: name, number; heatmap: x, y, number. "
    "SQL でデータ分析、集計、グラフを描く。"
)

_QUERY = Field(
    min_length=1,
    max_length=MAX_SQL_CHARACTERS,
    description="A SELECT, a table, or a question's name.",
)
Parameters = Annotated[dict[str, Any] | None, Field(description="Values of $name.")]
Title = Annotated[str | None, Field(max_length=100), TEXT]
SaveName = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=_MAX_NAME,
        description="Saves the SELECT as a question instead; values as $since.",
    ),
    TEXT,
]
Description = Annotated[str | None, Field(max_length=MAX_QUESTION_DESCRIPTION), TEXT]
Mode = Annotated[SaveMode | None, Field(description="With save_as.")]


class NotDrawn(MdvecError):
    """A chart could not be drawn; the log has the reason, perhaps in Japanese."""

    def __init__(self) -> None:
        super().__init__(
            "the chart could not be drawn, and the server's log says why; ask without chart for "
            "the rows"
        )


def add_query_tool(
    offer: Offer, analytics: Analytics, charts: ChartServer, *, read_only: bool
) -> None:
    """Add query, which with ``read_only`` saves nothing, and the resource that lists questions."""
    answered = partial(_answer_query, analytics, charts, not read_only)

    async def query(
        query: Annotated[str, _QUERY, TEXT],
        parameters: Parameters = None,
        chart: PlotKind | None = None,
        title: Title = None,
        image_format: ImageFormat | None = None,
    ) -> ToolReply:
        return await answered(query, parameters, chart, title, image_format)

    async def query_or_save(
        query: Annotated[str | None, _QUERY, TEXT] = None,
        parameters: Parameters = None,
        chart: PlotKind | None = None,
        title: Title = None,
        image_format: ImageFormat | None = None,
        save_as: SaveName = None,
        description: Description = None,
        mode: Mode = None,
    ) -> ToolReply:
        if save_as is not None:
            shows = {"parameters": parameters, "chart": chart, "title": title}
            shows["image_format"] = image_format
            return await _save(analytics, save_as, mode, query, description, shows)
        if mode == "delete":
            raise ToolError("query deletes a saved question with save_as=its name and mode=delete")
        _refuse("query saves only with save_as", {"description": description, "mode": mode})
        if query is None:
            raise ToolError("query needs the parameter 'query', or save_as with mode=delete")
        return await answered(query, parameters, chart, title, image_format)

    async def saved_questions() -> str:
        listed = await in_thread(analytics.questions.listed)
        return visible(json.dumps(listed, ensure_ascii=False))

    offer.tool(
        name="query",
        description=_WHAT.format(
            handle="" if read_only else ", and a handle of all (a temporary file)",
            saved="a saved one" if read_only else "saved with save_as",
        ),
        annotations=READ_ONLY if read_only else _SAVES,
    )(query if read_only else query_or_save)
    offer.add_resource(
        RESOURCE, "Saved and ready-made questions for query", "application/json", saved_questions
    )


async def _save(
    analytics: Analytics,
    name: str,
    mode: SaveMode | None,
    query: str | None,
    description: str | None,
    shows: Mapping[str, object],
) -> ToolReply:
    """Save or delete a question; refuse arguments in ``shows``, which only affect running one."""
    if mode == "delete":
        named = {"query": query, "description": description, **shows}
        _refuse("query with mode=delete takes save_as alone", named)
    _refuse("query with save_as only saves, and runs nothing", shows)
    questions = analytics.questions
    save = partial(questions.save, name, query, description, mode or "create")
    return await call_within_guard(analytics, save, RequestedData(query or ""), questions.guard)


def _refuse(why: str, arguments: Mapping[str, object]) -> None:
    """Raise a ToolError that names arguments without effect; empty ones count as omitted."""
    if named := [name for name, value in arguments.items() if value]:
        raise ToolError(f"{why}; leave out: {', '.join(named)}")


async def _answer_query(
    analytics: Analytics,
    charts: ChartServer,
    may_export: bool,  # noqa: FBT001 - bound by name
    query: str,
    parameters: dict[str, Any] | None,
    chart: PlotKind | None,
    title: str | None,
    image_format: ImageFormat | None,
) -> ToolReply:
    """The first rows, or the picture, of a SELECT, a table or a question.

    With ``may_export``, all rows are written to a file if the answer has no room for them.
    """
    if chart is None:
        _refuse("query draws only with chart", {"title": title, "image_format": image_format})
    questions, sql = analytics.questions, query
    if questions.is_name(query):  # looked up in the database
        sql = await in_thread(partial(questions.sql_of, query, parameters))
    blocks: list[ContentBlock] = []

    def work() -> JsonAnswer:
        prepared = questions.prepare(query, parameters)
        if chart is None:
            return questions.answer(prepared, may_export=may_export)
        plot = questions.plot(prepared, chart, title or "")
        drawn = charts.draw(plot, image_format=image_format)
        if drawn.trouble:
            raise NotDrawn
        blocks.extend(drawn.blocks)
        shown: JsonAnswer = {"chart": chart, "shows": plot.in_words(), "points": plot.points}
        if drawn.url:
            shown["url"] = drawn.url
        notes = [note.english for note in plot.notes]
        warnings = analytics.queries.take_warnings()
        return with_warnings(shown, [*notes, *warnings, *prepared.notes])

    reply = await call_within_guard(analytics, work, RequestedData(sql), questions.guard)
    return replace(reply, blocks=tuple(blocks))
