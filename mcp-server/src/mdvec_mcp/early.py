"""Loads what a client's first calls need, once it has listed the tools."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from mdvec.embedding.cards import CARDS
from mdvec.tools.rows import Tool

if TYPE_CHECKING:
    from mdvec_mcp.server import Wiring


def load_early(wiring: Wiring, tools: Sequence[Tool]) -> None:
    """Load the rows' light models, the dictionary, and the modules of looks at their sources."""
    light = sorted({str(tool.model) for tool in tools if _is_light(tool.model)} - wiring.early)
    if light:
        wiring.early.update(light)
        wiring.server.on_listed(lambda: wiring.models.load_early(light))
        wiring.server.on_listed(_load_dictionary)
    kinds = {tool.kind for tool in tools} - wiring.early
    if kinds:
        wiring.early.update(kinds)
        wiring.server.on_listed(lambda: _load_looks(kinds))


def _load_looks(kinds: Set[str]) -> None:
    """Load what looks at the sources of tools of these kinds need."""
    from mdvec.sync.freshness import load_modules

    load_modules(kinds)


def _load_dictionary() -> None:
    """Load the dictionary, and the modules that only a search needs."""
    import mdvec.manage.searching  # noqa: F401 - loaded before the first search asks for it
    from mdvec.text.morphemes import morphemes

    import mdvec_mcp.search.answers  # noqa: F401

    morphemes("辞書")


def _is_light(model: str | None) -> bool:
    return model in CARDS and CARDS[model].is_light
