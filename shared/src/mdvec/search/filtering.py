"""Applies a search's filters to a tool's chunks, and explains an empty result."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

import apsw
import numpy as np
from numpy.typing import NDArray

from mdvec import index
from mdvec.search.core.filters import Filters
from mdvec.text import (
    counted,
    folded,
    folded_tag,
    nearest_texts,
    quoted,
    shortened,
    shown_name,
    some_of,
)
from mdvec.tools import KINDS, Tool, not_imported

_MAX_NAMED_TAGS, _MAX_NAMED_FILES = 5, 3
_NOT_SEARCHED = (
    "across two passages or in what is not searched (a script, a long address, or front matter, "
    "which where reads)"
)
_NOT_READ = (
    "whether other documents have the exact texts outside of passages was not checked; the files "
    "were too long to read"
)
Said = dict[tuple[str, bool], set[int]]
"""The documents of a tool that say a text: by the text, and whether longer words may have it."""
_ROWS_ARE_FOUND = "the household's own tools find rows by words, days and amounts"


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The chunks of a tool that pass the filters; None for all of them.

    ``notes`` say why the filters could not be applied, or what they excluded implicitly.
    ``excluded`` maps each text to exclude to the number of chunks that it excluded.
    ``is_left_out``: the filters are for other kinds of tools.
    """

    chunks: index.ChunkRanges | None
    notes: tuple[str, ...] = ()
    excluded: Mapping[str, int] = field(default_factory=dict)
    is_left_out: bool = False


ALL_CHUNKS = Narrowed(None)


def narrow(connection: apsw.Connection, tool: Tool, filters: Filters) -> Narrowed:
    """The chunks of a tool that pass the filters."""
    if filters.is_empty or tool.model is None:
        return ALL_CHUNKS
    if KINDS[tool.kind].is_made_of_records:
        return Narrowed(index.no_chunks(), (without_rows(tool),), is_left_out=True)
    if not _is_current(connection, tool, filters):
        return Narrowed(
            None,
            (
                f"{tool.name} was searched without the filters ({filters.in_words}): what they "
                f"need is read by the next import (mdvec import -n {tool.name} --mode update)",
            ),
        )
    chunks, notes, excluded = None, list[str](), dict[str, int]()
    if not filters.of_documents.is_empty:
        condition = _condition(connection, tool, filters)
        chunks = index.chunks_passing(tool.tables_in(connection), condition)
        notes += _about_passing(connection, tool, filters)
    if filters.is_of_passages:
        chunks, excluded = _saying(connection, tool, filters, chunks)
    return Narrowed(chunks, tuple(notes), excluded)


def searched_tools(tools: Sequence[Tool], narrowed: Sequence[Narrowed]) -> list[Tool]:
    """The tools that the filters do not leave out, or all if they leave out every one."""
    pairs = zip(tools, narrowed, strict=True)
    return [tool for tool, left in pairs if not left.is_left_out] or list(tools)


def left_by_exact(
    connection: apsw.Connection,
    filters: Filters,
    tools: Sequence[Tool],
    narrowed: Sequence[Narrowed],
) -> tuple[int, int]:
    """How many passages the filters leave, and of how many documents; 0 without an exact text."""
    passages = documents = 0
    for tool, left in zip(tools, narrowed, strict=True):
        if filters.exact and left.chunks is not None:
            ids = left.chunks.ids().tolist()
            passages += len(ids)
            documents += len(index.documents_of_chunks(tool.tables_in(connection), ids))
    return passages, documents


def about_excluded(unit: str, excluded: Iterable[tuple[Tool, Mapping[str, int]]]) -> list[str]:
    """Notes on how much each text excluded by tool; one note for a text that matched nothing."""
    notes: dict[str, list[str]] = {}
    for tool, counts in excluded:
        for words, number in counts.items():
            of_words = notes.setdefault(words, [])
            if number:
                of_words.append(f'"{words}" excluded {counted(number, unit)} of {tool.name}')
    return [
        note
        for words, of_words in notes.items()
        for note in of_words or [f'"{words}" excluded nothing']
    ]


def _is_current(connection: apsw.Connection, tool: Tool, filters: Filters) -> bool:
    """Whether the index has all data that the filters need."""
    tables = tool.tables_in(connection)
    has_stated = index.has_properties if filters.links_to is None else index.has_links
    return has_stated(tables) and (not filters.is_of_passages or index.has_usable_words(tables))


