"""Which data a call asks for, so that its answer speaks of no other source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdvec.datasets.core.names import HOUSEHOLD_TABLE, table_name
from mdvec.tools.kinds import KINDS

from mdvec_mcp.analytics.core.statement import fold

if TYPE_CHECKING:
    from mdvec.sync.freshness import Freshness


@dataclass(frozen=True, slots=True)
class RequestedData:
    """What a call asks for; without SQL and tool, everything.

    Attributes:
        sql: a table's name or a query; None for a call that runs none.
        tool: the dataset whose own tool is called.
    """

    sql: str | None = None
    tool: str | None = None

    def concerns(self, found: Freshness, materialized: Iterable[str]) -> bool:
        """Whether the answer may come from this source.

        A query over one of the ``materialized`` tables may come from any.
        """
        if self.sql is None:
            return self.tool in (None, found.tool)
        own = HOUSEHOLD_TABLE if KINDS[found.kind].has_ledger else table_name(found.tool)
        names = (own, *materialized)
        return found.tool == self.tool or any(_has_table(self.sql, name) for name in names)


def _has_table(sql: str, name: str) -> bool:
    """Whether SQL holds the name of a table, or one that continues it with '__'."""
    return re.search(rf"(?<!\w){re.escape(fold(name))}(?!(?!__)\w)", fold(sql)) is not None
