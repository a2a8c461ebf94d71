"""`mdvec query`: rows of a SELECT, and saved questions; also code that table commands share."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from mdvec import sql

from mdvec_cli.commands.terminal import (
    SettingsOptions,
    begin_data,
    heading_language,
    in_own_language,
    print_json,
    print_part,
    print_rows,
    print_sentence,
    say,
    with_settings_options,
)

if TYPE_CHECKING:
    from mdvec.queries import SaveMode
    from mdvec.settings import Settings

TableFormat = Literal["table", "json", "csv"]
"""The form in which a command on tables prints its result."""

SourceArgument = Annotated[
    str, typer.Argument(metavar="QUERY", help="A table or one DuckDB SELECT.")
]
TableFormatOption = Annotated[
    TableFormat | None, typer.Option("--format", help="The output format.")
]
FromOption = Annotated[
    str | None, typer.Option("--from", help="The first day or time, such as 2025-06-01.")
]
ToOption = Annotated[str | None, typer.Option("--to", help="The last day or time, included.")]
DateColumnOption = Annotated[
    str | None, typer.Option(help="The column for --from and --to, if several hold dates.")
]
_ROWS = 100
_MAX_ROWS = 10_000
_LISTED = ("name", "parameters", "description")


@dataclass(frozen=True, slots=True)
class OpenTables:
    """The tables of a database, open for SQL."""

    settings: Settings
    analytics: sql.Analytics

    def answer(self, work: Callable[[], sql.JsonAnswer], read: str = "") -> sql.JsonAnswer:
        """Run ``work``; print its warnings, and those about the tables that the SQL ``read`` reads.

        Raises:
            MdvecError: the work failed.
        """
        request = sql.RequestedData(read)
        answer = sql.answered_within_guard(self.analytics, work, request)
        for warning in answer.pop("warnings", ()):
            say(f"warning: {warning}")
        return answer

    def form(self, flag: TableFormat | None) -> TableFormat:
        """The format given as a flag, else the one in the settings."""
        return flag or self.settings.display.default_format


@contextmanager
def open_tables(options: SettingsOptions) -> Iterator[OpenTables]:
    """Open the configured database's tables; SQL runs in a process that ends with the block."""
    settings = options.settings()
    analytics = sql.analytics_over(
        settings.database_path,
        settings.analytics_folder,
        sql.for_people(settings.analytics),
        sql.SourcesNow(settings.database_path, settings.scan_rules()),
        settings.household.month_starts_on,
    )
    try:
        yield OpenTables(settings, analytics)
    finally:
        analytics.queries.close()


def date_range(first: str | None, last: str | None) -> tuple[str, str] | None:
    """The range of --from and --to; None without them."""
    if (first is None) != (last is None):
        present, missing = ("--to", "--from") if first is None else ("--from", "--to")
        raise typer.BadParameter(
            f"it needs the other end of the range; give {missing} too", param_hint=present
        )
    return None if first is None or last is None else (first, last)


def print_answer(
    form: TableFormat,
    answer: Mapping[str, Any],
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
) -> None:
    """Print an answer as JSON, or these rows of it as a table or CSV."""
    if form == "json":
        print_json(sql.portable(dict(answer)))
    elif form == "csv":
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([["" if cell is None else _text(cell) for cell in row] for row in rows])
        begin_data()
        print_part(lines.getvalue())
    else:
        print_rows(
            title,
            columns,
            [["NULL" if cell is None else _text(cell) for cell in row] for row in rows],
            numbers=_numbers(rows, len(columns)),
        )


def _numbers(rows: Sequence[Sequence[object]], count: int) -> set[int]:
    """The positions of the columns that hold numbers."""
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


@dataclass(frozen=True)
class QueryOptions:
    """The options of `mdvec query`."""

    query: Annotated[
        str | None,
        typer.Argument(help="A table or one DuckDB SELECT; with --saved, a question's name."),
    ] = None
    rows: Annotated[
        int | None,
        typer.Option(
            min=1, max=_MAX_ROWS, help=f"How many rows table and json print (default: {_ROWS})."
        ),
    ] = None
    saved: Annotated[
        bool, typer.Option("--saved", help="Run a saved or ready-made question, or list them.")
    ] = False
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE",
            help="The value of a $parameter; may be repeated.",
        ),
    ] = None
    save: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Save the SELECT, with its $parameters, as a question."),
    ] = None
    description: Annotated[
        str, typer.Option(help="With --save: what the question answers.", show_default=False)
    ] = ""
    replace: Annotated[
        bool, typer.Option("--replace", help="With --save: replace the question of that name.")
    ] = False
    delete: Annotated[str | None, typer.Option(metavar="NAME", help="Delete a saved question.")] = (
        None
    )
    format_: TableFormatOption = None

    @property
    def changes(self) -> bool:
        """Whether a question is saved or deleted."""
        return self.save is not None or self.delete is not None

    def check(self) -> None:
        """Raise the error of typer for options that do not go together."""
        if self.parameter and (self.query is None or self.save is not None):
            raise typer.BadParameter("values are for what is run", param_hint="--param")
        if self.changes:
            saves = self.save is not None
            if (self.query is not None) != saves or (saves and self.delete is not None):
                raise typer.BadParameter(
                    "--save takes a SELECT and a name, --delete only a name", param_hint="--save"
                )
        elif self.query is None and not self.saved:
            raise typer.BadParameter("give a table or a SELECT, or --saved", param_hint="QUERY")
        elif self.query is not None and self.format_ == "csv" and self.rows is not None:
            raise typer.BadParameter(
                "csv prints all rows; use LIMIT in the query", param_hint="--rows"
            )