def _ids_within(
    connection: apsw.Connection, tool: Tool, chunks: index.ChunkRanges | None
) -> NDArray[np.int64]:
    return index.chunk_ids(tool.tables_in(connection)) if chunks is None else chunks.ids()


def only_subjects(tool: Tool) -> str:
    """Why a tool of records may not answer a question."""
    return f"in {tool.name} only shops, categories and memos are searched; {_ROWS_ARE_FOUND}"


def without_rows(tool: Tool) -> str:
    """Why a tool of records is left out of filtered searches and of listings."""
    return f"{tool.name} was left out: these filters are for notes and documents; {_ROWS_ARE_FOUND}"


def without_document(
    connection: apsw.Connection, tool: Tool, narrowed: Narrowed, file_path: str
) -> Narrowed:
    """The chunks that pass the filters, without those of a document."""
    ids = _ids_within(connection, tool, narrowed.chunks)
    own = index.chunks_at(tool.tables_in(connection), file_path)
    return replace(narrowed, chunks=index.single_chunks(np.setdiff1d(ids, own, assume_unique=True)))


def _saying(
    connection: apsw.Connection, tool: Tool, filters: Filters, within: index.ChunkRanges | None
) -> tuple[index.ChunkRanges, dict[str, int]]:
    """The chunks with the exact and without the excluded texts, and how many each text excluded."""
    ids = _ids_within(connection, tool, within)
    for words in filters.exact:
        saying = index.chunks_saying(tool.tables_in(connection), words, inside=True)
        ids = np.intersect1d(ids, saying, assume_unique=True)
    if filters.open_tasks:
        ids = np.intersect1d(
            ids, index.chunks_with_tasks(tool.tables_in(connection)), assume_unique=True
        )
    excluded = {}
    for words in filters.exclude:
        saying = index.chunks_saying(tool.tables_in(connection), words, inside=False)
        left = np.setdiff1d(ids, saying, assume_unique=True)
        excluded[words] = len(ids) - len(left)
        ids = left
    return index.single_chunks(ids), excluded


def passing_documents(
    connection: apsw.Connection, tool: Tool, filters: Filters, said: Said
) -> tuple[list[int], tuple[str, ...], dict[str, int]]:
    """The ids of a tool's documents that pass the filters, with notes and counts as ``Narrowed``.

    A document passes ``exclude`` if none of its passages has the text, ``exact`` if each text is in
    any of them. ``said`` gets what was found, and saves reading it again.
    """
    rest = replace(filters, exclude=(), exact=())
    is_current = _is_current(connection, tool, filters)
    if rest.is_of_passages or not is_current:
        narrowed = narrow(connection, tool, rest if is_current else filters)
        ids = _ids_within(connection, tool, narrowed.chunks)
        passing, notes = (
            index.documents_of_chunks(tool.tables_in(connection), ids.tolist()),
            narrowed.notes,
        )
    else:
        condition = _condition(connection, tool, rest)
        passing = index.documents_passing(tool.tables_in(connection), condition)
        notes = tuple(_about_passing(connection, tool, rest))

    for words in filters.exact if is_current else ():
        saying = _documents_saying(connection, tool, words, said, inside=True)
        passing = [number for number in passing if number in saying]
    excluded = {}
    for words in filters.exclude if is_current else ():
        saying = _documents_saying(connection, tool, words, said, inside=False)
        left = [number for number in passing if number not in saying]
        excluded[words] = len(passing) - len(left)
        passing = left
    return passing, notes, excluded


def _documents_saying(
    connection: apsw.Connection, tool: Tool, words: str, said: Said, *, inside: bool
) -> set[int]:
    if (words, inside) not in said:
        tables = tool.tables_in(connection)
        said[words, inside] = index.documents_saying(tables, words, inside=inside)
    return said[words, inside]


