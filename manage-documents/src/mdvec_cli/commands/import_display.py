"""What a terminal shows of an import: a progress bar, sentences beside it, and questions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from mdvec_cli.commands.output import say

if TYPE_CHECKING:
    from mdvec.importing.report import Progress


@dataclass(frozen=True, slots=True)
class ImportDisplay:
    """How an import speaks to its user: progress, sentences, and questions answered by yes."""

    show: Callable[[Progress], None]
    tell: Callable[[str], None]
    ask: Callable[[str], bool]


@contextmanager
def import_display(name: str, *, quiet: bool) -> Iterator[ImportDisplay]:
    """A progress bar on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield ImportDisplay(lambda _: None, say, confirmed)
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

        def ask(question: str) -> bool:
            bar.stop()
            try:
                return confirmed(question)
            finally:
                bar.start()

        yield ImportDisplay(show, tell, ask)


def confirmed(question: str) -> bool:
    """Whether the user answers yes; in a pipe there is nobody to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return typer.confirm(question, default=False, err=True)
