"""`mdvec import`: bring a tool's folder or data files into the database."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from mdvec.text.one_line import on_one_line

from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    DisplayFormat,
    FormatOption,
    NameOption,
    VerboseOption,
    chosen_format,
    settings_from,
)
from mdvec_cli.commands.output import STOPPED, print_json, print_line, say

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Embedder
    from mdvec.household.options import RemovalWish
    from mdvec.importing.report import ImportRequest, Progress
    from mdvec.settings import Settings


class ImportMode(StrEnum):
    """What an import does with the tool's current contents."""

    NEW = "new"
    REPLACE = "replace"
    UPDATE = "update"


class ChunkStrategy(StrEnum):
    """How documents are split into chunks."""

    HEADING = "heading"
    TOKEN = "token"  # noqa: S105 - a unit of text


def import_command(
    name: NameOption,
    mode: Annotated[
        ImportMode,
        typer.Option(
            "--mode", "-m",
            help="new: fill an empty tool; update: import changes; replace: rebuild everything.",
        ),
    ] = ImportMode.NEW,
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
    from mdvec.household.options import RemovalWish
    from mdvec.importing.report import ImportInterrupted
    from mdvec.manage.import_tool import import_tool

    settings = settings_from(
        config,
        database,
        verbose=verbose,
        model={"name": model},
        chunking={"strategy": chunk_strategy and chunk_strategy.value, "size": chunk_size,
                  "overlap": chunk_overlap},
    )  # fmt: skip
    try:
        with _progress(name, quiet=verbose) as (on_progress, tell):
            report = import_tool(
                _request(
                    settings,
                    name,
                    mode,
                    requested_model=model,
                    take_scan=take_scan,
                    removals=RemovalWish(accept_removals, tuple(restore_removed or ())),
                ),
                functools.partial(_load_and_tell, tell),
                on_progress=on_progress,
                on_notice=tell,
            )
    except ImportInterrupted as error:
        say(str(error))
        raise typer.Exit(STOPPED) from error
    if chosen_format(format_, settings) is DisplayFormat.JSON:
        print_json(report.json_fields())
        return
    for line in report.lines():
        show = say if line.is_note else print_line
        show(on_one_line(line.text))


def _request(
    settings: Settings,
    name: str,
    mode: ImportMode,
    requested_model: str | None,
    *,
    take_scan: bool,
    removals: RemovalWish,
) -> ImportRequest:
    from mdvec.embedding.catalog import AUTO
    from mdvec.files.scan import ScanRules
    from mdvec.household.options import HouseholdOptions
    from mdvec.importing.options import ChunkingWish
    from mdvec.importing.report import ImportRequest

    named = settings.model.name
    wish = settings.chunking
    duplicates = settings.duplicates
    detection = duplicates.options() if duplicates.auto_detect_on_import else None
    return ImportRequest(
        database=settings.database_path,
        tool=name,
        mode=mode.value,
        rules=ScanRules(settings.scan.extensions, settings.scan.exclude, settings.scan.max_bytes),
        chunking=ChunkingWish(
            wish.strategy, wish.size, wish.overlap, wish.heading_levels, wish.min_chars
        ),
        model=requested_model or (None if named == AUTO else named),
        options=HouseholdOptions(detection, removals),
        scan_explicit=frozenset(settings.scan.model_fields_set),
        take_scan=take_scan,
    )


def _load_and_tell(tell: Callable[[str], None], name: str | None) -> Embedder:
    from mdvec.embedding import catalog

    choice = catalog.choose(name or catalog.AUTO)
    tell(f"model: {choice.reason}")
    return catalog.load(choice.card.name)


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
        TextColumn("{task.fields[chunks]} {task.fields[unit]}, {task.fields[rate]:.0f}/s"),
        TimeRemainingColumn(),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"importing {name}", total=None, chunks=0, rate=0.0, unit="")

        def show(progress: Progress) -> None:
            elapsed = bar.tasks[0].elapsed or 1.0
            bar.update(
                task, completed=progress.files_done, total=progress.files,
                chunks=progress.chunks_done, rate=progress.chunks_done / elapsed,
                unit=progress.unit,
            )  # fmt: skip

        def tell(message: str) -> None:
            bar.console.print(message, markup=False, highlight=False, soft_wrap=True)

        yield show, tell
