"""Chooses the model and the chunking of an import: as requested, else the tool's own."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from mdvec.embedding import AUTO, ModelCard
from mdvec.errors import MdvecError
from mdvec.text import CUT, ChunkingOptions, InvalidChunking, Strategy
from mdvec.tools import Tool

DEFAULT_STRATEGY: Strategy = "heading"
DEFAULT_HEADING_LEVELS = (1, 2, 3)
DEFAULT_MIN_CHARS = 50


class ImportRefused(MdvecError):
    """The request does not fit the tool; nothing was changed."""


@dataclass(frozen=True, slots=True)
class ChunkingOverrides:
    """The chunking options that the user set; None stands for those not set."""

    strategy: Strategy | None = None
    size: int | None = None
    overlap: int | None = None
    heading_levels: tuple[int, ...] | None = None
    min_chars: int | None = None


def model_to_load(tool: Tool, requested_model: str | None, *, rebuild: bool) -> str | None:
    """The name of the model to load; None chooses one.

    A tool keeps its model; only a rebuild may change it.

    Raises:
        ImportRefused: another model was requested without a rebuild.
    """
    if tool.model is None:
        return None if requested_model == AUTO else requested_model
    if requested_model in (None, tool.model) or (requested_model == AUTO and not rebuild):
        return tool.model
    if not rebuild:
        raise ImportRefused(
            f"the tool {tool.name!r} was imported with the model {tool.model!r}; "
            f"to change it to {requested_model!r}, build it again with --mode replace"
        )
    return None if requested_model == AUTO else requested_model


def resolve_chunking(
    tool: Tool, overrides: ChunkingOverrides, card: ModelCard | None, *, rebuild: bool
) -> ChunkingOptions:
    """The chunking options: as requested, else the tool's, else the model's defaults.

    Args:
        tool: the tool; its stored chunking binds unless this is a rebuild.
        overrides: the options that the user set.
        card: the model; needed for a rebuild.
        rebuild: whether every document is chunked again.

    Raises:
        ImportRefused: another chunking was requested without a rebuild, or the tool's own is of
            other rules than this version's.
        InvalidChunking: the options are impossible, or too large for this model.
    """
    requested = {name: value for name, value in _fields_of(overrides).items() if value is not None}
    stored = {} if tool.chunking is None else asdict(tool.chunking)
    if stored and not rebuild:
        if stored["cut"] != CUT:
            raise ImportRefused(
                f"the documents of {tool.name!r} were cut by other rules than this version's; "
                f"build it again with: mdvec import -n {tool.name} --mode replace"
            )
        for name, value in requested.items():
            if value != stored[name]:
                raise ImportRefused(
                    f"the tool {tool.name!r} was chunked with {name} = {_shown(stored[name])}; "
                    f"to change it to {_shown(value)}, build it again with --mode replace"
                )
        return ChunkingOptions(**stored)
    if card is None:
        raise ImportRefused(f"the tool {tool.name!r} has no model yet")
    if stored and tool.model != card.name:
        del stored["size"], stored["overlap"]  # counted in another model's tokens
    stored.pop("cut", None)  # a rebuild takes this version's
    options = {**_defaults(card, {**stored, **requested}), **stored, **requested}
    return _check_size(ChunkingOptions(**options), card)


def _defaults(card: ModelCard, chosen: dict[str, Any]) -> dict[str, Any]:
    size = chosen.get("size", card.default_size)
    overlap = card.default_overlap
    return {
        "strategy": DEFAULT_STRATEGY,
        "size": card.default_size,
        "overlap": overlap if size >= card.default_size else min(overlap, size // 8),
        "heading_levels": DEFAULT_HEADING_LEVELS,
        "min_chars": DEFAULT_MIN_CHARS,
    }


def _check_size(options: ChunkingOptions, card: ModelCard) -> ChunkingOptions:
    if options.size > card.max_tokens:
        raise InvalidChunking(
            f"chunks of {options.size} tokens are too long for the model {card.name!r}, which "
            f"takes {card.max_tokens}; choose a smaller --chunk-size"
        )
    return options


def _fields_of(overrides: ChunkingOverrides) -> dict[str, Any]:
    return {field.name: getattr(overrides, field.name) for field in fields(overrides)}


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
