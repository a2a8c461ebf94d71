"""The status of a tool that holds searchable texts: its documents and their vectors."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import apsw

from mdvec.files.scan import ScanRules
from mdvec.index import chunks, documents
from mdvec.index.chroma_collections import unsent_count
from mdvec.index.chunks import VectorStatistics
from mdvec.index.documents import DocumentLine
from mdvec.index.tags import TagCount, tag_counts
from mdvec.text.file_size import file_size
from mdvec.text.local_time import local_time
from mdvec.text.options import CUT
from mdvec.tools.rows import Tool
from mdvec.tools.status import ContentCounts, Fact, KindStatus, StatusTable

_BY_OTHER_RULES = ", cut by other rules than this version's until --mode replace"


@dataclass(frozen=True, slots=True)
class TextContents:
    """A tool's documents, and the statistics of its vectors."""

    tool: Tool
    statistics: VectorStatistics
    documents: tuple[DocumentLine, ...]
    tags: tuple[TagCount, ...]
    unsent: int | None
    """How many vectors were not sent to Chroma yet; None if the file indexes them."""

    def import_facts(self) -> list[Fact]:
        """The model, the chunking and the scan rules."""
        chunking, scan = self.tool.chunking, self.tool.scan
        return [
            ("model", self.tool.fingerprint),
            ("chunks", chunking and f"{chunking.strategy}, up to {chunking.size} tokens, "
                                    f"overlap {chunking.overlap}"
                                    f"{'' if chunking.cut == CUT else _BY_OTHER_RULES}"),
            ("files", scan and _rules(scan)),
        ]  # fmt: skip

    def content_facts(self) -> list[Fact]:
        """Counts, lengths and sizes."""
        numbers = self.statistics
        lengths = (
            f"{numbers.shortest} to {numbers.longest} characters, {numbers.mean:.0f} on average"
        )
        tags = ", ".join(f"{one.tag} ({one.documents})" for one in self.tags)
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
            "tags": [asdict(one) for one in self.tags],
        }


def _count(connection: apsw.Connection, tool: Tool) -> ContentCounts:
    held = documents.document_counts(connection, tool.tables)
    return ContentCounts(documents=held.documents, vectors=held.chunks)


def _read(connection: apsw.Connection, tool: Tool) -> TextContents:
    return TextContents(
        tool=tool,
        statistics=chunks.vector_statistics(connection, tool.tables),
        documents=tuple(documents.document_lines(connection, tool.tables)),
        tags=tuple(tag_counts(connection, tool.tables)),
        unsent=unsent_count(connection, tool.tables),
    )


def _rules(rules: ScanRules) -> str:
    included = f", only {', '.join(rules.include)}" if rules.include else ""
    excluded = f", without {', '.join(rules.exclude)}" if rules.exclude else ""
    return f"{', '.join(rules.extensions)}{included}{excluded}, up to {file_size(rules.max_bytes)}"


TEXTS = KindStatus(
    overview_title="Tools",
    overview_columns=("documents", "vectors", "model"),
    contents_title="Documents",
    count=_count,
    read=_read,
)
