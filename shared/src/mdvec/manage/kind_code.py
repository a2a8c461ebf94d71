"""The code of each kind of source (importer, status, records), loaded on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mdvec import datasets, documents, household, tools
from mdvec.files import Scan, ScanRules, scan, scan_file
from mdvec.household import Ledger
from mdvec.tools import KINDS, Tool

if TYPE_CHECKING:
    import apsw

    from mdvec.importing import Importer
    from mdvec.index import StoredChunk
    from mdvec.tools import KindStatus


@dataclass(frozen=True, slots=True)
class KindCode:
    """The code of a kind; each field is a function that loads it.

    ``name_check`` loads a function that refuses names which clash with others of the kind; most
    kinds have no clashes.
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
"""The code by the keys of ``mdvec.tools.KINDS``."""


class HouseholdRecords:
    """The rows of a household as search results (implements ``mdvec.search.Records``)."""

    def count(self, connection: apsw.Connection, tool: Tool) -> int:
        """The number of rows that a search can find."""
        return household.searchable_rows(Ledger.undated(connection, tool.id))

    def of_chunk(
        self, connection: apsw.Connection, tool: Tool, chunk: StoredChunk, question: str, k: int
    ) -> Sequence[StoredChunk]:
        """At most ``k`` rows of a chunk; rows that the question asks for come first."""
        return household.rows_of_chunk(connection, tool, chunk, question, k)


RECORDS = HouseholdRecords()


def scan_source(tool: Tool, rules: ScanRules) -> Scan:
    """Find the files of a tool's source.

    Raises:
        SourceMissing: the source does not exist.
    """
    if KINDS[tool.kind].takes_file and tool.source.is_file():
        return scan_file(tool.source, tool.name)
    return scan(tool.source, rules, tool.name)
