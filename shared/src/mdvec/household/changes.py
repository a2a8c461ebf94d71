"""How a transaction's stored state differs from that in the files."""

from __future__ import annotations

from typing import NamedTuple

from mdvec.household.core.source_row import SourceRow
from mdvec.household.interfaces.rows import RowToWrite, StoredRow


class RowChange(NamedTuple):
    """The new state of a transaction beside its stored one."""

    identity: str
    stored: StoredRow | None
    now: RowToWrite

    @property
    def has_new_values(self) -> bool:
        """Whether a stored row gets other values."""
        return self.stored is not None and self.stored.values != self.now.row.values

    @property
    def returns(self) -> bool:
        """Whether a row that was gone is in a file again."""
        return (
            self.stored is not None
            and self.stored.removal in ("asked", "removed")
            and self.now.removal is None
        )


def differs(stored: StoredRow, row: SourceRow, statement_id: int, removal: str | None) -> bool:
    """Whether a stored row's values, place or state differ from what they should be."""
    return (
        stored.values != row.values
        or (stored.source_file, stored.row_number) != (row.source_file, row.row_number)
        or (stored.statement, stored.removal) != (statement_id, removal)
    )
