"""The tools that import changes, and report each source and the freshness of its index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from mdvec import household, importing, index, sync
from mdvec.database import open_database, snapshot
from mdvec.dates import Month, today
from mdvec.household import Ledger
from mdvec.text import counted, nearest_or_all, on_one_line, quoted, shortened, visible
from mdvec.tools import KINDS, Tool, is_being_imported, offered_name
from pydantic import Field, WithJsonSchema

from mdvec_mcp.calls import READ_ONLY, ToolReply, in_thread, refuse_empty_database
from mdvec_mcp.freshness import AnyContext, FreshnessWatch, follow
from mdvec_mcp.offer import Offer

Values = dict[str, Any]
_MAX_TAGS = 12
_MAX_ENTRIES, _MAX_VALUES = 8, 5
"""How many front matter entries are listed, and how many values of each."""
_TOLD_ELSEWHERE = frozenset({"title", "tags", "tag", "aliases", "alias", "date"})
_REACHED = (
    "{search} reaches every source with texts now (tools=[name]), also one whose own tool is not "
    "in your list yet"
)
_IMPORTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_TEXT = WithJsonSchema({"type": "string"})
_WAIT_SECONDS = 15


def outcome(runs: Sequence[sync.ImportRun]) -> ToolReply:
    """The results of imports, and the progress of running ones."""
    results = [run.end for run in runs if isinstance(run.end, sync.Result)]
    notes = [note for run in runs for note in _notes(run)]
    lines = [line for result in results for line in result.summary]
    text = "\n".join(map(visible, [*lines, *(f"note: {note}" for note in notes)]))
    each = [{"tool": result.tool, **result.counts} for result in results]
    return ToolReply(text, lambda: {**_numbers(results), "tools": each, "notes": notes})


def source_list(freshness: FreshnessWatch) -> ToolReply:
    """The source, freshness and imports of each served tool."""
    sources = sync.list_sources(freshness.database, freshness.rules)
    served = [source for source in sources if freshness.serves(source.tool)]
    if not served:
        refuse_empty_database(freshness.database)
        return ToolReply("no tool is active")
    known = tags_and_values(freshness.database, [active.tool for active in served])
    now = today()
    values = [
        source_values(
            source, *known.get(source.tool.name, ([], {})), _last_import(freshness, source.tool),
            _last_day(freshness.database, source.tool, now),
        )
        for source in served
    ]  # fmt: skip
    reached = [_REACHED.format(search=offered_name("search"))] if freshness.only is None else []
    text = "\n".join([*(source_text(fields, now) for fields in values), *reached])
    return ToolReply(text, lambda: {"sources": values})


def imports_now(freshness: FreshnessWatch) -> list[Values]:
    """The running or last finished imports of the served tools."""
    imports = ((tool.name, _last_import(freshness, tool)) for tool in freshness.served())
    return [{"tool": name, **values} for name, values in imports if values is not None]


def import_in_words(source: sync.Source, latest: Values | None) -> Values | None:
    """A source's running or last import; None if that failed but the index is fresh again."""
    has_failed = latest is not None and latest["state"] not in ("running", "done")
    return None if has_failed and _is_up_to_date(source) else latest


def _is_up_to_date(source: sync.Source) -> bool:
    return source.freshness.is_imported and not (source.freshness.sentence() or source.unfinished)


def source_values(
    source: sync.Source,
    tags: Sequence[str],
    entries: Mapping[str, Sequence[str]],
    latest: Values | None,
    last_day: date | None = None,
) -> Values:
    """A source as data.

    ``tags`` and ``entries`` are the most frequent in its documents, ``latest`` is its running or
    last import, ``last_day`` the day of a household's last transaction.
    """
    tool, fresh = source.tool, source.freshness
    is_running = latest is not None and latest["state"] == "running"
    unfinished = "" if is_running else source.unfinished or ""  # ``latest`` reports the progress
    note = "; ".join(filter(None, (fresh.sentence(), unfinished)))
    return {
        "tool": tool.name,
        "kind": tool.kind,
        "source": str(tool.source),
        "last_import_at": tool.last_import_at,
        "files": fresh.files,
        "added": fresh.added,
        "changed": fresh.changed,
        "deleted": fresh.deleted,
        "emptied": list(fresh.emptied),
        "is_fresh": not is_running and _is_up_to_date(source),
        "note": note,
        "tags": list(tags),
        "front_matter": {name: list(entries[name]) for name in [*entries][:_MAX_ENTRIES]},
        "more_front_matter": max(len(entries) - _MAX_ENTRIES, 0),
        "import": import_in_words(source, latest),
        "failed": [
            {"file_path": failure.file_path, "reason": failure.reason} for failure in source.failed
        ],
        "unread": list(source.unread),
        "statements_end": None if last_day is None else last_day.isoformat(),
    }


