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
"""How long a list determines types; further questions have their stored types."""


def saved_now(queries: QueryProcess, database: Path) -> Iterator[SavedQuery]:
    """The saved questions; parameters have the types that follow from the current data.

    Questions that no longer run, or whose turn comes after ``_MAX_SECONDS``, have stored types.

    Raises:
        DatabaseError: the database cannot be read.
    """
    until = time.monotonic() + _MAX_SECONDS
    for query in saved_queries(database):
        now = query
        if query.parameters and time.monotonic() < until:
            with suppress(QueryError):  # running it reports the reason
                now = replace(query, parameters=queries.judged(query.sql).parameters)
        yield now
