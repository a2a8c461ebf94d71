"""Which files an import of a tool takes: what it was imported with, unless something else is asked.

A tool's rules of scanning are its own, as its way of cutting is: a variable that is missing in
another terminal must not drop documents whose files are there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from pathspec import GitIgnoreSpec

from mdvec.files.scan import DATA_ENDINGS, ScanRules
from mdvec.household.report import LEDGER_ENDINGS
from mdvec.importing.report import ImportRequest
from mdvec.tools.rows import Tool


@dataclass(frozen=True, slots=True)
class ScanChoice:
    """The rules that an import takes, those to store for the tool, and what the user is told.

    ``rules`` differ from ``own`` where the tool's kind decides.
    """

    rules: ScanRules
    own: ScanRules
    notice: str | None


def choose_rules(tool: Tool, request: ImportRequest, held: Mapping[str, int]) -> ScanChoice:
    """The tool's own rules; those in force where it has none, or where they are asked for.

    A rebuild takes what is asked for explicitly, ``request.take_scan`` all that is in force. A
    tool of an older format gets what is in force, as far as that keeps all it holds.

    Args:
        tool: the tool, with the rules that are stored for it.
        request: what is in force, and what of it was asked for.
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
    return ScanChoice(rules, own, _notice(tool, rules, _of_kind(tool, in_force)))


def _of_kind(tool: Tool, rules: ScanRules) -> ScanRules:
    if tool.kind == "household":
        return replace(rules, extensions=LEDGER_ENDINGS)
    if tool.kind == "dataset":  # of any size: data files are not read into memory
        return replace(rules, extensions=DATA_ENDINGS, max_bytes=sys.maxsize)
    return rules


def _keeping(in_force: ScanRules, held: Mapping[str, int]) -> ScanRules:
    """The rules in force, widened until they let in all that is held."""
    endings = {os.path.splitext(path)[1].lower() for path in held} - {""}  # noqa: PTH122 - no file is meant
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
        if _differ(getattr(rules, field.name), getattr(in_force, field.name), field.name)
    ]
    if not differing:
        return None
    return (
        f"the tool {tool.name!r} keeps its own [scan] settings ({'; '.join(differing)}); to take "
        f"those in force: mdvec import -n {tool.name} --mode update --take-scan"
    )


def _differ(one: object, other: object, name: str) -> bool:
    """Endings have no order; patterns have."""
    if name == "extensions":
        return set(one) != set(other)  # type: ignore[call-overload,no-any-return]
    return one != other


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return str(value)
