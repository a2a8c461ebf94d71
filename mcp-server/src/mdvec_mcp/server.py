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
from mdvec_mcp.freshness import FreshnessWatch
from mdvec_mcp.instructions import instructions
from mdvec_mcp.live_offer import LiveOffer
from mdvec_mcp.offer import ALWAYS_LOADED, Offer
from mdvec_mcp.protocol import MdvecServer
from mdvec_mcp.search import ModelPool
from mdvec_mcp.search import tools as search_tools
from mdvec_mcp.upkeep import add_upkeep_tools

if TYPE_CHECKING:
    from mdvec.settings import ServerSettings
    from mdvec.sql import Analytics

    from mdvec_mcp.charts import ChartServer
    from mdvec_mcp.household import HouseholdContext

# A family's modules are imported when a tool needs them, so that a server of notes starts sooner.

_CORE = ("search", "get_document", "query", "list_sources")
"""The server's own tools that ``[server] tools = "core"`` offers."""
_MAX_LOADED_ALWAYS = 3
"""How many users' tools clients load at once, like ``search``; more would cost too many tokens."""


@dataclass(frozen=True)
class Wiring:
    """The services that the families' tools need, each built on first use and kept.

    Attributes:
        folder_tool: the tool of the folder that the server was started for, if any; no other tool
            is served if it ``is_alone``.
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
        reader = KeptReader(self.database)
        self.server.on_close.append(reader.close)
        return search_tools.SearchContext(
            self.database, self.models, self.settings.search, self.freshness,
            self.settings.vector_engine, reader,
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
            self.freshness.check_tables, self.settings.household.month_starts_on,
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
            tools = list_tools(self.database, active_only=True)
            return [tool for tool in tools if KINDS[tool.kind].has_ledger]

        chosen = self.settings.household
        return household.HouseholdContext(
            self.database, active_households, self.freshness, chosen.month_starts_on,
            self.models.embed_at_once, chosen.language,
        )  # fmt: skip

    @cached_property
    def charts(self) -> ChartServer:
        """The server of charts at a local address."""
        server = charts.ChartServer(self.settings.charts)
        self.server.on_close.append(server.close)
        return server


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

    Returns the services that its tools share, which a local page also uses. No process is started
    and no model loaded yet, except that ``folder_tool`` is checked now and may be imported.
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
        wiring.freshness.check_tool(folder_tool.name)
    return wiring


def _offer(wiring: Wiring, active: Sequence[Tool]) -> Offer:
    """The server's offer for these active tools."""
    rows = [row for row in active if wiring.freshness.serves(row)]
    offer = Offer(frozenset(row.name for row in rows), wiring.templates)
    kinds = [KINDS[row.kind] for row in rows]
    if any(kind.has_tables for kind in kinds):
        _add_analytics(wiring, offer)
    for row in rows:
        _add_row(wiring, offer, row, is_loaded_always=len(rows) <= _MAX_LOADED_ALWAYS)
    search_tools.add_search_across(offer, wiring.search)
    search_tools.add_get_document(offer, wiring.search)
    if any(kind.has_ledger for kind in kinds):
        _add_household(wiring, offer)
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
    """Add a row's own tool, which searches its texts or queries its tables."""
    if KINDS[row.kind].has_texts:
        sums = "query" if wiring.settings.server.tools == "core" else "find_transactions"
        search_tools.add_search_tool(offer, row, wiring.search, own_name(sums, offer.row_names))
    else:
        analytics.add_dataset_tool(offer, row, wiring.database, wiring.analytics)
    if is_loaded_always:
        tool = offer.tools[row.name]
        offer.tools[row.name] = tool.model_copy(update={"meta": ALWAYS_LOADED | (tool.meta or {})})


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
    analytics.add_query_tool(offer, wiring.analytics, wiring.charts, read_only=read_only)
    analytics.add_analytics_tools(offer, wiring.analytics)
    analytics.add_table_resources(offer, wiring.analytics)
    if wiring.settings.server.offers_all:
        analytics.add_analytics_prompt(offer)  # its rules apply to all of them
