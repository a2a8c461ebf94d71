"""`mdvec status`, `backup`, `restore`, `compact` and `doctor`: the database as a whole."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from mdvec import manage, settings, text
from mdvec.japanese import in_japanese
from mdvec.text import on_one_line

from mdvec_cli.commands.terminal import (
    STOPPED,
    FormatOption,
    GivenPath,
    SettingsOptions,
    in_own_language,
    is_japanese,
    name_option,
    print_facts,
    print_json,
    print_line,
    print_sentence,
    print_table,
    say,
    wants_json,
    with_settings_options,
)

if TYPE_CHECKING:
    from mdvec.manage import ToolStatus
    from mdvec.tools import KindStatus

_PAGE = 50


@with_settings_options
def status_command(
    options: SettingsOptions,
    name: Annotated[str | None, name_option("Show this tool in detail.")] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help=f"List all documents, not only the first {_PAGE}.")
    ] = False,
    format_: FormatOption = None,
) -> None:
    """Show an overview of all tools, or one tool with its documents and vectors or tables."""
    settings = options.settings()
    as_json = wants_json(format_, settings)
    if name is None:
        _overview(settings.database_path, as_json=as_json)
        if not as_json and (reranker := settings.reranker()) is not None:
            lack = reranker.missing()
            state = f"{lack}; searches keep their usual order" if lack else "orders first passages"
            print_sentence(f"reranker: {reranker.name} ({state})")
    else:
        _details(settings.database_path, name, as_json=as_json, show_all=show_all)
        if not as_json:
            for sentence in manage.source_notes(settings, name):
                say(f"note: {sentence}")


def _overview(database: Path, *, as_json: bool) -> None:
    from mdvec.tools import KINDS

    summary = manage.overview(database)
    if as_json:
        print_json(summary)
        return
    for warning in summary.warnings:
        say(f"warning: {warning}")
    print_sentence(f"database: {summary.database} ({text.file_size(summary.file_size)})")
    if not summary.tools:
        print_sentence(
            'no tools yet; add one with: mdvec tool add -n NAME -d "what it contains" -s FOLDER'
        )
        return
    # Kinds with the same columns share a table.
    for view in dict.fromkeys(map(manage.kind_status, KINDS)):
        if tools := [tool for tool in summary.tools if manage.kind_status(tool.kind) == view]:
            _print_tools(view, tools)
    _print_notes(summary.tools)


def _print_notes(tools: Sequence[ToolStatus]) -> None:
    """Print notes on unfinished imports, unsent vectors, and vectors outside the database."""
    for tool in tools:
        if tool.unfinished:
            say(f"note: {tool.unfinished}")
        if tool.unsent:
            say(
                f"note: {tool.name}: {tool.unsent:,} vectors were not sent to Chroma yet; the next "
                f"import sends them (mdvec import -n {tool.name} --mode update)"
            )
    if outside := [tool.name for tool in tools if tool.engine == "chroma"]:
        print_sentence(f"vectors in Chroma: {', '.join(outside)}")


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
    details = manage.details(database, name)
    if as_json:
        print_json(details.json_fields())
        return
    if details.status.unfinished:
        say(f"note: {details.status.unfinished}")
    for failure in details.failed:
        say(f"failed: {text.shown_name(failure.file_path)}: {failure.reason}")
    tool = details.tool
    print_facts(
        tool.name,
        [
            *([("title", tool.title)] if tool.title else []),
            ("description", tool.description),
            ("source", tool.source),
            ("kind", tool.kind),
            ("active", tool.is_active),
            *_own_language(details.contents.import_facts()),
            ("created", text.local_time(tool.created_at)),
            ("last import", text.local_time(tool.last_import_at)),
            *_own_language(details.contents.content_facts()),
        ],
    )
    listing = details.contents.listing()
    shown = listing.rows if show_all else listing.rows[:_PAGE]
    print_table(manage.kind_status(tool.kind).contents_title, listing.columns, shown)
    if len(shown) < len(listing.rows):
        more = len(listing.rows) - len(shown)
        say(f"… {more} more; to list them: mdvec status -n {name} --all")


def _own_language(facts: list[tuple[str, object]]) -> list[tuple[str, object]]:
    """Facts whose values are sentences of this program, translated to the user's language."""
    return [
        (name, in_own_language(value) if isinstance(value, str) else value) for name, value in facts
    ]


