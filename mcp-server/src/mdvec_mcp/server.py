"""Builds the MCP server with the families of tools that the database's rows need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec import __version__
from mdvec.embedding.cards import CARDS
from mdvec.manage.registering import list_tools
from mdvec.settings import Settings
from mdvec.tools.kinds import KINDS
from mdvec.tools.names import OWN, own_name
from mdvec.tools.rows import Tool

from mdvec_mcp.protocol import MdvecServer
from mdvec_mcp.search import tools as search_tools
from mdvec_mcp.search.model_pool import ModelPool

if TYPE_CHECKING:
    from mdvec_mcp.analytics.service import Analytics

# A family's modules are imported when a row enables it: a server of notes alone starts sooner.

_NO_TOOLS = (
    "mdvec searches the user's own documents, but no tool is active in {database}. "
    'The user can add one in a terminal: mdvec tool add -n NAME -d "what it contains" '
    "-s FOLDER, then mdvec import -n NAME; or enable one: mdvec tool enable -n NAME. "
    "Then restart this server."
)


@dataclass(frozen=True)
class Wiring:
    """What the families' tools need; each service is built when first used."""

    server: MdvecServer
    database: Path
    models: ModelPool
    settings: Settings

    @cached_property
    def search(self) -> search_tools.SearchContext:
        """The context of the search tools."""
        return search_tools.SearchContext(self.database, self.models, self.settings.search)

    @cached_property
    def analytics(self) -> Analytics:
        """The analytics service; it starts and stops with the server."""
        from mdvec.analysis.exports import ExportFolder

        from mdvec_mcp.analytics.data import current_data
        from mdvec_mcp.analytics.process.messages import Limits
        from mdvec_mcp.analytics.process.query_process import QueryProcess
        from mdvec_mcp.analytics.reaper import Reaper
        from mdvec_mcp.analytics.service import Analytics

        folder, limits = self.settings.analytics_folder, self.settings.analytics
        exports = ExportFolder(folder, limits.export_ttl_seconds, limits.max_total_bytes)
        queries = QueryProcess(
            folder,
            Limits(limits.max_seconds, limits.max_memory_mb, limits.max_export_bytes),
            lambda: current_data(self.database),
        )
        analytics = Analytics(queries, exports, limits)
        reaper = Reaper(exports, queries)
        self.server.on_start(queries.warm)
        self.server.on_start(reaper.start)
        self.server.on_close(reaper.close)
        self.server.on_close(queries.close)
        return analytics


@dataclass(frozen=True, slots=True)
class Family:
    """Tools that the server offers when the database has a row of certain kinds.

    Attributes:
        add: adds the tools that the family's rows share.
        instructions: returns the instructions for the model; ``{names}`` in them stands for the
            rows that enable the family.
        add_row: adds a row's own tool; None gives the row a search tool.
        is_listed_first: whether its tools are listed before those of the rows.
    """

    add: Callable[[Wiring], None]
    instructions: Callable[[], str]
    add_row: Callable[[Wiring, Tool], None] | None = None
    is_listed_first: bool = False


def build_server(
    database: Path, tools: Sequence[Tool], models: ModelPool, settings: Settings
) -> MdvecServer:
    """A server that offers ``tools``; no process is started and no model loaded yet."""
    server = MdvecServer(
        "mdvec",
        version=__version__,
        instructions=_instructions(tools, database),
        row_names={tool.name for tool in tools},
    )
    wiring = Wiring(server, database, models, settings)
    families = [family for key, family in FAMILIES.items() if _rows_of(key, tools)]
    for family in families:
        if family.is_listed_first:
            family.add(wiring)
    for tool in tools:
        _add_row(wiring, tool)
    search_tools.add_search_across(server, wiring.search)
    search_tools.add_get_document(server, wiring.search)
    for family in families:
        if not family.is_listed_first:
            family.add(wiring)
    light = sorted({str(tool.model) for tool in tools if _is_light(tool.model)})
    if light:
        server.on_listed(lambda: models.load_early(light))
        server.on_listed(_load_dictionary)
    return server


