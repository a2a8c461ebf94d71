"""Finds the form of a failed query that runs: judged and bound in the child, never run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.mending.search import QueryProposal, propose_query

_SECONDS = 0.7


class _OutOfTime(BaseException):
    """The search for a form took too long."""


@dataclass(frozen=True, slots=True)
class Mender:
    """Mends queries over the tables of one connection.

    Args:
        judge: raises if a query is not allowed or cannot be planned.
        tables: the columns of the tables that exist now.
    """

    judge: Callable[[str], None]
    tables: Mapping[str, Sequence[Column]]

    def propose(self, sql: str, message: str) -> QueryProposal | None:
        """A form that the judge allows and DuckDB can bind; None if none is found in time."""
        try:
            with _time_limit():
                return propose_query(sql, message, self.tables, self.why_not)
        except (_OutOfTime, RecursionError):
            return None

    def why_not(self, sql: str) -> str | None:
        """Why a query is refused or cannot be planned; None if it can run."""
        try:
            self.judge(sql)
        except Exception as error:  # noqa: BLE001 - DuckDB's errors, or a refusal
            return str(error)
        return None


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise _OutOfTime after some of this process's time; outside of the main thread never."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: object) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