def only_outside_passages(
    connection: apsw.Connection, tool: Tool, filters: Filters, passing: Collection[int], said: Said
) -> dict[str, list[str]] | None:
    """The paths of documents that pass all filters, but have exact texts only outside of passages.

    They are given by each such text; ``passing`` are the documents that are listed. None if there
    is too much text to read.
    """
    rest, _, _ = passing_documents(connection, tool, replace(filters, exact=()), said)
    left = set(rest).difference(passing)
    outside: dict[str, dict[int, str]] = {}
    for words in filters.exact if left else ():
        in_passages = _documents_saying(connection, tool, words, said, inside=True)
        lacking = sorted(left - in_passages)
        paths = index.paths_saying(tool.tables_in(connection), words, lacking) if lacking else {}
        if paths is None:
            return None
        outside[words] = paths
        left &= in_passages | paths.keys()
    return {
        words: [path for number, path in paths.items() if number in left]
        for words, paths in outside.items()
    }


def about_outside(outside: Sequence[Mapping[str, Sequence[str]] | None]) -> list[str]:
    """Notes on documents that a listing lacks, by the results of ``only_outside_passages``."""
    by_words: defaultdict[str, list[str]] = defaultdict(list)
    for words, paths in chain.from_iterable(each.items() for each in outside if each is not None):
        by_words[words] += map(shown_name, paths)
    notes = [
        f'documents without a passage that says "{words}" whole are not listed; {_NOT_SEARCHED}, '
        f"it is in {some_of(paths, _MAX_NAMED_FILES)}"
        for words, paths in by_words.items()
        if paths
    ]
    return [*notes, _NOT_READ] if None in outside else notes


def _about_passing(connection: apsw.Connection, tool: Tool, filters: Filters) -> list[str]:
    """Notes on how filters of documents were interpreted, and on what they excluded implicitly."""
    notes = _without_dates(connection, tool, filters)
    named = None if filters.path is None else filters.path.with_its_sign
    if named is not None:
        condition = index.Condition(path_matches=named.matches)
        if index.documents_passing(tool.tables_in(connection), condition):
            pattern = quoted(str(filters.path and filters.path.written))
            notes.append(
                f"path {pattern} was read as all files but those, as in .gitignore; for what is "
                f"called so in {tool.name} write a backslash before the !"
            )
    return notes


def _without_dates(connection: apsw.Connection, tool: Tool, filters: Filters) -> list[str]:
    """A note on documents that only a filter of days excludes, because they have no date."""
    if filters.since is None and filters.until is None:
        return []
    rest = replace(filters, since=None, until=None)
    passing, _, _ = passing_documents(connection, tool, rest, {})
    count = index.count_undated(tool.tables_in(connection), passing)
    if not count:
        return []
    return [
        f"documents of {tool.name} without a date that is read (date, created, updated "
        "or the like in the front matter, or the name), which since and until leave out: "
        f"{count:,}"
    ]


def explain_empty(connection: apsw.Connection, requested: Sequence[Tool], filters: Filters) -> str:
    """Explain which filter excludes all notes of the tools, or that only their combination does."""
    names = ", ".join(tool.name for tool in requested)
    if filters.is_empty:
        return f"there is no other document in {names}"
    imported = [tool for tool in requested if tool.model is not None]
    for single, _ in filters.each():
        left = (narrow(connection, tool, single).chunks for tool in imported)
        if not any(chunks is None or chunks.size for chunks in left):
            return _explain(connection, requested, names, single)
    return f"something of {names} passes each filter alone, nothing passes all: {filters.in_words}"


def _explain(
    connection: apsw.Connection, requested: Sequence[Tool], names: str, single: Filters
) -> str:
    """Why a single filter leaves nothing."""
    if single.is_of_passages:
        return _without_passages(connection, requested, names, single)
    if single.tags:
        tag = single.tags[0]
        nearest = _entries_with(connection, requested, tag) or _nearest(connection, requested, tag)
        return f"no note of {names} has the tag {tag}; {nearest}"
    if single.path:
        return f"no note of {names} has a path like {single.path.written}"
    if single.links_to is not None:
        name = single.links_to
        is_there = any(
            index.documents_called(tool.tables_in(connection), name) for tool in requested
        )
        if not is_there and (waiting := not_imported(connection, requested, name)):
            return waiting
        what = "links to" if is_there else "is called, or links to,"
        return f"no note of {names} {what} {quoted(name)}"
    if single.where:
        return _without_value(connection, requested, names, single.where[0][0])
    return f"no note of {names} is dated {single.days_in_words}"


