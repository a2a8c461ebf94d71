"""Builds the MCP server with the families of tools that the database needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

from mcp.server.mcpserver.tools import Tool as McpTool
from mdvec import __version__, sql, sync, text
from mdvec.database import KeptReader
from mdvec.embedding import CARDS
from mdvec.manage import list_tools
from mdvec.settings import Settings
from mdvec.tools import KINDS, Tool, own_name

from mdvec_mcp import analytics, charts, household
from mdvec_mcp.freshness import FreshnessWatch, TableSources
from mdvec_mcp.offer import ALWAYS_LOADED, LiveOffer, Offer, instructions
from mdvec_mcp.protocol import MdvecServer
from mdvec_mcp.search import ModelPool
from mdvec_mcp.search import tools as search_tools
from mdvec_mcp.upkeep import add_upkeep_tools

if TYPE_CHECKING:
    from mdvec.charts import ImageFormat, Plot
    from mdvec.settings import ServerSettings
    from mdvec.sql import Analytics

    from mdvec_mcp.charts import ChartServer, Published
    from mdvec_mcp.household import ChartPublisher, HouseholdContext

# A family's modules are imported when a tool needs them, so that a server of notes starts sooner.

_CORE = ("search", "get_document", "query", "list_sources")
"""The server's own tools that ``[server] tools = "core"`` offers."""
_MAX_LOADED_ALWAYS = 3
"""How many users' tools clients load at once, like ``search``; more would cost too many tokens."""


@dataclass(frozen=True)
class Wiring:
    """The services that the families' tools need, each built on first use and kept.

    Attributes:
        folder_tool: the tool of the folder that the server was started for, if any.
        is_alone: whether that tool is the only one served.
        settings_file: the file of the settings, if any.
        templates: the tools built for earlier offers (see ``Offer.templates``).
        early: the models and kinds of tools that were, or are being, loaded early.
        extend: adds the tools of the MCP Apps to a complete offer.
    """

    server: MdvecServer
    database: Path
    models: ModelPool
    settings: Settings
    folder_tool: Tool | None = None
    is_alone: bool = False
    settings_file: Path | None = None
    templates: dict[CodeType, McpTool] = field(default_factory=dict)
    early: set[str] = field(default_factory=set)
    extend: Callable[[Wiring, Offer], None] | None = None

    @cached_property
    def search(self) -> search_tools.SearchContext:
        """The context of the search tools."""
        kept = KeptReader(self.database)
        self.server.on_close.append(kept.close)
        return search_tools.SearchContext(
            self.database, self.models, self.settings.search, self.freshness,
            self.settings.vector_engine, kept,
        )  # fmt: skip

    @cached_property
    def freshness(self) -> FreshnessWatch:
        """The watch that checks the sources and imports them."""
        imports, chosen = sync.Imports(self.settings), self.settings.sync
        self.server.on_close.append(imports.close)
        return FreshnessWatch(
            self.database, self.settings.scan_rules(), chosen.seconds, bool(chosen.auto), imports,
            None if chosen.auto is False or self.folder_tool is None else self.folder_tool.id,
            self.folder_tool.id if self.folder_tool is not None and self.is_alone else None,
        )  # fmt: skip

    @cached_property
    def analytics(self) -> Analytics:
        """The analytics service; it starts and stops with the server."""
        service = sql.analytics_over(
            self.database, self.settings.analytics_folder, self.settings.analytics,
            TableSources(self.freshness), self.settings.household.month_starts_on,
        )  # fmt: skip
        reaper = sql.Reaper(service.exports, service.queries)
        reaper.start()
        self.server.on_close.append(reaper.close)
        self.server.on_close.append(service.queries.close)
        return service

    @cached_property
    def household(self) -> HouseholdContext:
        """The context of the household's tools, with their cache."""

        def active_households() -> list[Tool]:
            return _rows_of(_HOUSEHOLD, list_tools(self.database, active_only=True))

        chosen = self.settings.household
        return household.HouseholdContext(
            self.database, active_households, self.freshness, chosen.month_starts_on,
            self.models.embed_at_once, chosen.language,
        )  # fmt: skip

    @cached_property
    def chart_server(self) -> ChartServer:
        """The server of charts at a local address."""
        server = charts.ChartServer(self.settings.charts)
        self.server.on_close.append(server.close)
        return server

    @cached_property
    def charts(self) -> ChartPublisher:
        """The publisher of the household's charts."""
        return household.ChartPublisher(self.settings.charts, self.chart_server)

    def publish_plot(self, plot: Plot, image_format: ImageFormat | None) -> Published:
        """Draw and serve the chart of a query."""
        return charts.publish(
            plot, self.settings.charts, self.chart_server, image_format=image_format
        )


@dataclass(frozen=True, slots=True)
class ToolFamily:
    """Tools that the server offers if the database has a user's tool of certain kinds.

    ``add`` adds the shared tools to an offer, ``add_row`` the tool of one row; None gives it a
    search tool. If ``is_listed_first``, the shared tools come before those of rows.
    """

    add: Callable[[Wiring, Offer], None]
    add_row: Callable[[Wiring, Offer, Tool], None] | None = None
    is_listed_first: bool = False


