"""Sentences on what a search could not do as requested, and on why it found little."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.search.candidates import ToolCandidates
from mdvec.search.core.fusion import SearchMode


def without_vectors(pools: Sequence[ToolCandidates], mode: SearchMode) -> list[str]:
    """A note for each tool whose vectors are on a server that could not be used."""
    how = "left out" if mode == "vector" else "searched by words alone"
    return [f"{pool.tool.name} was {how}: {pool.trouble}" for pool in pools if pool.trouble]


def why_fewer(found: int, k: int, searched: int) -> list[str]:
    """A note if there are fewer hits than requested although there are more passages."""
    if found >= min(k, searched):
        return []
    which = "no other passage" if found else "no passage"
    return [f"{which} stands out for this question"]


def not_mentioned(names: Sequence[str]) -> list[str]:
    """A note if the question asks about names that no passage has."""
    quoted = ", ".join(f'"{name}"' for name in names)
    return [f"nothing here mentions {quoted}"] if names else []
