"""All printing: results on stdout as tables, lines or JSON; messages on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer
from mdvec.text import on_one_line

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

STOPPED = 130
"""The exit code of a command interrupted by Ctrl-C."""


def say(message: str) -> None:
    """Print a message to stderr; stdout is for results only."""
    typer.echo(message, err=True)


def print_line(line: str) -> None:
    """Print a line of the result."""
    typer.echo(line)


def print_text(text: str) -> None:
    """Print a text as it is; its last line ends."""
    typer.echo(text, nl=not text.endswith("\n"))


def print_json(value: DataclassInstance | Sequence[DataclassInstance] | dict[str, object]) -> None:
    """Print the whole result as JSON."""
    plain: object
    if isinstance(value, dict):
        plain = value
    elif isinstance(value, Sequence):
        plain = [asdict(item) for item in value]
    else:
        plain = asdict(value)
    typer.echo(json.dumps(plain, ensure_ascii=False, indent=2, default=_plain))


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    numbers: Collection[int] = (),
) -> None:
    """Print a table on a terminal; elsewhere one line per row, with tabs between columns.

    The columns at the places ``numbers`` are aligned to the right.
    """
    shown = [[_shown(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in [list(columns), *shown]:
            print_line("\t".join(cell.replace("\t", " ") for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for position, column in enumerate(columns):
        justify: Literal["left", "right"] = "right" if position in numbers else "left"
        table.add_column(Text(column), overflow="fold", justify=justify)
    for row in shown:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def print_facts(title: str, facts: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one pair per line."""
    print_table(title, ("", title) if sys.stdout.isatty() else ("fact", "value"), facts)


def _shown(cell: object) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return on_one_line(str(cell))


def _plain(value: object) -> str:
    if isinstance(value, (Path, date)):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def confirmed(question: str) -> bool:
    """Whether the user answers yes; in a pipe there is nobody to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return typer.confirm(question, default=False, err=True)
