"""Builds the search indexes that a tool lacks as an import begins; nothing is embedded."""

from __future__ import annotations

from collections.abc import Callable

from mdvec.database.connection import Connection
from mdvec.importing.job import ImportJob, check_unchanged
from mdvec.index import chunks, tables
from mdvec.index.outbox import has_outbox
from mdvec.index.tables import Tables
from mdvec.index.vector_tables import rebuild_vector_index
from mdvec.tools.rows import Tool


def build_missing_indexes(job: ImportJob, tool: Tool, names: Tables) -> None:
    """Build what is missing or of another version, and put vectors where the settings want them."""
    connection = job.connection
    if not tables.has_indexes(connection, names):
        _build(job, tool, names, "search indexes", chunks.rebuild_indexes)
    elif not tables.has_current_words(connection, names) or not tables.has_properties(
        connection, names
    ):
        _build(job, tool, names, "index of words", chunks.rebuild_word_indexes)
    _move_vectors(job, tool, names)


def _build(
    job: ImportJob,
    tool: Tool,
    names: Tables,
    which: str,
    build: Callable[[Connection, Tables], None],
) -> None:
    job.on_notice(f"building the {which} of {tool.name!r} for this version of mdvec …")
    with job.connection, job.stopwatch.stage("index"):
        check_unchanged(job.connection, tool)
        build(job.connection, names)


def _move_vectors(job: ImportJob, tool: Tool, names: Tables) -> None:
    """Move the index of the vectors between the database file and a server."""
    engine = job.request.engine
    if has_outbox(job.connection, names) == (engine is not None):
        return
    where = "the database file" if engine is None else engine.name
    job.on_notice(f"moving the vectors of {tool.name!r} to {where} …")
    with job.connection, job.stopwatch.stage("index"):
        check_unchanged(job.connection, tool)
        rebuild_vector_index(job.connection, names, outside=engine is not None)
