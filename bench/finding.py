"""Asking the real library in this process, and how well it found what was to be found."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from mdvec.embedding.embedder import Embedder
from mdvec.embedding.reranker import Reranker
from mdvec.files.scanning import ScanRules
from mdvec.importing.job import ImportReport, ImportRequest
from mdvec.importing.options import ChunkingSettings
from mdvec.manage.registering import add_tool
from mdvec.manage.tool_import import import_tool
from mdvec.search.answer import Question, search
from mdvec.search.core.fusion import SearchMode
from mdvec.search.hits import Hit
from processes import Bench
from results import Row

TOOL = "bench"
TOP = 10
HITS = 50
MODES: tuple[SearchMode, ...] = ("hybrid", "vector", "lexical")
_NO_BUDGET = 10_000_000

Key = TypeVar("Key")
Asked = TypeVar("Asked")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Quality:
    """The share of an ideal ranking, for one right answer a question, and of first places."""

    ndcg: float
    first: float
    questions: int

    def __str__(self) -> str:
        return f"nDCG@{TOP} {self.ndcg:.3f}, R@1 {self.first:.3f} of {self.questions:,} questions"

    def reaches(self, other: Quality, within: float) -> bool:
        """Whether neither figure is further below the other's than that."""
        return self.ndcg >= other.ndcg - within and self.first >= other.first - within


def quality(ranks: Sequence[int | None]) -> Quality:
    """From the places of the right answers, from 1, None where it was not found."""
    gains = [1 / math.log2(1 + rank) for rank in ranks if rank is not None and rank <= TOP]
    return Quality(sum(gains) / len(ranks), list(ranks).count(1) / len(ranks), len(ranks))


def first_place(found: Iterable[Key], right: Key) -> int | None:
    """The place of ``right``, from 1, where whatever comes again is counted once."""
    for place, key in enumerate(dict.fromkeys(found), 1):
        if key == right:
            return place
    return None


def imported(database: Path, folder: Path, embedder: Embedder) -> ImportReport:
    """A folder in a new database, as `mdvec import` with its default settings would have it."""
    add_tool(database, TOOL, "what the benchmark asks", folder, "markdown")
    rules = ScanRules((".md", ".markdown", ".txt"), (), 10 * 2**20)
    request = ImportRequest(database, TOOL, "new", rules, ChunkingSettings(), embedder.name)
    return import_tool(request, lambda _: embedder)


def once(bench: Bench, name: str, folder: Path, embedder: Embedder) -> Path:
    """The folder's database of this run: imported by whoever asks for it first."""
    database = bench.databases / f"{name}-{embedder.name}.sqlite"
    if not database.exists():
        imported(database, folder, embedder)
    return database


def hits_of(
    database: Path,
    query: str,
    k: int,
    mode: SearchMode,
    embedder: Embedder,
    reranker: Reranker | None = None,
) -> Sequence[Hit]:
    """The hits of one question, not cut to any budget."""
    question = Question(query, (TOOL,), k, mode, max_chars=_NO_BUDGET)
    return search(database, question, lambda _: nullcontext(embedder), reranker=reranker).results


def first_among(groups: Iterable[Iterable[Key]], right: Key) -> int | None:
    """The place of ``right`` where a chunk stands for several: it is the first of its chunk's."""
    return first_place(
        (key for group in groups for key in sorted(group, key=lambda key: key != right)), right
    )


def group_rows(
    what: str, asked: Mapping[str, int], missed: Mapping[str, Sequence[str]]
) -> list[Row]:
    """A row for all groups of queries, none of which may miss, and one a group that names those."""
    total, found = sum(asked.values()), sum(asked.values()) - sum(map(len, missed.values()))
    rows = [Row(what, f"{found} of {total} queries", "every one", found == total)]
    for group, count in asked.items():
        shown = f"{count - len(missed[group])} of {count} queries"
        shown += f"; not: {', '.join(missed[group])}" if missed[group] else ""
        rows.append(Row(f"{what}: {group}", shown))
    return rows


def evenly(given: Sequence[Found], count: int) -> list[Found]:
    """As many of them, in their order and evenly spread; all where there are no more."""
    count = min(count, len(given))
    return [given[number * len(given) // count] for number in range(count)]


def timed(
    ask: Callable[[Asked], Found], questions: Iterable[Asked]
) -> tuple[list[Found], list[float]]:
    """What each question finds, and the milliseconds that it takes."""
    found, milliseconds = [], []
    for question in questions:
        began = time.perf_counter()
        found.append(ask(question))
        milliseconds.append((time.perf_counter() - began) * 1000)
    return found, milliseconds
