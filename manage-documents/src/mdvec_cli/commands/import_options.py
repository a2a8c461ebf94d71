"""The options of `mdvec import`, and the import requests made of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from mdvec import datasets, household, importing, manage
from mdvec.tools import KINDS

from mdvec_cli.commands.terminal import FormatOption, SettingsOptions, name_option

if TYPE_CHECKING:
    from mdvec.importing import ImportRequest
    from mdvec.settings import Settings


class _NameMissing(typer.BadParameter):
    """Neither ``--name`` nor ``--all`` was given; reported like any missing option."""

    def __init__(self) -> None:
        super().__init__("Missing option '--name' / '-n'")

    def format_message(self) -> str:
        """The message without "Invalid value"."""
        return self.message


@dataclass(frozen=True)
class ImportOptions:
    """The options of `mdvec import`."""

    name: Annotated[str | None, name_option("The tool's name.")] = None
    import_all: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Import every active tool, one after the other; one that fails "
            "does not stop the others.",
        ),
    ] = False
    mode: Annotated[
        Literal["new", "replace", "update"],
        typer.Option(
            "--mode",
            "-m",
            help="new: fill an empty tool (with --all: update); update: import changes; "
            "replace: rebuild everything.",
        ),
    ] = "new"
    checksum: Annotated[
        bool,
        typer.Option("--checksum", help="Compare files by their content, not by size and time."),
    ] = False
    model: Annotated[
        str | None,
        typer.Option(
            help="The embedding model: auto, one of mdvec model ls, openai:<model>, "
            "gemini:<model>, or onnx: or st: with a model or a folder."
        ),
    ] = None
    chunk_strategy: Annotated[
        Literal["heading", "token"] | None,
        typer.Option(help="Split at headings, or by tokens only."),
    ] = None
    chunk_size: Annotated[int | None, typer.Option(help="The maximum chunk size in tokens.")] = None
    chunk_overlap: Annotated[
        int | None, typer.Option(help="The overlap of neighbouring chunks in tokens.")
    ] = None
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Send texts to the model's endpoint without asking.")
    ] = False
    background: Annotated[
        bool,
        typer.Option(
            "--background",
            help="Store the notes, so that words find them, and embed them afterwards in "
            "a process of its own, which goes on when this command has ended.",
        ),
    ] = False
    unattended: Annotated[bool, typer.Option("--unattended", hidden=True)] = False
    take_scan: Annotated[
        bool,
        typer.Option(
            "--take-scan",
            help="Take the current [scan] settings, except for what tool update set.",
        ),
    ] = False
    accept_removals: Annotated[
        bool,
        typer.Option(
            "--accept-removals",
            help="Household: leave out the rows whose removal the last import reported "
            "as pending, and take the values of a file that may be an old copy.",
        ),
    ] = False
    restore_removed: Annotated[
        list[int] | None,
        typer.Option(
            metavar="ID", help="Household: count a removed row again, permanently; repeatable."
        ),
    ] = None
    table: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATTERN",
            help="Dataset: make one table of the files that fit, such as "
            "sales=sales_*.csv; repeatable, and kept.",
        ),
    ] = None
    separate: Annotated[
        bool,
        typer.Option(
            "--separate",
            help="Dataset: make each file a table, even if names differ only by a date or number.",
        ),
    ] = False
    read: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=TYPE",
            help="Dataset: what a column holds: text, integer, number, comma (1.234,5), "
            "date, timestamp, boolean; auto takes it back; repeatable, and kept. "
            "header=none: the files have no line of names; COLUMN=na:NA: such "
            "cells are NULL; totals=out, notes=out: without such rows.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            help="Dataset: the files' encoding, such as cp932 or cp1252; auto takes it back; kept."
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="Dataset: what separates cells: one character, or tab; auto takes it back; kept."
        ),
    ] = None
    header_row: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help="Dataset: the line or row that names the columns, or the first and last "
            "such as 3-6; 0 takes it back; kept.",
        ),
    ] = None
    read_for: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="PATTERN",
            help="Dataset: the files, or FILE#SHEET, that --read, --encoding, --delimiter and "
            "--header-row apply to; by default, all.",
        ),
    ] = None
    format_: FormatOption = None

    def check(self) -> None:
        """Raise the error of typer for options that do not go together."""
        if self.name is None and not self.import_all:
            raise _NameMissing
        if self.name is not None and self.import_all:
            raise typer.BadParameter("name one tool, or import all", param_hint="--name / --all")
        if self.import_all and self.background:
            raise typer.BadParameter("name one tool with it", param_hint="--background")

    def check_kind(self, database: Path) -> None:
        """Refuse chunking options if files are not split, and a model if they are not embedded.

        Raises:
            MdvecError: the named tool cannot use one of the options, or the tool cannot be read.
        """
        splitting = (self.chunk_strategy, self.chunk_size, self.chunk_overlap)
        is_split = any(value is not None for value in splitting)
        if self.name is None or self.unattended or not (is_split or self.model):
            return
        tool = manage.find_tool(database, self.name)
        kind = KINDS[tool.kind]
        if is_split and not kind.has_passages:
            raise importing.ImportRefused(
                f"the tool {tool.name!r} is a {tool.kind}, whose files are not split; leave "
                "--chunk-strategy, --chunk-size and --chunk-overlap out"
            )
        if self.model and not kind.has_texts:
            raise importing.ImportRefused(
                f"the tool {tool.name!r} is a {tool.kind}, whose files get no vectors; leave "
                "--model out"
            )

    def settings(self, options: SettingsOptions) -> Settings:
        """Load the settings, overridden by these options."""
        return options.settings(
            model={"name": self.model},
            chunking={
                "strategy": self.chunk_strategy,
                "size": self.chunk_size,
                "overlap": self.chunk_overlap,
            },
        )

    def request(
        self, settings: Settings, tool: str, tables: datasets.DatasetOptions | None
    ) -> ImportRequest:
        """The request for an import of a tool; ``tables`` is what ``tables()`` returned."""
        return manage.import_request(
            settings,
            tool,
            "update" if self.import_all and self.mode == "new" else self.mode,
            model=self.model,
            removals=household.RemovalOptions(
                self.accept_removals, tuple(self.restore_removed or ())
            ),
            tables=tables,
            take_scan=self.take_scan,
            checksum=self.checksum,
            is_background=self.background,
            is_unattended=self.unattended,
        )

    def tables(self) -> datasets.DatasetOptions | None:
        """The options for a dataset; None if none are given.

        Raises:
            MdvecError: an option cannot be parsed.
        """
        readings = datasets.reading_choices(
            self.read or (), encoding=self.encoding, delimiter=self.delimiter,
            header_row=self.header_row, pattern=self.read_for,
        )  # fmt: skip
        tables = datasets.chosen_tables(self.table or ())
        if not (tables or self.separate or readings):
            return None
        return datasets.DatasetOptions(tables, self.separate, readings)


def arguments_of(request: ImportRequest, config: Path | None) -> list[str]:
    """The arguments with which `mdvec` runs an unattended import of notes."""
    where = ["--database", str(request.database)]
    if config is not None:
        where += ["--config", str(config)]
    what = ["-n", request.tool, "--mode", request.mode, "--unattended"]
    return ["import", *what, *where, *request.options_for_texts()]
