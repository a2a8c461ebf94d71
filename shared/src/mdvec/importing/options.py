"""Chooses the model and the chunking of an import: as requested, else the tool's own."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from mdvec.embedding import AUTO, ModelCard
from mdvec.errors import MdvecError
from mdvec.section import SettingsSection
from mdvec.text import CUT, ChunkingOptions, InvalidChunking, Strategy
from mdvec.tools import Tool

DEFAULT_STRATEGY: Strategy = "heading"
DEFAULT_HEADING_LEVELS = (1, 2, 3)
DEFAULT_MIN_CHARS = 50


class ImportRefused(MdvecError):
    """The request does not fit the tool; nothing was changed."""


class ChunkingSettings(SettingsSection):
    """``[chunking]``: how documents are split; None stands for the tool's or model's value."""

    strategy: Strategy | None = Field(None, description="'heading' or 'token'")
    size: int | None = Field(None, ge=64, le=4096, description="64 to 4096 tokens")
    overlap: int | None = Field(None, ge=0, le=4095, description="0 to size - 1 tokens")
    heading_levels: tuple[Annotated[int, Field(ge=1, le=6)], ...] | None = Field(
        None, strict=False, min_length=1, description="a list of heading levels, each 1 to 6"
    )
    min_chars: int | None = Field(None, ge=0, le=10_000, description="0 to 10000 characters")


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
    tool: Tool, chosen: ChunkingSettings, card: ModelCard | None, *, rebuild: bool
) -> ChunkingOptions:
    """The chunking options: as requested, else the tool's, else the model's defaults.

    Args:
        tool: the tool; its stored chunking binds unless this is a rebuild.
        chosen: the options that the user set.
        card: the model; needed for a rebuild.
        rebuild: whether every document is chunked again.

    Raises:
        ImportRefused: another chunking was requested without a rebuild, or the tool's own is of
            other rules than this version's.
        InvalidChunking: the options are impossible, or too large for this model.
    """
    requested = chosen.model_dump(exclude_none=True)
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
    if options["size"] > card.max_tokens:
        raise InvalidChunking(
            f"chunks of {options['size']} tokens are too long for the model {card.name!r}, which "
            f"takes {card.max_tokens}; choose a smaller --chunk-size"
        )
    return ChunkingOptions(**options)


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


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
