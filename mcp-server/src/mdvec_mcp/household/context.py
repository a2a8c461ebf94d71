"""Asking a household: which one is meant, its connection, and refusals in Japanese."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError
from mdvec.database.connection import DatabaseError, Mode, open_database
from mdvec.errors import MdvecError
from mdvec.tools.rows import Tool
from pydantic import Field

from mdvec_mcp.database_trouble import (
    emptied_in_japanese,
    in_japanese,
    is_emptied,
)

logger = logging.getLogger("mdvec")

Result = TypeVar("Result")
Households = Callable[[], list[Tool]]
"""The active households of this moment."""

NO_HOUSEHOLD = (
    "有効な家計簿のツールがありません。無効にしてあるものは mdvec tool enable で有効にし、"
    "まだないときは mdvec tool add --kind household で追加してください"
)
Household = Annotated[
    str | None, Field(description="家計簿のツール名。家計簿が複数あるときだけ必要。")
]


async def asked(
    database: Path,
    households: Households,
    name: str | None,
    mode: Mode,
    work: Callable[..., Result],
) -> Result:
    """What ``work`` returns for a connection of its own and the household of that name."""

    def answer() -> Result:
        with refused():
            there = households()
            if not there and is_emptied(database):
                raise ToolError(emptied_in_japanese(database))
            household = household_of(there, name)
            with open_database(database, mode) as connection:
                return work(connection, household.id)

    # A decision is written whole or not at all, whether or not anybody waits for it.
    return await anyio.to_thread.run_sync(answer, abandon_on_cancel=True)


@contextmanager
def refused() -> Iterator[None]:
    """Turn the library's errors into what the model is told."""
    try:
        yield
    except DatabaseError as error:
        logger.warning("household: %s", error)
        raise ToolError(in_japanese(error)) from error
    except MdvecError as error:
        raise ToolError(str(error)) from error


def household_of(tools: list[Tool], name: str | None) -> Tool:
    """The household of that name, or the only one."""
    there = {tool.name: tool for tool in tools}
    names = "、".join(there)
    if not there:
        raise ToolError(NO_HOUSEHOLD)
    if name is None and len(there) > 1:
        raise ToolError(f"家計簿が複数あります。tool に次のいずれかを指定してください: {names}")
    if name is not None and name not in there:
        raise ToolError(f"家計簿「{name[:80]}」が見つかりません。指定できる名前: {names}")
    return there[name] if name is not None else tools[0]
