"""`mdvec import`: bring a tool's folder or data files into the database."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from mdvec.text.one_line import on_one_line

from mdvec_cli.commands.completion import complete_tool_names
from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    DisplayFormat,
    FormatOption,
    VerboseOption,
    chosen_format,
    settings_from,
)
from mdvec_cli.commands.output import STOPPED, print_json, print_line, say

if TYPE_CHECKING:
    from mdvec.importing.report import ImportReport, ImportRequest, Progress


class ImportMode(StrEnum):
    """What an import does with the tool's current contents."""

    NEW = "new"
    REPLACE = "replace"
    UPDATE = "update"


class ChunkStrategy(StrEnum):
    """How documents are split into chunks."""

    HEADING = "heading"
    TOKEN = "token"  # noqa: S105 - a unit of text


class _NameMissing(typer.BadParameter):
    """Neither ``--name`` nor ``--all`` was given; reported like any missing option."""

    def __init__(self) -> None:
        super().__init__("Missing option '--name' / '-n'")

    def format_message(self) -> str:
        """The message alone, without "Invalid value"."""
        return self.message


def import_command(
    name: Annotated[
        str | None,
        typer.Option("--name", "-n", help="The tool's name.", show_default=False,
                     autocompletion=complete_tool_names),
    ] = None,
    import_all: Annotated[
        bool,
        typer.Option("--all", help="Import every active tool, one after the other; one that fails "
                                   "does not stop the others."),
    ] = False,
    mode: Annotated[
        ImportMode,
        typer.Option(
            "--mode", "-m",
            help="new: fill an empty tool (with --all: update); update: import changes; "
                 "replace: rebuild everything.",
        ),
    ] = ImportMode.NEW,
    checksum: Annotated[
        bool,
        typer.Option("--checksum",
                     help="Compare files by their content, not by size and time."),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", help="The embedding model: auto, plamo, use, e5-small.",
                     show_default=False),
    ] = None,
    chunk_strategy: Annotated[
        ChunkStrategy | None,
        typer.Option("--chunk-strategy", help="Split at headings, or by tokens only.",
                     show_default=False),
    ] = None,
    chunk_size: Annotated[
        int | None,
        typer.Option("--chunk-size", help="The maximum chunk size in tokens.", show_default=False),
    ] = None,
    chunk_overlap: Annotated[
        int | None,
        typer.Option("--chunk-overlap", help="The overlap of neighbouring chunks in tokens.",
                     show_default=False),
    ] = None,
    take_scan: Annotated[
        bool,
        typer.Option("--take-scan",
                     help="Replace the tool's scan rules by the current [scan] settings."),
    ] = False,
    accept_removals: Annotated[
        bool,
        typer.Option("--accept-removals",
                     help="Household: leave out the rows whose removal the last import "
                          "reported as pending."),
    ] = False,
    restore_removed: Annotated[
        list[int] | None,
        typer.Option("--restore-removed", metavar="ID",
                     help="Household: count a removed row again, permanently; repeatable.",
                     show_default=False),
    ] = None,
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:  # fmt: skip
    """Import a tool's source: find changed files, split them into chunks, embed and store them.

    A dataset's tables are only recorded: their columns, rows and periods.
    """
    from mdvec.household.options import RemovalOptions
    from mdvec.manage.import_request import import_request

    if name is None and not import_all:
        raise _NameMissing
    if name is not None and import_all:
        raise typer.BadParameter("name one tool, or import all", param_hint="--name / --all")
    if import_all and mode is ImportMode.NEW:
        mode = ImportMode.UPDATE
    settings = settings_from(
        config,
        database,
        verbose=verbose,
        model={"name": model},
        chunking={"strategy": chunk_strategy and chunk_strategy.value, "size": chunk_size,
                  "overlap": chunk_overlap},
    )  # fmt: skip
    removals = RemovalOptions(accept_removals, tuple(restore_removed or ()))

    def request(tool: str) -> ImportRequest:
        return import_request(
            settings, tool, mode.value, model=model, removals=removals, take_scan=take_scan,
            checksum=checksum,
        )  # fmt: skip

    as_json = chosen_format(format_, settings) is DisplayFormat.JSON
    if name is None:
        _import_all(settings.database_path, request, quiet=verbose, as_json=as_json)
        return
    report = _import_one(request(name), quiet=verbose)
    if as_json:
        print_json(report.json_fields())
    else:
        _print_report(report)


def _import_one(request: ImportRequest, *, quiet: bool) -> ImportReport:
    from mdvec.importing.report import ImportInterrupted
    from mdvec.manage.import_request import loading_and_telling
    from mdvec.manage.import_tool import import_tool

    try:
        with _progress(request.tool, quiet=quiet) as (on_progress, tell):
            return import_tool(
                request,
                loading_and_telling(tell),
                on_progress=on_progress,
                on_notice=tell,
            )
    except ImportInterrupted as error:
        say(str(error))
        raise typer.Exit(STOPPED) from error


def _import_all(
    database: Path, request: Callable[[str], ImportRequest], *, quiet: bool, as_json: bool
) -> None:
    """Import every active tool; exit code 1 if one could not be."""
    from mdvec.errors import MdvecError
    from mdvec.manage.registering import list_tools

    done: list[dict[str, object]] = []
    failed = 0
    tools = list_tools(database, active_only=True)
    if not tools:
        say("no tool is active; list all tools with: mdvec tool ls --all")
    for tool in tools:
        try:
            report = _import_one(request(tool.name), quiet=quiet)
        except MdvecError as error:
            failed += 1
            say(f"error: {tool.name}: {error}")
            done.append({"tool": tool.name, "error": str(error)})
            continue
        done.append(report.json_fields())
        if not as_json:
            _print_report(report)
    if as_json:
        print_json({"imports": done})
    if failed:
        say(f"{failed} of {len(tools)} tools could not be imported")
        raise typer.Exit(1)


def _print_report(report: ImportReport) -> None:
    for line in report.lines():
        show = say if line.is_note else print_line
        show(on_one_line(line.text))


@contextmanager
def _progress(
    name: str, *, quiet: bool
) -> Iterator[tuple[Callable[[Progress], None], Callable[[str], None]]]:
    """A progress bar on a terminal, nothing elsewhere; and a function that prints beside it."""
    if quiet or not sys.stderr.isatty():
        yield (lambda _: None), say
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("files"),
        TextColumn("{task.fields[units]} {task.fields[unit]}, {task.fields[rate]:.0f}/s"),
        TimeRemainingColumn(),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"importing {name}", total=None, units=0, rate=0.0, unit="")

        def show(progress: Progress) -> None:
            elapsed = bar.tasks[0].elapsed or 1.0
            bar.update(
                task, completed=progress.files_done, total=progress.files,
                units=progress.units_done, rate=progress.units_done / elapsed,
                unit=progress.unit,
            )  # fmt: skip

        def tell(message: str) -> None:
            bar.console.print(message, markup=False, highlight=False, soft_wrap=True)

        yield show, tell
