"""Chooses the scan rules of an import: the tool's own, unless others are requested.

A tool keeps its scan rules, as it keeps its chunking: a variable that is missing in another
terminal must not delete documents whose files are still there.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from mdvec.converters import NEW_TOOL_ENDINGS, OPTIONAL_ENDINGS
from mdvec.files import FileState, ScanRules
from mdvec.importing.report import ImportRequest
from mdvec.tools import KINDS, Tool

_LATER_ENDINGS = (".mdx", *NEW_TOOL_ENDINGS)
"""Default endings that some tools were imported without, before they were defaults."""


@dataclass(frozen=True, slots=True)
class ScanChoice:
    """The rules that an import scans with, those to store for the tool, and a notice to the user.

    ``rules`` differ from ``own`` if the tool's kind decides which files it reads.
    """

    rules: ScanRules
    own: ScanRules
    notice: str | None


def rules_in_force(tool: Tool, current: ScanRules) -> ScanRules:
    """The rules of an update of the tool: its own, or those of the settings if it has none."""
    return _of_kind(tool, tool.scan or current)


def choose_rules(
    tool: Tool, request: ImportRequest, stored_states: Mapping[str, FileState]
) -> ScanChoice:
    """The tool's own rules, or the current settings if it has none or they are requested.

    A rebuild takes the settings that were set explicitly, ``request.take_scan`` all of them.

    Args:
        tool: the tool, with the rules that are stored for it.
        request: the current settings, and which of them were set explicitly.
        stored_states: the files whose contents are stored, with their states when imported.
    """
    current = request.rules
    rebuild = request.mode == "replace" or (request.mode == "new" and not stored_states)
    if request.take_scan:
        own = replace(current, include=tool.scan.include if tool.scan else ())
    elif tool.scan is None:
        own = current
    elif rebuild:
        explicit = {name: getattr(current, name) for name in request.scan_explicit}
        own = replace(tool.scan, **explicit)
    else:
        own = tool.scan
    rules = _of_kind(tool, own)
    notice = _notice(tool, rules, _of_kind(tool, current))
    # A default ending that came later is not a change that the user made: alone it is not reported.
    if "extensions" not in request.scan_explicit:
        earlier_defaults = _of_kind(tool, _without_later_endings(current, own))
        notice = notice if _notice(tool, rules, earlier_defaults) else None
    return ScanChoice(rules, own, notice)


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
        f"{field.name} = {_shown(getattr(rules, field.name))}, "
        f"not {_shown(getattr(current, field.name))}"
        for field in fields(ScanRules)
        if field.name != "include"  # not a setting: each tool has its own
        and _comparable(rules, field.name) != _comparable(current, field.name)
        and not (field.name == "extensions" and _only_adds_formats(rules, current))
    ]
    if not differing:
        return None
    return (
        f"the tool {tool.name!r} keeps its own [scan] settings ({'; '.join(differing)}); to use "
        f"the current ones: mdvec import -n {tool.name} --mode update --take-scan"
    )


def _only_adds_formats(rules: ScanRules, current: ScanRules) -> bool:
    """Whether a tool reads what the settings say, and formats that were asked for beside it."""
    added = set(rules.extensions) - set(current.extensions)
    return set(current.extensions) <= set(rules.extensions) and added <= OPTIONAL_ENDINGS


def _comparable(rules: ScanRules, name: str) -> object:
    """A rule in a comparable form: the order of endings does not matter, that of patterns does."""
    return set(rules.extensions) if name == "extensions" else getattr(rules, name)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value)