def _load_dictionary() -> None:
    from mdvec.text.morphemes import morphemes

    morphemes("辞書")


def _is_light(model: str | None) -> bool:
    return model in CARDS and CARDS[model].is_light


def _add_row(wiring: Wiring, tool: Tool) -> None:
    """Add a row's own tool: its family's, or a search tool."""
    family = FAMILIES.get(KINDS[tool.kind].family or "")
    if family is not None and family.add_row is not None:
        family.add_row(wiring, tool)
    else:
        search_tools.add_search_tool(wiring.server, tool, wiring.search)


def _rows_of(key: str, tools: Sequence[Tool]) -> list[Tool]:
    """The rows that enable a family: those of its kinds; for analytics, all that have tables."""
    return [
        tool
        for tool in tools
        if key == KINDS[tool.kind].family or (key == _ANALYTICS and KINDS[tool.kind].has_tables)
    ]


def _instructions(tools: Sequence[Tool], database: Path) -> str:
    if not tools:
        return _NO_TOOLS.format(database=database.name)
    searched = [tool for tool in tools if KINDS[tool.kind].has_texts]
    parts = [(search_tools.INSTRUCTIONS, searched)]
    for key, family in FAMILIES.items():
        rows = _rows_of(key, tools)
        parts.append((family.instructions() if rows else "", rows))
    told = [text.format(names=", ".join(row.name for row in rows)) for text, rows in parts if rows]
    return " ".join([*told, *_renamed({tool.name for tool in tools})])


def _renamed(row_names: set[str]) -> list[str]:
    """A sentence for each of the server's own tools whose name a row has."""
    return [
        f"The server's own tool {name} is called {own_name(name, row_names)} here, because "
        "a collection has its name."
        for name in sorted(OWN & row_names)
    ]


def _household_instructions() -> str:
    from mdvec_mcp.household.tools import INSTRUCTIONS

    return INSTRUCTIONS


def _add_household(wiring: Wiring) -> None:
    from mdvec_mcp.charts.server import ChartServer
    from mdvec_mcp.household.context import HouseholdContext
    from mdvec_mcp.household.pictures import ChartPublisher
    from mdvec_mcp.household.resources import add_household_resources
    from mdvec_mcp.household.review_tools import add_review_tools
    from mdvec_mcp.household.tools import add_household_tools

    server, settings = wiring.server, wiring.settings

    def active_households() -> list[Tool]:
        return _rows_of(_HOUSEHOLD, list_tools(wiring.database, active_only=True))

    context = HouseholdContext(wiring.database, active_households)
    charts = ChartServer(settings.charts)
    server.on_close(charts.close)
    add_household_tools(server, context, ChartPublisher(settings.charts, charts))
    add_household_resources(server, context)
    add_review_tools(server, context, settings.duplicates.options())


def _analytics_instructions() -> str:
    from mdvec_mcp.analytics.prompt import INSTRUCTIONS

    return INSTRUCTIONS


def _add_analytics(wiring: Wiring) -> None:
    from mdvec_mcp.analytics.prompt import add_analytics_prompt
    from mdvec_mcp.analytics.tools import add_analytics_tools

    add_analytics_tools(wiring.server, wiring.analytics)
    add_analytics_prompt(wiring.server)


def _add_dataset(wiring: Wiring, tool: Tool) -> None:
    from mdvec_mcp.analytics.dataset_tool import add_dataset_tool

    add_dataset_tool(wiring.server, tool, wiring.database, wiring.analytics)


_HOUSEHOLD, _ANALYTICS = "household", "analytics"
FAMILIES = {
    _HOUSEHOLD: Family(_add_household, _household_instructions),
    _ANALYTICS: Family(_add_analytics, _analytics_instructions, _add_dataset, is_listed_first=True),
}
"""By their key in `mdvec.tools.kinds`, in the order of their instructions."""
