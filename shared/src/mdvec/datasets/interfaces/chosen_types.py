"""Refuses a table whose values are not what the user says a column holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mdvec.datasets.core.value_types import ValueKind, kinds_of
from mdvec.files.scan import UnreadableFile

if TYPE_CHECKING:
    import duckdb

_MAX_SHOWN = 40


def kind_as_chosen(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    choice: str,
    found: ValueKind | None,
    cells: str,
) -> ValueKind | None:
    """The kind of a column that the user chose; None for text.

    Args:
        connection: where the column can be read.
        name: the column's name.
        choice: a key of ``CHOICES``.
        found: the kind that all values fit, if there is one.
        cells: SQL of the column's cells, called ``cell``.

    Raises:
        UnreadableFile: a value does not fit the choice.
    """
    kinds: Sequence[ValueKind] = kinds_of(choice)
    if found is not None or not kinds:
        return found
    fits = " OR ".join(f"coalesce({kind.holds('cell')}, false)" for kind in kinds)
    values = f"FROM ({cells}) WHERE {ValueKind.is_value('cell')}"
    odd = connection.execute(f"SELECT cell {values} AND NOT ({fits}) LIMIT 1").fetchone()
    if odd is None and connection.execute(f"SELECT 1 {values} LIMIT 1").fetchone() is None:
        return kinds[0]
    what = "its values are of several kinds" if odd is None else f"it holds {_shown(odd[0])}"
    raise UnreadableFile(
        f"its column {name!r} cannot be read as {choice}: {what}; "
        "choose another type with --read, or auto"
    )


def _shown(value: str) -> str:
    return repr(value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}…")
