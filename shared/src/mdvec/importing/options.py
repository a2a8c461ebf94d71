"""Chooses the model, the chunking and the scan rules of an import: the tool's, or as requested.

A tool keeps its own: a variable missing in another terminal must not delete documents whose files
still exist.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from mdvec.converters import NEW_TOOL_ENDINGS, OPTIONAL_ENDINGS
from mdvec.embedding import AUTO, ModelCard
from mdvec.errors import MdvecError
from mdvec.files import FileState, ScanRules
from mdvec.section import SettingsSection, bounded
from mdvec.text import CUT, ChunkingOptions, InvalidChunking, Strategy
from mdvec.tools import KINDS

if TYPE_CHECKING:
    from mdvec.importing.job import ImportRequest
    from mdvec.tools import Tool

DEFAULT_STRATEGY: Strategy = "heading"
DEFAULT_HEADING_LEVELS = (1, 2, 3)
DEFAULT_MIN_CHARS = 50
_LATER_ENDINGS = (".mdx", *NEW_TOOL_ENDINGS)
"""Default endings that are newer than some tools."""


class ImportRefused(MdvecError):
    """The request does not fit the tool; nothing was changed."""


class ChunkingSettings(SettingsSection):
    """``[chunking]``: how documents are split; None means the tool's or the model's value."""

    strategy: Strategy | None = None
    size: int | None = bounded(None, 64, 4096, "tokens")
    overlap: int | None = Field(None, ge=0, le=4095, description="0 to size - 1 tokens")
    heading_levels: tuple[Annotated[int, Field(ge=1, le=6)], ...] | None = Field(
        None, strict=False, min_length=1, description="a list of heading levels, each 1 to 6"
    )
    min_chars: int | None = bounded(None, 0, 10_000, "characters")


def model_to_load(
    tool: Tool, requested_model: str | None, usual_model: str | None = None, *, rebuild: bool
) -> str | None:
    """The name of the model to load; None chooses one.

    A tool keeps its model; only a rebuild may change it. ``usual_model`` is that of the settings,
    which an update leaves alone.

    Raises:
        ImportRefused: another model was requested without a rebuild.
    """
    if tool.model is None or rebuild:
        requested_model = requested_model or usual_model
    if tool.model is None:
        return None if requested_model == AUTO else requested_model
    if requested_model in (None, tool.model) or (requested_model == AUTO and not rebuild):
        return tool.model
    if not rebuild:
        raise ImportRefused(
            f"the tool {tool.name!r} was imported with the model {tool.model!r}; "
            f"to change it to {requested_model!r}, build it again with --mode replace; to keep it: "
            f"--model {tool.model}"
        )
    return None if requested_model == AUTO else requested_model


def resolve_chunking(
    tool: Tool,
    chosen: ChunkingSettings,
    card: ModelCard | None,
    *,
    rebuild: bool,
    rebuilt_by: str | None = None,
) -> ChunkingOptions:
    """The chunking options: as requested, else the tool's, else the model's defaults.

    The stored chunking is binding unless this is a rebuild, which needs the model's ``card``. For
    texts that are not split, such as a household's, the request is ignored: it is meant for notes.
    ``rebuilt_by`` is the command that builds the tool as requested.

    Raises:
        ImportRefused: another chunking was requested without a rebuild, or the tool's chunking
            follows other rules than this version's.
        InvalidChunking: the options are impossible, or too large for this model.
    """
    requested = chosen.model_dump(exclude_none=True) if KINDS[tool.kind].has_passages else {}
    stored = {} if tool.chunking is None else asdict(tool.chunking)
    how = rebuilt_by or tool.rebuilt_by
    if stored and not rebuild:
        if stored["cut"] != CUT:
            raise ImportRefused(
                f"the documents of {tool.name!r} were cut by other rules than this version's; "
                f"build it again with: {how}"
            )
        for name, value in requested.items():
            if value != stored[name]:
                raise ImportRefused(
                    f"the tool {tool.name!r} was chunked with {name} = {_quote(stored[name])}; "
                    f"to change it to {_quote(value)}, build it again with: {how}; to keep it, "
                    f"name no other in the command, nor as [chunking] {name} in the settings"
                )
        return ChunkingOptions(**stored)
    if card is None:
        raise ImportRefused(f"the tool {tool.name!r} has no model yet")
    if stored and tool.model != card.name:
        del stored["size"], stored["overlap"]  # they count another model's tokens
    stored.pop("cut", None)  # a rebuild uses this version's
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


def _quote(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, slots=True)
class ScanChoice:
    """The rules that an import scans with, those to store for the tool, and notices to the user.

    ``rules`` differ from ``own`` if the tool's kind determines which files it reads.
    """

    rules: ScanRules
    own: ScanRules
    notices: tuple[str, ...]


def rules_in_force(tool: Tool, current: ScanRules) -> ScanRules:
    """The rules that an update of the tool uses: its own, or else those of the settings."""
    return _of_kind(tool, tool.scan or current)


def choose_rules(
    tool: Tool, request: ImportRequest, stored_states: Mapping[str, FileState]
) -> ScanChoice:
    """The tool's own rules; a first import and ``request.take_scan`` take the current settings.

    What was stated for the tool itself stays in any case.
    """
    scan = tool.scan or request.rules
    if request.take_scan:
        scan = _taking_exclude(scan, request.rules)
    current = _with_stated(scan, request.rules)
    takes = request.take_scan or (request.mode == "new" and not stored_states)
    own = current if takes else scan
    rules = _of_kind(tool, own)
    about_exclude = _about_exclude(tool, own, request)
    if takes:
        return ScanChoice(rules, own, about_exclude)
    notice = _notice(tool, rules, _of_kind(tool, current))
    # A newer default ending is no change by the user; on its own it is not reported.
    if "extensions" not in request.scan_explicit:
        earlier_defaults = _of_kind(tool, _without_later_endings(current, own))
        notice = notice if _notice(tool, rules, earlier_defaults) else None
    return ScanChoice(rules, own, (*about_exclude, *([notice] if notice else ())))


def _taking_exclude(scan: ScanRules, current: ScanRules) -> ScanRules:
    """A tool's rules where the settings' exclude is to be taken, unless it has a stated one.

    If it is not known whether the tool's was stated, both count; "!" would show what it excludes.
    """
    if not scan.exclude:
        return replace(scan, has_own_exclude=False)
    if scan.has_own_exclude is not None:
        return scan
    shutting = [each for each in current.exclude if not each.startswith("!")]
    exclude = tuple(dict.fromkeys((*scan.exclude, *shutting)))
    return replace(scan, exclude=exclude, has_own_exclude=exclude != current.exclude)


def _with_stated(scan: ScanRules, current: ScanRules) -> ScanRules:
    """The current settings, with the rules that were stated for the tool itself."""
    return replace(
        scan,
        extensions=tuple(dict.fromkeys((*current.extensions, *scan.formats))),
        exclude=current.exclude if scan.has_own_exclude is False else scan.exclude,
        max_bytes=current.max_bytes,
    )


def _about_exclude(tool: Tool, own: ScanRules, request: ImportRequest) -> tuple[str, ...]:
    """That the tool has its own exclude: if [scan] has another, or was to be taken."""
    current = request.rules.exclude
    is_stated = bool(own.has_own_exclude) and not request.take_scan
    is_met = set(current) <= set(own.exclude) if is_stated else set(current) == set(own.exclude)
    if own.has_own_exclude is False or is_met:
        return ()
    how = f"mdvec tool update -n {tool.name} --exclude …"
    if request.take_scan and tool.scan is not None and tool.scan.has_own_exclude is None:
        return (
            f"the tool {tool.name!r} now excludes {_joined(own.exclude)}: what it did before, and "
            f"what [scan] does, {_joined(current)}; to change it: {how}",
        )
    return (
        f"the tool {tool.name!r} keeps its own exclude {_joined(own.exclude)}, not that of [scan], "
        f"{_joined(current)}; to change it: {how}",
    )


def _without_later_endings(current: ScanRules, own: ScanRules) -> ScanRules:
    """The current rules without the later default endings that the tool's own lack."""
    extensions = [
        end for end in current.extensions if end not in _LATER_ENDINGS or end in own.extensions
    ]
    return replace(current, extensions=tuple(extensions))


