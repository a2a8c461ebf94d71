"""Recreates the materialized tables after the child was replaced."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from mdvec_mcp.analytics.core.naming import named
from mdvec_mcp.analytics.core.refusals import QueryError
from mdvec_mcp.analytics.process.messages import Data
from mdvec_mcp.analytics.process.requests import columns_in, materialize_request
from mdvec_mcp.analytics.process.running_child import ChildDied, RunningChild
from mdvec_mcp.analytics.process.table_registry import MaterializedTable, TableRegistry


@dataclass(frozen=True, slots=True)
class Remaking:
    """Fills a new child with the registered tables, as far as that is possible.

    Args:
        child: the new child; restarted where making a table kills it.
        data: the current data of the user.
        seconds: the time limit for all tables together, as the next query waits for them.
        warn: gets a sentence about each table that was lost or made from changed data.
    """

    child: RunningChild
    registry: TableRegistry
    data: Callable[[], Data]
    seconds: float
    warn: Callable[[str], None]

    def remake_all(self) -> None:
        """Recreate every table; drop from the registry those that fail.

        Warns of those that were made from other data.
        """
        deadline = time.monotonic() + self.seconds
        waiting = self.registry.take_all()
        stamps = {table.id: table.stamp for table in waiting}
        while waiting:
            table = waiting.pop(0)
            try:
                trouble = self._remake(table, deadline)
            except ChildDied as died:
                # The tables made so far died with the child; they are made once more.
                trouble, waiting = str(died.reason), self.registry.take_all() + waiting
            if trouble is not None:
                self.registry.lose(table)
                self.warn(f"the materialized table {table.name} is gone: {trouble}")
        remade = [table.name for table in self.registry if table.stamp != stamps[table.id]]
        if remade:
            self.warn(f"the data have changed; made again from them: {named(remade)}")

    def _remake(self, table: MaterializedTable, deadline: float) -> str | None:
        """Recreate one table; returns the reason if that fails."""
        if not self.registry.has_all(table.needs):
            return "a table that it was made of is gone"
        if time.monotonic() > deadline:
            return "there was no time to make it again"
        request = materialize_request(table.name, table.source, table.sql, replace=False)
        try:
            if not self.child.is_running:
                self.child.start(self.data())
            response = self.child.request(request)
        except QueryError as error:
            return str(error)
        columns = columns_in(response["columns"])
        stamp = self.child.stamp
        self.registry.put(replace(table, rows=response["rows"], columns=columns, stamp=stamp))
        return None
