"""The code of each kind of source: its importer, its status, its records; loaded when used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdvec import datasets, documents, household, tools
from mdvec.files import Scan, ScanRules, scan, scan_file
from mdvec.tools import KINDS, Tool

if TYPE_CHECKING:
    import apsw

    from mdvec.importing import Importer
    from mdvec.index import StoredChunk
    from mdvec.tools import KindStatus


@dataclass(frozen=True, slots=True)
class KindCode:
    """The code of a kind; each field loads what it gives.

    That of ``name_check`` refuses a name that clashes with others of this kind; in most none can.
    """

    importer: Callable[[], Importer]
    status: Callable[[], KindStatus]
    name_check: Callable[[], Callable[[str, Iterable[str]], object]] = lambda: lambda name, _: name


KIND_CODE = {
    "markdown": KindCode(lambda: documents.DOCUMENTS, lambda: tools.TEXTS),
    "household": KindCode(lambda: household.HOUSEHOLD, lambda: tools.TEXTS),
    "dataset": KindCode(
        lambda: datasets.DATASET,
        lambda: datasets.DATASET_STATUS,
        lambda: datasets.checked_dataset_name,
    ),
}
"""By the names of ``mdvec.tools.KINDS``."""


class HouseholdRecords:
    """The rows of a household as what a search finds (``mdvec.search.Records``)."""

    def count(self, connection: apsw.Connection, tool: Tool) -> int:
        """How many a search can find."""
        return household.searchable_rows(connection, tool.id)

    def of_chunk(
        self, connection: apsw.Connection, tool: Tool, chunk: StoredChunk, question: str, k: int
    ) -> Sequence[StoredChunk]:
        """Those of a chunk, at most ``k``; those that the question asks for come first."""
        return household.rows_of_chunk(connection, tool, chunk, question, k)


RECORDS = HouseholdRecords()


def scan_source(tool: Tool, rules: ScanRules) -> Scan:
    """Find the files of a tool's source.

    Raises:
        SourceMissing: the source does not exist.
    """
    if KINDS[tool.kind].takes_file and tool.source.is_file():
        return scan_file(tool.source)
    return scan(tool.source, rules)
