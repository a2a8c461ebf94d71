"""The interface with which `mdvec status` counts and shows the contents of each kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

import apsw

from mdvec import index
from mdvec.files import ScanRules
from mdvec.text import CUT, file_size, local_time
from mdvec.tools.kinds import KINDS
from mdvec.tools.registry import Tool

Fact = tuple[str, object]
"""A name and its value: a line of a tool's details."""
_BY_OTHER_RULES = ", cut by other rules than this version's until --mode replace"


@dataclass(frozen=True, slots=True)
class ContentCounts:
    """The size of a tool's contents; tables and rows are None if its kind has none."""

    documents: int = 0
    vectors: int = 0
    tables: int | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class StatusTable:
    """A table to print."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


class Contents(Protocol):
    """A tool's contents in detail."""

    def import_facts(self) -> list[Fact]:
        """How the contents were imported."""
        ...

    def content_facts(self) -> list[Fact]:
        """The counts and sizes of the contents."""
        ...

    def listing(self) -> StatusTable:
        """The documents or tables themselves."""
        ...

    def json_fields(self) -> dict[str, object]:
        """The contents as fields of `mdvec status --format json`."""
        ...


@dataclass(frozen=True, slots=True)
class KindStatus:
    """How the status of tools of a kind is read and shown.

    The overview lists the tools of this kind; its columns are fields of ``ToolStatus``. The other
    table lists one tool's contents.
    """

    overview_title: str
    overview_columns: tuple[str, ...]
    contents_title: str
    count: Callable[[apsw.Connection, Tool], ContentCounts]
    read: Callable[[apsw.Connection, Tool], Contents]


@dataclass(frozen=True, slots=True)
class TextContents:
    """A tool's documents, and the statistics of its vectors."""

    tool: Tool
    statistics: index.VectorStatistics
    documents: tuple[index.DocumentLine, ...]
    tags: tuple[index.TagCount, ...]
    unsent: int | None
    """How many vectors were not sent to Chroma yet; None if the file indexes them."""

    def import_facts(self) -> list[Fact]:
        """The model, the chunking of texts that are split, and the scan rules."""
        chunking, scan, kind = self.tool.chunking, self.tool.scan, KINDS[self.tool.kind]
        chunks = chunking and (
            f"{chunking.strategy}, up to {chunking.size} tokens, overlap {chunking.overlap}"
            f"{'' if chunking.cut == CUT else _BY_OTHER_RULES}"
        )
        return [
            ("model", self.tool.fingerprint),
            *([("chunks", chunks)] if kind.has_passages else []),
            *(_rules(scan, kind.endings or scan.extensions) if scan else []),
        ]

    def content_facts(self) -> list[Fact]:
        """Counts, lengths and sizes."""
        numbers = self.statistics
        lengths = (
            f"{numbers.shortest} to {numbers.longest} characters, {numbers.mean:.0f} on average"
        )
        tags = ", ".join(f"{tag.tag} ({tag.documents})" for tag in self.tags)
        facts: list[Fact] = [
            ("documents", len(self.documents)),
            ("vectors", numbers.count),
            ("dimension", self.tool.dimension),
            ("chunk length", lengths),
            ("embeddings", file_size(numbers.embedding_bytes)),
        ]
        if self.unsent is not None:
            unsent = f", {self.unsent:,} vectors not sent yet" if self.unsent else ""
            facts.append(("vector engine", f"chroma{unsent}"))
        return [*facts, ("tags", tags)] if tags else facts

    def listing(self) -> StatusTable:
        """The documents, one per row."""
        return StatusTable(
            ("file", "title", "bytes", "chunks", "updated"),
            tuple(
                (line.file_path, line.title, line.size, line.chunks, local_time(line.updated_at))
                for line in self.documents
            ),
        )

    def json_fields(self) -> dict[str, object]:
        """The statistics, the documents and the tags."""
        return {
            "statistics": asdict(self.statistics),
            "documents": [asdict(line) for line in self.documents],
            "tags": [asdict(tag) for tag in self.tags],
        }


def _count(connection: apsw.Connection, tool: Tool) -> ContentCounts:
    held = index.documents.document_counts(tool.tables_in(connection))
    pending = index.pending_count(tool.tables_in(connection))
    return ContentCounts(documents=held.documents, vectors=held.chunks - pending)


def _read(connection: apsw.Connection, tool: Tool) -> TextContents:
    return TextContents(
        tool=tool,
        statistics=index.chunks.vector_statistics(tool.tables_in(connection)),
        documents=tuple(index.documents.document_lines(tool.tables_in(connection))),
        tags=tuple(index.tag_counts(tool.tables_in(connection))),
        unsent=index.unsent_count(tool.tables_in(connection)),
    )


def _rules(rules: ScanRules, endings: Sequence[str]) -> list[Fact]:
    return [
        ("files", ", ".join(endings)),
        *([("only", ", ".join(rules.include))] if rules.include else []),
        *([("without", ", ".join(rules.exclude))] if rules.exclude else []),
        ("largest file", file_size(rules.max_bytes)),
    ]


TEXTS = KindStatus(
    overview_title="Tools",
    overview_columns=("documents", "vectors", "model"),
    contents_title="Documents",
    count=_count,
    read=_read,
)