def source_text(values: Values, today: date) -> str:
    """A source in words; texts from documents are quoted."""
    at, files, failed = values["last_import_at"], values["files"], values["failed"]
    when = f"last import {at}" if at else "no import has finished yet"
    is_running = values["import"] is not None and values["import"]["state"] == "running"
    state = "an import is running" if is_running else "the index is up to date"
    fine = f"{counted(files, 'file')}, {state}"
    fine = fine if files or at else "it has no files yet"
    lines = [
        f"{values['tool']} ({values['kind']}) reads {quoted(values['source'])}; {when}; "
        f"{values['note'] or fine}"
    ]
    if values["statements_end"] is not None:
        lines.append(_statements_end(date.fromisoformat(values["statements_end"]), today))
    if values["tags"]:
        lines.append(f"frequent tags: {', '.join(map(quoted, values['tags']))}")
    if values["front_matter"]:
        entries = [
            f"{quoted(name)} ({', '.join(map(quoted, frequent))})" if frequent else quoted(name)
            for name, frequent in values["front_matter"].items()
        ]
        more = f" and {values['more_front_matter']} more" if values["more_front_matter"] else ""
        lines.append(f"front matter: {', '.join(entries)}{more}")
    if values["import"] is not None:
        lines.append(f"import {values['import']['state']}: {values['import']['text']}")
    of_reason: dict[str, list[str]] = {}
    for failure in failed[: importing.MAX_LISTED]:
        of_reason.setdefault(failure["reason"], []).append(quoted(failure["file_path"]))
    lines += values["unread"]
    lines += [f"failed: {', '.join(paths)}: {reason}" for reason, paths in of_reason.items()]
    if len(failed) > importing.MAX_LISTED:
        lines.append(f"failed: {len(failed) - importing.MAX_LISTED} more")
    return "\n  ".join(map(on_one_line, lines))


def _last_day(database: Path, tool: Tool, today: date) -> date | None:
    """The day of a household's last transaction."""
    if not KINDS[tool.kind].has_ledger:
        return None

    with open_database(database, "read") as connection:
        return household.last_day(Ledger(connection, tool.id, today))


def _statements_end(last: date, today: date) -> str:
    months = Month.of(today).since(Month.of(last))
    return f"statements end {last}" + (f", {months} months ago" if months > 1 else "")


def _numbers(results: Sequence[sync.Result]) -> Values:
    return {name: round(sum(each.counts[name] for each in results), 3) for name in sync.COUNTS}


def _notes(run: sync.ImportRun) -> Sequence[str]:
    if run.end is None:
        return [f"{run.how_far()}; it goes on in the background, and list_sources tells how far"]
    return run.end.notes if isinstance(run.end, sync.Result) else [f"{run.tool}: {run.end.text}"]


def _last_import(freshness: FreshnessWatch, tool: Tool) -> Values | None:
    """The tool's running import, in this server or elsewhere, or the last that ended here."""
    run = freshness.imports.running(tool.name)
    if run is not None:
        files = (0, 0) if run.progress is None else (run.progress.files_done, run.progress.files)
        return _running(f"{run.how_far()} ({run.seconds:.0f} s). {run.notice}".rstrip(), *files)
    if is_being_imported(freshness.database, tool):
        done, files_found = tool.import_done or 0, tool.import_files or 0
        so_far = f"{done:,} of {counted(files_found, 'file')}"
        with open_database(freshness.database, "read") as connection:
            rebuilt = index.documents.staged_documents(tool.tables_in(connection))
        if rebuilt is not None:  # the counts are those of an earlier import
            done, files_found = 0, 0
            so_far = f"{counted(rebuilt, 'document')} built again so far"
        return _running(f"by another process: {so_far}", done, files_found)
    last = freshness.imports.last(tool.name)
    if last is None or last.end is None:
        return None
    if isinstance(last.end, sync.Result):
        return {"state": "done", "text": "; ".join(last.end.summary)}
    state = "stopped" if isinstance(last.end, sync.Stopped) else "failed"
    return {"state": state, "text": last.end.text}