def _of_kind(tool: Tool, rules: ScanRules) -> ScanRules:
    kind = KINDS[tool.kind]
    if kind.endings is not None:
        rules = replace(rules, extensions=kind.endings)
    return replace(rules, max_bytes=sys.maxsize) if kind.is_streamed else rules


def _notice(tool: Tool, rules: ScanRules, current: ScanRules) -> str | None:
    differing = [
        f"{field.name} = {_joined(getattr(rules, field.name))}, "
        f"not {_joined(getattr(current, field.name))}"
        for field in fields(ScanRules)
        if _comparable(rules, field.name) != _comparable(current, field.name)
        and not (field.name == "extensions" and _only_adds_formats(rules, current))
    ]
    if not differing:
        return None
    return (
        f"the tool {tool.name!r} keeps its own [scan] settings ({'; '.join(differing)}); to use "
        f"the current ones: mdvec import -n {tool.name} --mode update --take-scan"
    )


def _only_adds_formats(rules: ScanRules, current: ScanRules) -> bool:
    """Whether a tool reads what the settings say and additional formats."""
    added = set(rules.extensions) - set(current.extensions)
    return set(current.extensions) <= set(rules.extensions) and added <= OPTIONAL_ENDINGS


def _comparable(rules: ScanRules, name: str) -> object:
    """A rule in a comparable form: the order of patterns matters, the order of endings does not."""
    return set(rules.extensions) if name == "extensions" else getattr(rules, name)


def _joined(value: object) -> str:
    return f"[{', '.join(value)}]" if isinstance(value, tuple) else str(value)