@with_settings_options
def query_command(settings_options: SettingsOptions, options: QueryOptions) -> None:
    """Print the rows of a table or of one SELECT, run as the server runs it.

    With --format csv all rows are printed, up to [analytics] max_rows; else the first ones, and
    their exact number.
    """
    values = _values(options.parameter or [])
    options.check()
    with open_tables(settings_options) as tables:
        if options.changes:
            _change_saved(tables, options)
        elif options.query is None:
            _print_questions(tables, options.format_)
        else:
            _run(tables, options.query, values, options)


def _change_saved(tables: OpenTables, options: QueryOptions) -> None:
    """Save or delete a question, and say so."""
    mode: SaveMode = "replace" if options.replace else "create"
    name, query = options.save, options.query
    if name is None:
        mode, name = "delete", options.delete
    questions = tables.analytics.questions
    save = partial(questions.save, name or "", query, options.description, mode, "--replace")
    _print_saved(tables.form(options.format_), tables.answer(save))


def _print_questions(tables: OpenTables, flag: TableFormat | None) -> None:
    questions = tables.analytics.questions.listed()
    form = tables.form(flag)
    own, own_sentence = (heading_language(), in_own_language) if form == "table" else (str, str)
    rows = [
        [
            question["name"],
            question["parameters"],
            # Questions with SQL are the user's own, whose descriptions are not translated.
            question["description"] if "sql" in question else own_sentence(question["description"]),
        ]
        for question in questions
    ]
    headings = [own(key) for key in _LISTED]
    print_answer(form, {"questions": questions}, own("questions"), headings, rows)


def _run(tables: OpenTables, query: str, values: Mapping[str, str], options: QueryOptions) -> None:
    """Print the rows of a table, a SELECT or a saved question."""
    questions, form = tables.analytics.questions, tables.form(options.format_)
    prepare: Callable[[], sql.Prepared] = partial(sql.Prepared, query)
    read, most = query, options.rows or _ROWS
    if options.saved or values:
        how = questions.prepare_saved if options.saved else questions.prepare
        prepare, read = partial(how, query, values), questions.sql_of(query, values)

    def work() -> sql.JsonAnswer:
        if form == "csv":
            prepared = prepare()
            _write_csv(questions.file(prepared, "csv", None).path)
            warnings = [*tables.analytics.queries.take_warnings(), *prepared.notes]
            return sql.with_warnings({}, warnings)
        return questions.first_rows(prepare(), most)

    answer = tables.answer(work, read)
    if "rows" in answer:
        _print_table(form, answer, most)


def _write_csv(rows: Path) -> None:
    """Write all rows to stdout."""
    sys.stdout.flush()
    begin_data()
    try:
        if sys.stdout.isatty():
            print_part(rows.read_text(encoding="utf-8"))
        else:
            with rows.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    finally:
        rows.unlink()


def _print_table(form: TableFormat, answer: dict[str, Any], most: int) -> None:
    shown, total = answer["rows"][:most], answer["total_rows"]
    count = f"{len(shown):,} {heading_language()('rows')}"
    print_answer(form, {**answer, "rows": shown}, count, answer["columns"], shown)
    if len(shown) < total:
        say(f"{len(shown):,} of {total:,} rows; all of them: --format csv, or mdvec export")


def _print_saved(form: TableFormat, answer: dict[str, Any]) -> None:
    if form == "json":
        print_json(answer)
    if "deleted" in answer:
        if form != "json":
            print_sentence(f"deleted {answer['deleted']}")
        return
    types = answer["parameters"]
    if form != "json":
        print_sentence(f"saved {answer['saved']}")
    options = "".join(f" -p {name}=<{kind}>" for name, kind in types.items())
    say(f"run it with: mdvec query --saved {answer['saved']}{options}")


def _values(arguments: list[str]) -> dict[str, str]:
    """The values of parameters, by their names."""
    values = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{argument!r} is not NAME=VALUE", param_hint="--param")
        values[name] = value
    return values