def _running(text: str, done: int, files: int) -> Values:
    return {"state": "running", "text": text, "files_done": done, "files": files}


def tags_and_values(
    database: Path, tools: Sequence[Tool]
) -> dict[str, tuple[list[str], dict[str, list[str]]]]:
    """The most frequent tags, and front matter entries with values, of each imported tool."""
    with open_database(database, "read") as connection, snapshot(connection):
        return {
            tool.name: (
                [count.tag for count in index.tag_counts(tool.tables_in(connection), _MAX_TAGS)],
                _frequent_values(index.value_counts(tool.tables_in(connection))),
            )
            for tool in tools
            if tool.generation
        }


def _frequent_values(counts: Mapping[str, Counter[str]]) -> dict[str, list[str]]:
    """The entries, most frequent first; the first ones have the values that documents share."""
    frequent = sorted(index.short_enough(counts), key=lambda name: -counts[name].total())
    named = [name for name in frequent if name.casefold() not in _TOLD_ELSEWHERE]
    values: dict[str, list[str]] = {name: [] for name in named}
    for name in named[:_MAX_ENTRIES]:
        most = Counter(
            {value: counts[name][value] for value in index.short_enough(counts[name])}
        ).most_common(_MAX_VALUES)
        if most and most[0][1] > 1:
            values[name] = [value for value, _ in most]
    return values


# The answers import heavy modules, so the calls import them only when needed.


def add_upkeep_tools(offer: Offer, freshness: FreshnessWatch) -> None:
    """Add reindex and list_sources."""

    @offer.tool(
        description="Import what changed in the sources (files, statements, data), so that all "
        "tools answer from it: refresh, update, sync. 取り込み直す、更新する。",
        annotations=_IMPORTS,
    )
    async def reindex(
        ctx: AnyContext,
        tool: Annotated[
            str | None, Field(max_length=100, description="Default all."), _TEXT
        ] = None,
        wait: Annotated[
            int,
            Field(ge=0, le=120, description="Seconds; then it goes on in the background."),
        ] = _WAIT_SECONDS,
    ) -> ToolReply:
        tools = await in_thread(lambda: _chosen_tools(freshness, tool))
        runs = [freshness.start_import(target) for target in tools]
        try:
            await follow(runs, ctx, lambda _, waited: waited >= wait)
            for run in runs:
                run.want(is_automatic=True)  # a run that is not done continues
        finally:
            for run in runs:
                run.give_up()
        reply = outcome(runs)
        if all(run.has_failed for run in runs):
            raise ToolError(reply.text.replace("note: ", ""))
        return reply

    @offer.tool(
        description="List the sources: what each tool reads, its tags, how fresh or up to date its "
        "index is, until when statements reach, imports that run, and files that failed and why. "
        "情報源、取り込みの状態。",
        annotations=READ_ONLY,
    )
    async def list_sources() -> ToolReply:
        return await in_thread(lambda: source_list(freshness))


def _chosen_tools(freshness: FreshnessWatch, name: str | None) -> Sequence[Tool]:
    """The served tool of that name, or all served tools.

    Raises:
        ToolError: there is no such active tool; the message names the existing ones.
        DatabaseEmptied: there are no tools at all.
    """
    tools = freshness.served()
    chosen = [tool for tool in tools if name in (None, tool.name)]
    if not chosen:
        refuse_empty_database(freshness.database)
        if not tools:
            raise ToolError("no tool is active; enable one with: mdvec tool enable -n NAME")
        instead = nearest_or_all(name or "", [tool.name for tool in tools])
        raise ToolError(f"there is no active tool {shortened(name or '')!r}; {instead}")
    return chosen
