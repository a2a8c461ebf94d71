"""`mdvec import`: bring a tool's folder or data files into the database."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from mdvec import datasets, embedding, household, importing, manage
from mdvec.errors import MdvecError
from mdvec.platform import in_own_group
from mdvec.text import on_one_line

from mdvec_cli.commands.terminal import (
    STOPPED,
    FormatOption,
    SettingsOptions,
    confirmed,
    name_option,
    print_json,
    print_sentence,
    say,
    wants_json,
    with_settings_options,
)

if TYPE_CHECKING:
    from mdvec.embedding import BackendOptions
    from mdvec.importing import ImportReport, ImportRequest, Progress
    from mdvec.settings import Settings


@dataclass(frozen=True, slots=True)
class ImportDisplay:
    """How an import shows progress and messages to its user, and asks for permission."""

    show: Callable[[Progress], None]
    tell: Callable[[str], None]
    ask: Callable[[str], bool]


@contextmanager
def import_display(name: str, *, quiet: bool) -> Iterator[ImportDisplay]:
    """Show a progress bar on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield ImportDisplay(lambda _: None, say, confirmed)
        return
    from rich import console, progress

    speed = "{task.fields[units]} {task.fields[unit]}, {task.fields[rate]:.0f}/s"
    columns = (
        progress.TextColumn("{task.description}"), progress.BarColumn(),
        progress.MofNCompleteColumn(), progress.TextColumn("files"), progress.TextColumn(speed),
        progress.TimeRemainingColumn(),
    )  # fmt: skip
    stderr = console.Console(stderr=True)
    with progress.Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task(f"importing {name}", total=None, units=0, rate=0.0, unit="")

        def show(now: Progress) -> None:
            elapsed = bar.tasks[0].elapsed or 1.0
            page = f", page {now.page} of {now.pages}" if now.pages else ""
            bar.update(
                task, description=f"importing {name}{page}",
                completed=now.files_done, total=now.files,
                units=now.units_done, rate=now.units_done / elapsed,
                unit=now.unit,
            )  # fmt: skip

        def tell(message: str) -> None:
            bar.console.print(message, markup=False, highlight=False, soft_wrap=True)

        def ask(question: str) -> bool:
            bar.stop()
            try:
                return confirmed(question)
            finally:
                bar.start()

        yield ImportDisplay(show, tell, ask)


ImportMode = Literal["new", "replace", "update"]

ChunkStrategy = Literal["heading", "token"]


class _NameMissing(typer.BadParameter):
    """Neither ``--name`` nor ``--all`` was given; reported like any missing option."""

    def __init__(self) -> None:
        super().__init__("Missing option '--name' / '-n'")

    def format_message(self) -> str:
        """The message without "Invalid value"."""
        return self.message


@with_settings_options
def import_command(
    options: SettingsOptions,
    name: Annotated[str | None, name_option("The tool's name.")] = None,
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
    ] = "new",
    checksum: Annotated[
        bool,
        typer.Option("--checksum", help="Compare files by their content, not by size and time."),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(help="The embedding model: auto, one of mdvec model ls, openai:<model>, "
                          "gemini:<model>, or onnx: or st: with a model or a folder."),
    ] = None,
    chunk_strategy: Annotated[
        ChunkStrategy | None,
        typer.Option(help="Split at headings, or by tokens only."),
    ] = None,
    chunk_size: Annotated[
        int | None,
        typer.Option(help="The maximum chunk size in tokens."),
    ] = None,
    chunk_overlap: Annotated[
        int | None,
        typer.Option(help="The overlap of neighbouring chunks in tokens."),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Send texts to the model's endpoint without asking."),
    ] = False,
    background: Annotated[
        bool,
        typer.Option("--background",
                     help="Store the notes, so that words find them, and embed them afterwards in "
                          "a process of its own, which goes on when this command has ended."),
    ] = False,
    unattended: Annotated[bool, typer.Option("--unattended", hidden=True)] = False,
    take_scan: Annotated[
        bool,
        typer.Option("--take-scan",
                     help="Replace the tool's scan rules with the current [scan] settings."),
    ] = False,
    accept_removals: Annotated[
        bool,
        typer.Option("--accept-removals",
                     help="Household: leave out the rows whose removal the last import reported "
                          "as pending, and take the values of a file that may be an old copy."),
    ] = False,
    restore_removed: Annotated[
        list[int] | None,
        typer.Option(metavar="ID",
                     help="Household: count a removed row again, permanently; repeatable."),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PATTERN",
                     help="Dataset: make one table of the files that fit, such as "
                          "sales=sales_*.csv; repeatable, and kept."),
    ] = None,
    separate: Annotated[
        bool,
        typer.Option("--separate",
                     help="Dataset: make each file a table, even if names differ only by a date or "
                          "number."),
    ] = False,
    read: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=TYPE",
                     help="Dataset: what a column holds: text, integer, number, comma (1.234,5), "
                          "date, timestamp, boolean; auto takes it back; repeatable, and kept. "
                          "header=none: the files have no line of names; COLUMN=na:NA: such "
                          "cells are NULL; totals=out, notes=out: without such rows."),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(help="Dataset: the files' encoding, such as cp932 or cp1252; "
                                        "auto takes it back; kept."),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="Dataset: what separates cells: one character, or tab; "
                                         "auto takes it back; kept."),
    ] = None,
    header_row: Annotated[
        int | None,
        typer.Option(help="Dataset: the line or row that names the columns; 0 "
                                          "takes it back; kept."),
    ] = None,
    read_for: Annotated[
        str | None,
        typer.Option("--for", metavar="PATTERN",
                     help="Dataset: the files that --read, --encoding, --delimiter and "
                          "--header-row apply to; by default, all."),
    ] = None,
    format_: FormatOption = None,
) -> None:  # fmt: skip
    """Import a tool's source: find changed files, split them into chunks, embed and store them.

    The files of a dataset become tables for SQL, and nothing is embedded.
    """
    if name is None and not import_all:
        raise _NameMissing
    if name is not None and import_all:
        raise typer.BadParameter("name one tool, or import all", param_hint="--name / --all")
    if import_all and background:
        raise typer.BadParameter("name one tool with it", param_hint="--background")
    if import_all and mode == "new":
        mode = "update"
    settings = options.settings(
        model={"name": model},
        chunking={"strategy": chunk_strategy, "size": chunk_size, "overlap": chunk_overlap},
    )
    removals = household.RemovalOptions(accept_removals, tuple(restore_removed or ()))

    readings = datasets.reading_choices(
        read or (), encoding=encoding, delimiter=delimiter, header_row=header_row, pattern=read_for
    )
    tables = datasets.DatasetOptions(datasets.chosen_tables(table or ()), separate, readings)

    def request(tool: str) -> ImportRequest:
        return manage.import_request(
            settings, tool, mode, model=model, removals=removals, take_scan=take_scan,
            checksum=checksum, is_background=background,
            is_unattended=unattended, tables=tables if table or separate or readings else None,
        )  # fmt: skip

    run = functools.partial(
        _import_one, options=settings.model.options(), quiet=options.verbose, allowed=yes
    )
    as_json = wants_json(format_, settings)
    if name is None:
        _import_all(settings.database_path, lambda tool: run(request(tool)), as_json=as_json)
        return
    flags = {"--database": options.database, "--config": options.config, "--chunk-size": chunk_size,
             "--chunk-strategy": chunk_strategy, "--chunk-overlap": chunk_overlap,
             "--model": model, "--take-scan": take_scan or None}  # fmt: skip
    if background and _replaces_texts(settings.database_path, name, mode):
        _replace_later(settings, name, flags, as_json=as_json)
        return
    report = run(request(name))
    if background and report.chunks_pending:
        _embed_later(report, flags)
    _show(report, as_json=as_json)


