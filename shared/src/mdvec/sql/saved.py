"""The saved questions with the current types of their parameters, which depend on the tables."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mdvec.queries import SavedQuery, saved_queries
from mdvec.sql.core.refusals import QueryError
from mdvec.sql.process.query_process import QueryProcess

_MAX_SECONDS = 1.0
"""How long ``saved_now`` may determine types."""


def saved_now(queries: QueryProcess, database: Path) -> Iterator[SavedQuery]:
    """The saved questions, with the types of their parameters for the current tables.

    After ``_MAX_SECONDS``, and for questions that no longer run, these are the stored types. Raises
    DatabaseError.
    """
    until = time.monotonic() + _MAX_SECONDS
    for query in saved_queries(database):
        now = query
        if query.parameters and time.monotonic() < until:
            with suppress(QueryError):  # running it reports the reason
                now = replace(query, parameters=queries.judged(query.sql).parameters)
        yield now
