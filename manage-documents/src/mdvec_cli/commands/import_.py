"""`mdvec import`: bring a tool's folder or data files into the database."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from mdvec.text.one_line import on_one_line

from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    Format,
    FormatOption,
    NameOption,
    VerboseOption,
    chosen_format,
    settings_from,
)
from mdvec_cli.commands.output import STOPPED, print_json, print_line, say

if TYPE_CHECKING:
    from mdvec.datasets.report import DatasetReport, TableReport
    from mdvec.embedding.embedder import Embedder
    from mdvec.household.interfaces.statements import GoneRow
    from mdvec.household.report import LedgerReport
    from mdvec.importing.report import ImportReport, ImportRequest, Progress
    from mdvec.settings.loading import Settings

_PROBLEMS_SHOWN = 20


class ImportMode(StrEnum):
    """How an import meets what is there."""

    NEW = "new"
    REPLACE = "replace"
    UPDATE = "update"


class ChunkStrategy(StrEnum):
    """How documents are cut."""

    HEADING = "heading"
    TOKEN = "token"  # noqa: S105 - a unit of text


def import_command(
    name: NameOption,
    mode: Annotated[
        ImportMode,
        typer.Option(
            "--mode", "-m",
            help="new: into an empty tool; update: follow changes; replace: build it again.",
        ),
    ] = ImportMode.NEW,
    model: Annotated[
        str | None,
        typer.Option("--model", help="The embedding model: auto, plamo, use, e5-small.",
                     show_default=False),
    ] = None,
    chunk_strategy: Annotated[
        ChunkStrategy | None,
        typer.Option("--chunk-strategy", help="Cut at headings, or by tokens alone.",
                     show_default=False),
    ] = None,
    chunk_size: Annotated[
        int | None,
        typer.Option("--chunk-size", help="The largest chunk, in tokens.", show_default=False),
    ] = None,
    chunk_overlap: Annotated[
        int | None,
        typer.Option("--chunk-overlap", help="What two chunks share, in tokens.",
                     show_default=False),
    ] = None,
    take_scan: Annotated[
        bool,
        typer.Option("--take-scan",
                     help="Take the [scan] settings in force in place of the tool's own."),
    ] = False,
    accept_removals: Annotated[
        bool,
        typer.Option("--accept-removals",
                     help="Household: let the rows that the last import asked about leave the "
                          "sums."),
    ] = False,
    restore_removed: Annotated[
        list[int] | None,
        typer.Option("--restore-removed", metavar="ID",
                     help="Household: let a row that left the sums count again, for good; "
                          "repeatable.", show_default=False),
    ] = None,
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:  # fmt: skip
    """Import a tool's source: find what changed, cut it into chunks, embed and store them.

    Of a dataset the tables are recorded: their columns, rows and periods.
    """
    from mdvec.household.report import RemovalWish
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
                replace(
                    _request(settings, name, mode, asked_model=model, take_scan=take_scan),
                    removals=RemovalWish(accept_removals, tuple(restore_removed or ())),
                ),
                functools.partial(_load_and_tell, tell),
                on_progress=on_progress,
                on_notice=tell,
            )
    except ImportInterrupted as error:
        say(str(error))
        raise typer.Exit(STOPPED) from error
    if chosen_format(format_, settings) is Format.JSON:
        print_json(report)
    else:
        _print_report(report)


def _request(
    settings: Settings, name: str, mode: ImportMode, asked_model: str | None, *, take_scan: bool
) -> ImportRequest:
    from mdvec.embedding.catalog import AUTO
    from mdvec.files.scan import ScanRules
    from mdvec.importing.options import ChunkingWish
    from mdvec.importing.report import ImportRequest

    named = settings.model.name
    wish = settings.chunking
    return ImportRequest(
        database=settings.database_path,
        tool=name,
        mode=mode.value,
        rules=ScanRules(settings.scan.extensions, settings.scan.exclude, settings.scan.max_bytes),
        chunking=ChunkingWish(
            wish.strategy, wish.size, wish.overlap, wish.heading_levels, wish.min_chars
        ),
        model=asked_model or (None if named == AUTO else named),
        detection=(
            settings.duplicates.options() if settings.duplicates.auto_detect_on_import else None
        ),
        scan_asked=frozenset(settings.scan.model_fields_set),
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
    """A progress bar on a terminal, nothing elsewhere; and how to say something meanwhile."""
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


def _print_report(report: ImportReport) -> None:
    embedded = f"{report.chunks_embedded} embedded with {report.model} in {report.seconds:.1f} s"
    if report.ledger is not None:
        _print_ledger(report.tool, report.ledger)
        print_line(f"{report.chunks} rows can be searched, {embedded}")
        if report.duplicate_candidates is not None:
            print_line(f"{report.duplicate_candidates} pairs may be duplicates; ask the server")
    elif report.dataset is not None:
        _print_dataset(report, report.dataset)
    else:
        print_line(
            f"{report.tool}: {report.added} added, {report.updated} updated, "
            f"{report.deleted} deleted, {report.unchanged} unchanged, "
            f"{len(report.failed)} failed; {report.chunks} chunks, {embedded}"
        )
    _say_failed([f"{problem.file_path}: {problem.reason}" for problem in report.failed])
    for hint in report.hints:
        say(on_one_line(hint))


def _print_ledger(name: str, ledger: LedgerReport) -> None:
    print_line(
        f"{name}: {ledger.files} files, {ledger.rows_read} rows read: {ledger.imported} imported, "
        f"{ledger.updated} updated, {ledger.unchanged} unchanged, {len(ledger.failed)} failed; "
        f"{ledger.deleted} deleted, {ledger.without_file} in the ledger have no file left"
    )
    _say_failed([f"{row.path}:{row.line}: {row.reason}" for row in ledger.failed])
    if ledger.returned:
        print_line(f"{ledger.returned} rows count again")
    for problem in ledger.overruled:
        say(on_one_line(f"older than its time: {problem.file_path}: {problem.reason}"))
    if ledger.removed:
        print_line(
            f"{len(ledger.removed)} rows left the sums, gone from the newest file of their day; "
            f"to keep one: mdvec import -n {name} --mode update --restore-removed ID"
        )
        _list_gone("removed", ledger.removed)
    if ledger.asked:
        print_line(
            f"{len(ledger.asked)} rows still count, but are gone from the newest file of their "
            f"day; to let them go: mdvec import -n {name} --mode update --accept-removals"
        )
        _list_gone("gone?", ledger.asked)
    for problem in ledger.passed_over:
        say(on_one_line(f"passed over: {problem.file_path}: {problem.reason}"))


def _list_gone(word: str, rows: Sequence[GoneRow]) -> None:
    for row in rows[:_PROBLEMS_SHOWN]:
        amount = "no amount" if row.amount is None else f"{row.amount:,} yen"
        say(
            on_one_line(
                f"{word}: {row.id}: {row.date} {row.description} {amount} ({row.account}), "
                f"in {row.path}, not in {row.missing_from}"
            )
        )
    if len(rows) > _PROBLEMS_SHOWN:
        say(f"… and {len(rows) - _PROBLEMS_SHOWN} more; --format json lists them all")


def _print_dataset(report: ImportReport, dataset: DatasetReport) -> None:
    rows = sum(table.rows for table in dataset.tables)
    print_line(
        f"{report.tool}: {report.added} added, {report.updated} updated, {report.deleted} deleted, "
        f"{report.unchanged} unchanged, {len(report.failed)} failed; {len(dataset.tables)} tables, "
        f"{rows:,} rows in {report.seconds:.1f} s"
    )
    for table in dataset.tables:
        print_line(on_one_line(_about(table)))
    for problem in dataset.left_out:
        say(on_one_line(f"left out: {problem.file_path}: {problem.reason}"))


def _about(table: TableReport) -> str:
    about = f"{table.name}: {table.rows:,} rows, {len(table.columns)} columns, from {table.origin}"
    if table.first is None:
        return about
    return f"{about}; {table.period_column} {table.first} to {table.last}"


def _say_failed(failed: list[str]) -> None:
    for problem in failed[:_PROBLEMS_SHOWN]:
        say(on_one_line(f"failed: {problem}"))
    if len(failed) > _PROBLEMS_SHOWN:
        say(f"… and {len(failed) - _PROBLEMS_SHOWN} more; --format json lists them all")