def _import_one(
    request: ImportRequest, options: BackendOptions, *, quiet: bool, allowed: bool
) -> ImportReport:
    try:
        with import_display(request.tool, quiet=quiet) as shown:
            return manage.import_tool(
                request,
                manage.loading_and_telling(shown.tell, options),
                on_progress=shown.show,
                on_notice=shown.tell,
                may_send=lambda sending: allowed or shown.ask(f"{sending.sentence()} Send them?"),
            )
    except importing.ImportInterrupted as error:
        say(str(error))
        raise typer.Exit(STOPPED) from error


def _show(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        print_json(report.json_fields())
    else:
        _print_report(report)


def _embed_later(report: ImportReport, flags: Mapping[str, object]) -> None:
    """Start a background import that embeds the stored documents."""
    _start(report.tool, "update", {**flags, "--model": report.model, "--take-scan": None})
    say(
        f"{report.tool}: words find its passages now, and vectors as they come; "
        f"how far it is: mdvec status -n {report.tool}"
    )


def _replaces_texts(database: Path, name: str, mode: ImportMode) -> bool:
    """Whether an import rebuilds texts that searches read meanwhile."""
    return mode == "replace" and manage.find_tool(database, name).generation > 0


def _replace_later(
    settings: Settings, name: str, flags: Mapping[str, object], *, as_json: bool
) -> None:
    """Start a background import that rebuilds a tool while searches still read the old texts.

    The model is loaded here first, so that its errors are shown to the user.
    """
    wanted = str(flags["--model"] or manage.find_tool(settings.database_path, name).model)
    if embedding.is_endpoint_model(wanted):
        raise importing.ImportRefused(
            f"the vectors of {name!r} come from an endpoint; leave out --background"
        )
    manage.loading_and_telling(say, settings.model.options())(wanted)
    _start(name, "replace", flags)
    if as_json:
        print_json({"tool": name, "mode": "replace", "is_running": True})
    say(
        f"{name}: it is being built again; searches read what is there until the new index, with "
        f"all of its vectors, is complete; how far it is: mdvec status -n {name}"
    )


def _start(name: str, mode: str, flags: Mapping[str, object]) -> None:
    """Start an import in a process that outlives this command.

    Nobody reads its messages; if it fails, the status of its tool tells why.
    """
    words = ["import", "-n", name, "--mode", mode, "--unattended"]
    for flag, value in flags.items():
        words += [] if value is None else [flag] if value is True else [flag, str(value)]
    subprocess.Popen(  # noqa: S603 - this program, with options of its own
        [sys.executable, "-c", "from mdvec_cli.entry import main; main()", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **in_own_group(),
    )


def _import_all(
    database: Path, import_one: Callable[[str], ImportReport], *, as_json: bool
) -> None:
    """Import every active tool; exit code 1 if one failed."""
    done: list[dict[str, object]] = []
    failed = 0
    tools = manage.list_tools(database, active_only=True)
    if not tools:
        say("no tool is active; list all tools with: mdvec tool ls --all")
    for tool in tools:
        try:
            report = import_one(tool.name)
        except MdvecError as error:
            failed += 1
            say(f"error: {tool.name} could not be imported: {error}")
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
        text = on_one_line(line.text)
        if line.is_note:
            say(text)
        else:
            print_sentence(text)
