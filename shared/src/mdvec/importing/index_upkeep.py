"""Builds the search indexes that a tool lacks as an import begins, and sends vectors at its end."""

from __future__ import annotations

from collections.abc import Callable

from mdvec.database.connection import Connection
from mdvec.importing.job import ImportJob, check_unchanged
from mdvec.index import chunks, tables
from mdvec.index.chroma_collections import (
    MAX_UNSENT,
    check_writer,
    collection_of,
    delete_unused_collections,
    send_vectors,
    unsent_count,
)
from mdvec.index.nearest import EngineUnavailable
from mdvec.index.tables import Tables
from mdvec.index.vector_tables import has_vector_index, rebuild_vector_index
from mdvec.tools.rows import Tool


def build_missing_indexes(job: ImportJob, tool: Tool, names: Tables) -> None:
    """Build what is missing or of another version, and put vectors where the settings want them.

    Raises:
        OtherWriter: another copy of the database has changed the vectors on a server.
    """
    connection = job.connection
    if not (tables.has_word_indexes(connection, names) and has_vector_index(connection, names)):
        _build(job, tool, names, "search indexes", chunks.rebuild_indexes)
    elif not tables.has_current_words(connection, names) or not tables.has_properties(
        connection, names
    ):
        _build(job, tool, names, "index of words", chunks.rebuild_word_indexes)
    _move_vectors(job, tool, names)
    if job.request.engine is not None:
        check_writer(connection, names, job.request.engine)


def send_to_engine(job: ImportJob, names: Tables) -> None:
    """Send a generation's vectors to the server that indexes them, if one does.

    Raises:
        OtherWriter: another copy of the database has changed the vectors there meanwhile.
    """
    engine = job.request.engine
    if engine is None:
        return
    count = unsent_count(job.connection, names) or 0
    if count > MAX_UNSENT:
        job.on_notice(f"sending {count:,} vectors to {engine.name} …")
    try:
        with job.stopwatch.stage("engine"):
            send_vectors(job.connection, names, engine)
            delete_unused_collections(job.connection, engine)
    except EngineUnavailable as error:
        job.hints.append(
            f"{error}; nothing is lost, and the next import sends what is missing there "
            f"(mdvec import -n {job.tool.name} --mode update)"
        )


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
    if (collection_of(job.connection, names) is None) == (engine is None):
        return
    where = "the database file" if engine is None else engine.name
    job.on_notice(f"moving the vectors of {tool.name!r} to {where} …")
    with job.connection, job.stopwatch.stage("index"):
        check_unchanged(job.connection, tool)
        rebuild_vector_index(job.connection, names, outside=engine is not None)
