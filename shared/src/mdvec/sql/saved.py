"""The saved questions as they would run now: the types of their parameters follow the tables."""

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
"""What a list waits for types; those of further questions are as they were saved."""


def saved_now(queries: QueryProcess, database: Path) -> Iterator[SavedQuery]:
    """The saved questions; one that runs no longer has the types with which it was saved.

    Raises:
        DatabaseError: the database cannot be read.
    """
    until = time.monotonic() + _MAX_SECONDS
    for query in saved_queries(database):
        now = query
        if query.parameters and time.monotonic() < until:
            with suppress(QueryError):  # whoever runs it is told why
                now = replace(query, parameters=queries.judged(query.sql).parameters)
        yield now