def wired_server(
    database: Path,
    tools: Sequence[Tool],
    models: ModelPool,
    settings: Settings,
    folder_tool: Tool | None = None,
    extend: Callable[[Wiring, Offer], None] | None = None,
    *,
    is_alone: bool = False,
    settings_file: Path | None = None,
) -> Wiring:
    """A server that first offers ``tools``, and then follows the database.

    Returns the services that its tools share, which a local page also uses. ``extend`` adds to each
    complete offer. No process is started and no model loaded yet, with one exception: the folder
    that the server was started for (``folder_tool``) is checked now and may be imported. If it
    ``is_alone``, no other tool is offered.
    """
    server = MdvecServer(
        "mdvec", version=__version__, structured=settings.server.structured,
        language=settings.household.language,
    )  # fmt: skip
    wiring = Wiring(
        server, database, models, settings, folder_tool, is_alone, settings_file, extend=extend
    )
    server.follow(LiveOffer(database, tools, lambda rows: _offer(wiring, rows)))
    if folder_tool is not None:
        wiring.freshness.look_at_tool(folder_tool.name)
    return wiring


def _offer(wiring: Wiring, active: Sequence[Tool]) -> Offer:
    """The server's offer for these active tools."""
    rows = [row for row in active if wiring.freshness.serves(row)]
    offer = Offer(frozenset(row.name for row in rows), wiring.templates)
    families = [family for key, family in FAMILIES.items() if _rows_of(key, rows)]
    for family in families:
        if family.is_listed_first:
            family.add(wiring, offer)
    for row in rows:
        _add_row(wiring, offer, row, is_loaded_always=len(rows) <= _MAX_LOADED_ALWAYS)
    search_tools.add_search_across(offer, wiring.search)
    search_tools.add_get_document(offer, wiring.search)
    for family in families:
        if not family.is_listed_first:
            family.add(wiring, offer)
    if rows:
        add_upkeep_tools(offer, wiring.freshness)
    _keep_chosen(offer, wiring.settings.server)
    if wiring.extend is not None and wiring.settings.server.offers_all:
        wiring.extend(wiring, offer)  # the views use all the tools
    offer.instructions = instructions(rows, offer.tools.keys(), wiring.database)
    _load_early(wiring, rows)
    return offer


def _keep_chosen(offer: Offer, chosen: ServerSettings) -> None:
    """Remove the tools that the settings disable."""
    core = {own_name(name, offer.row_names) for name in _CORE} | offer.row_names
    for name, tool in list(offer.tools.items()):
        writes = tool.annotations is None or not tool.annotations.read_only_hint
        needed = ["tools = 'all'"] if chosen.tools == "core" and name not in core else []
        needed += ["read_only = false"] if chosen.read_only and writes else []
        if needed:
            del offer.tools[name]
            offer.left_out[name] = f"; with [server] {' and '.join(needed)} it would"


def _add_row(wiring: Wiring, offer: Offer, row: Tool, *, is_loaded_always: bool) -> None:
    """Add a row's own tool: its family's, or a search tool."""
    family = FAMILIES.get(KINDS[row.kind].family or "")
    if family is not None and family.add_row is not None:
        family.add_row(wiring, offer, row)
    else:
        sums = "query" if wiring.settings.server.tools == "core" else "find_transactions"
        search_tools.add_search_tool(offer, row, wiring.search, own_name(sums, offer.row_names))
    if is_loaded_always:
        tool = offer.tools[row.name]
        offer.tools[row.name] = tool.model_copy(update={"meta": ALWAYS_LOADED | (tool.meta or {})})


def _rows_of(key: str, tools: Sequence[Tool]) -> list[Tool]:
    """The tools that enable a family: those of its kinds; for analytics, all that have tables."""
    return [
        tool
        for tool in tools
        if key == KINDS[tool.kind].family or (key == _ANALYTICS and KINDS[tool.kind].has_tables)
    ]


def _load_early(wiring: Wiring, rows: Sequence[Tool]) -> None:
    """Preload what a client's first calls need, once it has listed the tools.

    These are light models, the dictionary, and the modules that check sources.
    """
    light = {str(row.model) for row in rows if row.model in CARDS and CARDS[row.model].is_light}
    if light := light - wiring.early:
        wiring.early.update(light)
        wiring.server.on_listed.append(lambda: wiring.models.load_early(sorted(light)))
        wiring.server.on_listed.append(_load_dictionary)
    if kinds := {row.kind for row in rows} - wiring.early:
        wiring.early.update(kinds)
        wiring.server.on_listed.append(lambda: sync.load_modules(kinds))


def _load_dictionary() -> None:
    """Load the dictionary, and the modules that only a search needs."""
    from mdvec.search import search  # noqa: F401 - loaded before the first search asks for it

    from mdvec_mcp.search import answers  # noqa: F401

    text.morphemes("辞書")


def _add_household(wiring: Wiring, offer: Offer) -> None:
    household.add_household_tools(offer, wiring.household, wiring.charts)
    household.add_find_tool(offer, wiring.household)
    household.add_household_resources(offer, wiring.household)
    household.add_review_tools(offer, wiring.household, wiring.settings.duplicates.options())


def _add_analytics(wiring: Wiring, offer: Offer) -> None:
    read_only = wiring.settings.server.read_only
    analytics.add_query_tool(offer, wiring.analytics, wiring.publish_plot, read_only=read_only)
    analytics.add_analytics_tools(offer, wiring.analytics)
    analytics.add_table_resources(offer, wiring.analytics)
    if wiring.settings.server.offers_all:
        analytics.add_analytics_prompt(offer)  # its rules apply to all of them


def _add_dataset(wiring: Wiring, offer: Offer, tool: Tool) -> None:
    analytics.add_dataset_tool(offer, tool, wiring.database, wiring.analytics)


_HOUSEHOLD, _ANALYTICS = "household", "analytics"
FAMILIES = {
    _HOUSEHOLD: ToolFamily(_add_household),
    _ANALYTICS: ToolFamily(_add_analytics, _add_dataset, is_listed_first=True),
}
"""The families by their key in `mdvec.tools.kinds`."""