@with_settings_options
def backup_command(
    options: SettingsOptions,
    file: Annotated[GivenPath, typer.Argument(help="The file to write, such as mdvec-backup.zip.")],
    format_: FormatOption = None,
) -> None:
    """Write the database and the settings into one file: all that you decided is in it."""
    loaded = options.load()
    with _copying("backing up") as on_copied:
        made = manage.back_up(loaded.settings.database_path, loaded.file, file, on_copied)
    if wants_json(format_, loaded.settings):
        print_json(made)
        return
    tools = ", ".join(made.tools) or "-"
    print_sentence(f"backed up into {made.file} ({text.file_size(made.size)}): {tools}")
    if made.settings is None:
        say("there is no settings file; only the database is in it")


@with_settings_options
def restore_command(
    options: SettingsOptions,
    file: Annotated[GivenPath, typer.Argument(help="A file that mdvec backup wrote.")],
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Replace a database that has tools already.")
    ] = False,
    format_: FormatOption = None,
) -> None:
    """Give the database and the settings the content of a backup; what was there is kept."""
    loaded = options.load()
    path, target = loaded.settings.database_path, loaded.file or settings.users_file()
    with _copying("restoring") as on_copied:
        done = manage.restore(file, path, target, replaces=yes, on_notice=say, on_copied=on_copied)
    if done.settings is not None:
        now = SettingsOptions(config=done.settings).settings().database_path
        if now != path:
            say(f"{done.settings} names another database, {now}; change it there, or keep that one")
    for group in manage.GROUPS:
        for finding in group.check(loaded) if group.name == "copies" else ():
            if finding.command is not None:
                say(finding.sentence)
                say(f"have the files read again with: {finding.command}")
    if wants_json(format_, loaded.settings):
        print_json(done)
        return
    print_sentence(f"{done.database} has these tools now: {', '.join(done.tools) or '-'}")
    if done.settings is not None:
        print_sentence(f"{done.settings} has the settings of the backup")


@contextmanager
def _copying(action: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar of bytes on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich import console, progress

    columns = (
        progress.TextColumn("{task.description}"), progress.BarColumn(), progress.DownloadColumn(),
    )  # fmt: skip
    stderr = console.Console(stderr=True)
    with progress.Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task(action, total=None)
        yield lambda copied, size: bar.update(task, completed=copied, total=size)


@with_settings_options
def compact_command(options: SettingsOptions, format_: FormatOption = None) -> None:
    """Rewrite the database file without deleted data, and free that disk space."""
    settings = options.settings()
    try:
        done = manage.compact(settings.database_path, on_notice=say)
    except KeyboardInterrupt as error:
        say("stopped; the database is unchanged, and mdvec compact can be repeated")
        raise typer.Exit(STOPPED) from error
    if wants_json(format_, settings):
        print_json(done)
    else:
        print_sentence(
            f"{done.database}: {done.bytes_given_back:,} bytes freed "
            f"({text.file_size(done.size_before)} before, {text.file_size(done.size_after)} now)"
        )
    if not done.is_complete:
        say(
            "a running search still uses the old data; repeat mdvec compact when it has ended, to "
            "free the rest"
        )


@with_settings_options
def doctor_command(
    options: SettingsOptions,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Fix what can be fixed without a loss: rebuild search indexes from stored "
            "vectors, drop what killed imports left, make the database private.",
        ),
    ] = False,
    format_: FormatOption = None,
) -> None:
    """Check everything mdvec needs, and say what fixes it; the exit code is 1 on trouble."""
    loaded = options.load()
    examination = manage.examine(loaded, fix=fix)
    if wants_json(format_, loaded.settings):
        print_json(examination.json_fields())
    else:
        translate = in_japanese if is_japanese() else str
        for finding in examination.findings:
            sentence = on_one_line(translate(finding.sentence))
            print_line(f"{finding.level:<7}  {finding.check}: {sentence}")
            if finding.command is not None:
                print_line(f"         → {translate(finding.command)}")
        for finding in examination.fixed:
            say(f"fixed: {on_one_line(finding.done)}")
    if examination.has_trouble:
        raise typer.Exit(1)