def _without_passages(
    connection: apsw.Connection, requested: Sequence[Tool], names: str, single: Filters
) -> str:
    if single.open_tasks:
        return f"no note of {names} has an open task"
    if single.exact:
        return _without_exact(connection, requested, names, single.exact[0])
    return f'every passage of {names} says "{single.exclude[0]}"'


def _without_exact(
    connection: apsw.Connection, requested: Sequence[Tool], names: str, words: str
) -> str:
    having = [index.paths_saying(tool.tables_in(connection), words) for tool in requested]
    if paths := [shown_name(path) for each in having for path in (each or {}).values()]:
        return (
            f'no passage of {names} says "{words}" whole; {_NOT_SEARCHED}, it is in '
            f"{some_of(paths, _MAX_NAMED_FILES)}"
        )
    if None in having:
        return f'no passage of {names} says "{words}" whole; the files were too long to read'
    return f'nothing in {names} says "{words}" as it is written'


def _condition(connection: apsw.Connection, tool: Tool, filters: Filters) -> index.Condition:
    path = filters.path
    chosen = [
        index.documents_with_value(tool.tables_in(connection), key, values)
        for key, values in filters.where
    ]
    if filters.links_to is not None:
        chosen.append(linking_documents(connection, tool, filters.links_to))
    return index.Condition(
        path_matches=None if path is None else path.matches,
        path_prefix="" if path is None else path.prefix,
        tags=filters.tags,
        since=filters.since,
        until=filters.until,
        documents=frozenset.intersection(*chosen) if chosen else None,
    )


def linking_documents(connection: apsw.Connection, tool: Tool, name: str) -> frozenset[int]:
    """The ids of a tool's documents that link to ``name``, in any of its meanings.

    If links with this name, or with the folder's that it is the index of, lead nowhere, or if a
    link may lead to several documents, their documents are included.
    """
    called = index.documents_called(tool.tables_in(connection), name)
    links = index.links_of(tool.tables_in(connection), called).values()
    linking = frozenset(link.document_id for linked in links for link in linked.back).union(
        *(linked.perhaps_back for linked in links)
    )
    to_folders = index.documents_linking_to_folders(tool.tables_in(connection), called)
    return linking | to_folders | index.documents_linking_to_none(tool.tables_in(connection), name)


def _without_value(
    connection: apsw.Connection, requested: Sequence[Tool], names: str, key: str
) -> str:
    """A message that no note has the wanted value of an entry, with the values that there are."""
    counts: Counter[str] = Counter()
    entries: Counter[str] = Counter()
    for tool in requested:
        if not KINDS[tool.kind].is_made_of_records and index.has_properties(
            tool.tables_in(connection)
        ):
            for name, values in index.value_counts(tool.tables_in(connection)).items():
                entries[name] += values.total()
                if folded(name) == folded(key):
                    counts += values
    known = counts or entries
    shown_key = quoted(shortened(key))
    what = f"values of {shown_key}" if counts else "entries of front matter"
    frequent = index.short_enough(name for name, _ in known.most_common())
    listed = ", ".join(map(quoted, islice(frequent, _MAX_NAMED_TAGS)))
    return f"no note of {names} has that {shown_key}; the most frequent {what}: {listed or 'none'}"


def _entries_with(connection: apsw.Connection, requested: Sequence[Tool], tag: str) -> str:
    """A message on entries of front matter that have an unknown tag as a value."""
    entries = {
        quoted(f"{name}={value}")
        for tool in requested
        for name, values in index.value_counts(tool.tables_in(connection)).items()
        for value in values
        if folded_tag(value) == tag
    }
    return f"the front matter has it, for where: {', '.join(sorted(entries))}" if entries else ""


def _nearest(connection: apsw.Connection, requested: Sequence[Tool], tag: str) -> str:
    """The tags most similar to an unknown tag; if none is similar, the most frequent tags."""
    known = {
        folded_tag(counted.tag): counted.tag
        for tool in requested
        for counted in index.tag_counts(tool.tables_in(connection))
    }
    if not known:
        return "it has no tags at all" if len(requested) == 1 else "they have no tags at all"
    if near := nearest_texts(tag, known, _MAX_NAMED_TAGS):
        return f"similar tags: {', '.join(quoted(known[each]) for each in near)}"
    named = list(known.values())
    return f"the most frequent tags: {', '.join(map(quoted, named[:_MAX_NAMED_TAGS]))}"
