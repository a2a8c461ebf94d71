"""The answers of the upkeep tools, as text and as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdvec.importing.report import MAX_LISTED
from mdvec.manage import registering
from mdvec.sync.imports import End, ImportRun
from mdvec.sync.messages import Result, Stopped
from mdvec.sync.sources import Source
from mdvec.text.one_line import on_one_line
from mdvec.tools.import_lock import is_being_imported
from mdvec.tools.rows import Tool

from mdvec_mcp.freshness import FreshnessWatch

OutcomeValues = dict[str, Any]
Ends = Sequence[tuple[str, "End | None"]]


def outcome_values(ends: Ends) -> OutcomeValues:
    """The sums over all imports that finished, each import's own numbers, and notes."""
    results = [end for _, end in ends if isinstance(end, Result)]
    each = [{"tool": one.tool, **_numbers([one])} for one in results]
    return {**_numbers(results), "tools": each, "notes": _notes(ends)}


def started_values(runs: Sequence[ImportRun]) -> OutcomeValues:
    """The answer when nobody waits for the imports."""
    return {**_numbers([]), "tools": [], "notes": [f"{run.tool} is being imported" for run in runs]}


def outcome_text(ends: Ends) -> str:
    """What the imports did."""
    lines = [line for _, end in ends if isinstance(end, Result) for line in end.summary]
    return "\n".join([*lines, *(f"note: {on_one_line(note)}" for note in _notes(ends))])


def imports_now(freshness: FreshnessWatch) -> list[OutcomeValues]:
    """The imports that run, in this server or elsewhere, and those that ended here last."""
    tools = registering.list_tools(freshness.database, active_only=True)
    found = [_import_now(freshness, tool) for tool in tools]
    return [one for one in found if one is not None]


def source_values(source: Source) -> OutcomeValues:
    """A source and how fresh its index is."""
    fresh = source.freshness
    return {
        "tool": source.tool.name,
        "kind": source.tool.kind,
        "source": str(source.tool.source),
        "last_import_at": source.tool.last_import_at,
        "files": fresh.files,
        "added": fresh.added,
        "changed": fresh.changed,
        "deleted": fresh.deleted,
        "is_fresh": not fresh.sentence() and fresh.is_imported,
        "note": fresh.sentence(),
        "failed": [{"file_path": one.file_path, "reason": one.reason} for one in source.failed],
    }


def source_text(source: Source) -> str:
    """The same in words."""
    tool, fresh = source.tool, source.freshness
    when = f"last import {tool.last_import_at} UTC" if tool.last_import_at else "never imported"
    is_new = fresh.is_empty and not tool.last_import_at
    fine = "it has no files yet" if is_new else f"{fresh.files:,} files, the index is up to date"
    state = fresh.sentence() or fine
    failed = [f"failed: {one.file_path}: {one.reason}" for one in source.failed[:MAX_LISTED]]
    if len(source.failed) > MAX_LISTED:
        failed.append(f"failed: {len(source.failed) - MAX_LISTED} more")
    head = f"{tool.name} ({tool.kind}) reads {tool.source}; {when}; {state}"
    return "\n  ".join(on_one_line(line) for line in (head, *failed))


def _numbers(results: Sequence[Result]) -> OutcomeValues:
    return {
        "added": sum(one.added for one in results),
        "updated": sum(one.updated for one in results),
        "deleted": sum(one.deleted for one in results),
        "unchanged": sum(one.unchanged for one in results),
        "failed": sum(len(one.failed) for one in results),
        "total_chunks": sum(one.chunks for one in results),
        "seconds": round(sum(one.seconds for one in results), 3),
    }


def _notes(ends: Ends) -> list[str]:
    notes: list[str] = []
    for tool, end in ends:
        if isinstance(end, Result):
            notes += end.notes
        elif end is not None:
            notes.append(f"{tool}: {end.text}")
    return notes


def _import_now(freshness: FreshnessWatch, tool: Tool) -> OutcomeValues | None:
    run = freshness.imports.running(tool.name)
    if run is not None:
        done, files = (0, 0) if run.progress is None else (
            run.progress.files_done, run.progress.files,
        )  # fmt: skip
        text = f"{run.how_far()} ({run.seconds:.0f} s). {run.notice}".rstrip(" ")
        return _running(tool, done, files, text)
    if is_being_imported(freshness.database, tool):
        done, files = tool.import_done or 0, tool.import_files or 0
        text = f"{tool.name} is being imported by another process: {done:,} of {files:,} files"
        return _running(tool, done, files, text)
    last = freshness.imports.last(tool.name)
    if last is None or last.end is None:
        return None
    if isinstance(last.end, Result):
        return _state(tool, "done", "\n".join(last.end.summary))
    state = "stopped" if isinstance(last.end, Stopped) else "failed"
    return _state(tool, state, f"{tool.name}: {last.end.text}")


def _running(tool: Tool, done: int, files: int, text: str) -> OutcomeValues:
    return {**_state(tool, "running", text), "files_done": done, "files": files}


def _state(tool: Tool, state: str, text: str) -> OutcomeValues:
    return {"tool": tool.name, "state": state, "text": text}
