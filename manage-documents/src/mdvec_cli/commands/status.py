"""`mdvec status`: the tools of a database and their contents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from mdvec import manage, text

from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    DisplayFormat,
    FormatOption,
    VerboseOption,
    chosen_format,
    complete_tool_names,
    settings_from,
)
from mdvec_cli.commands.output import print_facts, print_json, print_line, print_table, say

if TYPE_CHECKING:
    from mdvec.manage import ToolStatus
    from mdvec.tools import KindStatus

_PAGE = 50


def status_command(
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            "-n",
            help="Show this tool in detail.",
            show_default=False,
            autocompletion=complete_tool_names,
        ),
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help=f"List all documents, not only the first {_PAGE}.")
    ] = False,
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Show an overview of all tools, or one tool with its documents and vectors or tables."""
    settings = settings_from(config, database, verbose=verbose)
    as_json = chosen_format(format_, settings) is DisplayFormat.JSON
    if name is None:
        _overview(settings.database_path, as_json=as_json)
        if not as_json and (reranker := settings.reranker()) is not None:
            lack = reranker.missing()
            state = f"{lack}; searches keep their usual order" if lack else "orders first passages"
            print_line(f"reranker: {reranker.name} ({state})")
    else:
        _details(settings.database_path, name, as_json=as_json, show_all=show_all)
        if not as_json:
            rules = settings.scan.rules()
            for sentence in manage.unread.unread_of(settings.database_path, name, rules):
                say(f"note: {sentence}")


def _overview(database: Path, *, as_json: bool) -> None:
    from mdvec.tools import KINDS

    summary = manage.overview(database)
    if as_json:
        print_json(summary)
        return
    for warning in summary.warnings:
        say(f"warning: {warning}")
    print_line(f"database: {summary.database} ({text.file_size(summary.file_size)})")
    if not summary.tools:
        print_line(
            'no tools yet; add one with: mdvec tool add -n NAME -d "what it contains" -s FOLDER'
        )
        return
    # Kinds with the same columns share a table.
    shown: dict[str, KindStatus] = {}
    for kind in KINDS:
        shown.setdefault(manage.kind_status(kind).overview_title, manage.kind_status(kind))
    for title, view in shown.items():
        tools = [
            tool for tool in summary.tools if manage.kind_status(tool.kind).overview_title == title
        ]
        if tools:
            _print_tools(view, tools)
    _print_notes(summary.tools)


def _print_notes(tools: Sequence[ToolStatus]) -> None:
    """What is unfinished, and what indexes vectors outside the file."""
    for tool in tools:
        if tool.unfinished:
            say(f"note: {tool.unfinished}")
        if tool.unsent:
            say(
                f"note: {tool.name}: {tool.unsent:,} vectors were not sent to Chroma yet; the next "
                f"import sends them (mdvec import -n {tool.name} --mode update)"
            )
    if outside := [tool.name for tool in tools if tool.engine == "chroma"]:
        print_line(f"vectors in Chroma: {', '.join(outside)}")


def _print_tools(view: KindStatus, tools: list[ToolStatus]) -> None:
    own = view.overview_columns
    print_table(
        view.overview_title,
        ("name", "active", "kind", *own, "last import"),
        [
            (
                tool.name,
                tool.is_active,
                tool.kind,
                *(getattr(tool, column) for column in own),
                text.local_time(tool.last_import_at),
            )
            for tool in tools
        ],
    )


def _details(database: Path, name: str, *, as_json: bool, show_all: bool) -> None:
    tool = manage.details(database, name)
    if as_json:
        print_json(tool.json_fields())
        return
    if tool.status.unfinished:
        say(f"note: {tool.status.unfinished}")
    print_facts(
        tool.status.name,
        [
            *([("title", tool.title)] if tool.title else []),
            ("description", tool.description),
            ("source", tool.source),
            ("kind", tool.status.kind),
            ("active", tool.status.is_active),
            *tool.contents.import_facts(),
            ("created", text.local_time(tool.created_at)),
            ("last import", text.local_time(tool.status.last_import_at)),
            *tool.contents.content_facts(),
        ],
    )
    listing = tool.contents.listing()
    shown = listing.rows if show_all else listing.rows[:_PAGE]
    print_table(manage.kind_status(tool.status.kind).contents_title, listing.columns, shown)
    if len(shown) < len(listing.rows):
        more = len(listing.rows) - len(shown)
        say(f"… {more} more; to list them: mdvec status -n {name} --all")
