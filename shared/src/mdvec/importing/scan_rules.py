"""Chooses the scan rules of an import: the tool's own, unless others are asked for.

A tool keeps its scan rules, as it keeps its chunking: a variable that is missing in another
terminal must not delete documents whose files are still there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from pathspec import GitIgnoreSpec

from mdvec.files.scan import ScanRules
from mdvec.importing.report import ImportRequest
from mdvec.tools.kinds import KINDS
from mdvec.tools.rows import Tool

_LATER_ENDINGS = (".mdx",)
"""Default endings that tools of older versions were imported without."""


@dataclass(frozen=True, slots=True)
class ScanChoice:
    """The rules that an import scans with, those to store for the tool, and a notice to the user.

    ``rules`` differ from ``own`` where the tool's kind decides which files it takes.
    """

    rules: ScanRules
    own: ScanRules
    notice: str | None


def choose_rules(tool: Tool, request: ImportRequest, held: Mapping[str, int]) -> ScanChoice:
    """The tool's own rules, or those in force where it has none or where they are asked for.

    A rebuild takes the rules that were set explicitly; ``request.take_scan`` takes all in force.
    A tool imported before rules were stored takes those in force, widened to keep all it holds.

    Args:
        tool: the tool, with the rules that are stored for it.
        request: the rules in force, and which of them were set explicitly.
        held: the files whose contents the tool holds, with their sizes in bytes.
    """
    in_force = request.rules
    rebuild = request.mode == "replace" or (request.mode == "new" and not held)
    if request.take_scan:
        own = in_force
    elif tool.scan is None:
        own = in_force if rebuild else _keeping(in_force, held)
    elif rebuild:
        asked = {name: getattr(in_force, name) for name in request.scan_asked}
        own = replace(tool.scan, **asked)
    else:
        own = tool.scan
    rules = _of_kind(tool, own)
    notice = _notice(tool, rules, _of_kind(tool, in_force))
    if "extensions" not in request.scan_asked:
        as_before = _of_kind(tool, _without_later_endings(in_force, own))
        notice = notice if _notice(tool, rules, as_before) else None
    return ScanChoice(rules, own, notice)


def _without_later_endings(in_force: ScanRules, own: ScanRules) -> ScanRules:
    """The rules in force as an older version had them: nobody asked for what it did not know."""
    kept = [
        end for end in in_force.extensions if end not in _LATER_ENDINGS or end in own.extensions
    ]
    return replace(in_force, extensions=tuple(kept))


def _of_kind(tool: Tool, rules: ScanRules) -> ScanRules:
    kind = KINDS[tool.kind]
    if kind.endings is not None:
        rules = replace(rules, extensions=kind.endings)
    return replace(rules, max_bytes=sys.maxsize) if kind.is_streamed else rules


def _keeping(in_force: ScanRules, held: Mapping[str, int]) -> ScanRules:
    """The rules in force, widened to include every file that is held."""
    endings = {os.path.splitext(path)[1].lower() for path in held} - {""}  # noqa: PTH122 - only a name
    return ScanRules(
        extensions=(*in_force.extensions, *sorted(endings - {*in_force.extensions})),
        exclude=tuple(pattern for pattern in in_force.exclude if not _excludes(pattern, held)),
        max_bytes=max(in_force.max_bytes, *held.values(), 0),
    )


def _excludes(pattern: str, held: Mapping[str, int]) -> bool:
    spec = GitIgnoreSpec.from_lines([pattern])
    return any(spec.match_file(path) for path in held)


def _notice(tool: Tool, rules: ScanRules, in_force: ScanRules) -> str | None:
    differing = [
        f"{field.name} = {_shown(getattr(rules, field.name))}, "
        f"not {_shown(getattr(in_force, field.name))}"
        for field in fields(ScanRules)
        if _comparable(rules, field.name) != _comparable(in_force, field.name)
    ]
    if not differing:
        return None
    return (
        f"the tool {tool.name!r} keeps its own [scan] settings ({'; '.join(differing)}); to take "
        f"those in force: mdvec import -n {tool.name} --mode update --take-scan"
    )


def _comparable(rules: ScanRules, name: str) -> object:
    """A rule to compare: the order of patterns matters, that of endings does not."""
    return set(rules.extensions) if name == "extensions" else getattr(rules, name)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value)
