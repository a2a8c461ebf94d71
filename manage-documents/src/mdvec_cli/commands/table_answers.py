"""What the commands on tables share: their options, the open tables, the forms of an answer."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from mdvec import sql

from mdvec_cli.commands.options import settings_from
from mdvec_cli.commands.output import print_json, print_table, say

if TYPE_CHECKING:
    from mdvec.settings import Settings


class TableFormat(StrEnum):
    """The form in which a command on tables prints its result."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


SourceArgument = Annotated[
    str,
    typer.Argument(metavar="QUERY", help="A table or one DuckDB SELECT.", show_default=False),
]
TableFormatOption = Annotated[
    TableFormat | None, typer.Option("--format", help="The output format.", show_default=False)
]
FromOption = Annotated[
    str | None,
    typer.Option("--from", help="The first day or time, such as 2025-06-01.", show_default=False),
]
ToOption = Annotated[
    str | None, typer.Option("--to", help="The last day or time, included.", show_default=False)
]
DateColumnOption = Annotated[
    str | None,
    typer.Option(help="The column for --from and --to, if several hold dates.", show_default=False),
]


@dataclass(frozen=True, slots=True)
class OpenTables:
    """The tables of a database, while SQL over them can be asked."""

    settings: Settings
    analytics: sql.Analytics

    def answer(self, work: Callable[[], sql.JsonAnswer], read: str = "") -> sql.JsonAnswer:
        """What ``work`` answers; its warnings go to stderr, with those about what it ``read``.

        Raises:
            MdvecError: there is no answer.
        """
        request = sql.RequestedData(read)
        answer = sql.answered_within_guard(self.analytics, work, request)
        for warning in answer.pop("warnings", ()):
            say(f"warning: {warning}")
        return answer

    def form(self, flag: TableFormat | None) -> TableFormat:
        """The format given as a flag, else the one in the settings."""
        return flag or TableFormat(self.settings.display.default_format)


@contextmanager
def open_tables(
    database: Path | None, config: Path | None, *, verbose: bool
) -> Iterator[OpenTables]:
    """Open the tables of the settings' database; SQL runs in a process that ends with the block."""
    settings = settings_from(config, database, verbose=verbose)
    analytics = sql.analytics_over(
        settings.database_path,
        settings.analytics_folder,
        sql.for_people(settings.analytics),
        sql.SourcesNow(settings.database_path, settings.scan.rules()),
        settings.household.month_starts_on,
    )
    try:
        yield OpenTables(settings, analytics)
    finally:
        analytics.queries.close()


def date_range(first: str | None, last: str | None) -> tuple[str, str] | None:
    """The range of --from and --to."""
    if (first is None) != (last is None):
        given, other = ("--to", "--from") if first is None else ("--from", "--to")
        raise typer.BadParameter(
            f"it needs the other end of the range; give {other} too", param_hint=given
        )
    return None if first is None or last is None else (first, last)


def print_answer(
    form: TableFormat,
    answer: Mapping[str, Any],
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
) -> None:
    """Print an answer as JSON, or these rows of it as a table or as CSV."""
    if form is TableFormat.JSON:
        print_json(dict(answer))
    elif form is TableFormat.CSV:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([["" if cell is None else _text(cell) for cell in row] for row in rows])
    else:
        print_table(
            title,
            columns,
            [["NULL" if cell is None else _text(cell) for cell in row] for row in rows],
            numbers=_numbers(rows, len(columns)),
        )


def _numbers(rows: Sequence[Sequence[object]], count: int) -> set[int]:
    """The places of the columns that hold numbers."""
    return {
        position
        for position in range(count)
        if (cells := [row[position] for row in rows if row[position] is not None])
        and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
    }


def _text(cell: object) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False)
    return str(cell)
