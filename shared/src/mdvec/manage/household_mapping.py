"""Commands for one household: map a statement, export the ledger, list expenses.

Functions that take a household's name raise ToolNotFound if no tool has it, and NoHousehold if the
tool is of another kind.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Literal

from mdvec.database import open_database, snapshot
from mdvec.errors import MdvecError
from mdvec.household import (
    ExpenseList,
    Ledger,
    LedgerFormat,
    ListName,
    MappingRefused,
    NotTransactions,
    StatementPreview,
    expense_list,
    export_ledger,
    preview_statement,
)
from mdvec.manage.registering import find_tool, tools_so_far
from mdvec.platform import followed
from mdvec.tools import Tool


class NoHousehold(MdvecError):
    """The named tool is not a household."""


def map_statement(
    database: Path, file: Path, name: str | None, *, account: str = "", save: bool = False,
    stated: Sequence[str] = (), language: Literal["en", "ja"] = "en",
) -> StatementPreview:  # fmt: skip
    """Show how a household reads a file, and store the mapping if ``save``.

    ``stated`` are lines of TOML that replace the proposal; ``language`` is that of the questions.
    Without ``name``, the household is the one whose folder has the file, or the only household; the
    file is shown even if there is no household. A path that does not exist in the working folder is
    tried in the household's folder.

    Raises:
        MappingRefused: the file cannot be read, or has a mapping already.
        NotMappable, NotTransactions: the file cannot be read as a statement.
    """
    tool = _household(database, name, file)
    source = None if tool is None else tool.source
    if source is not None and not file.exists() and (source / file).exists():
        file = source / file
    try:
        shown = preview_statement(
            file, source, account=account, save=save, stated=stated, language=language
        )
    except NotTransactions as error:  # imports name the file themselves
        raise NotTransactions(f"{file} cannot be read as a statement: {error}") from error
    return replace(shown, household="" if tool is None else tool.name)


def export_household(
    database: Path, name: str, format_: LedgerFormat, since: date | None, until: date | None
) -> Iterator[str]:
    """A household's ledger as text in another program's format, in pieces."""
    tool = _household_named(database, name)
    with open_database(database, "read") as connection, snapshot(connection):
        yield from export_ledger(Ledger.undated(connection, tool.id), format_, since, until)


def household_expenses(
    database: Path, name: str, list_: ListName, year: int | None, today: date
) -> ExpenseList:
    """A household's list for the tax return, by default of its latest year.

    Raises:
        EmptyLedger, InsufficientData: the ledger has nothing for the year.
    """
    tool = _household_named(database, name)
    with open_database(database, "read") as connection:
        return expense_list(Ledger(connection, tool.id, today), list_, year=year, limit=sys.maxsize)


def _household_named(database: Path, name: str) -> Tool:
    tool = find_tool(database, name)
    if tool.kind != "household":
        raise NoHousehold(f"the tool {name!r} is a {tool.kind}, not a household")
    return tool


def _household(database: Path, name: str | None, file: Path) -> Tool | None:
    if name is not None:
        return _household_named(database, name)
    households = [tool for tool in tools_so_far(database) if tool.kind == "household"]
    if len(households) > 1:
        path = followed(file)
        around = [tool for tool in households if path.is_relative_to(followed(tool.source))]
        if len(around) == 1:
            return around[0]
        names = ", ".join(tool.name for tool in households)
        raise MappingRefused(f"there are several households ({names}); name one: --name NAME")
    return households[0] if households else None
