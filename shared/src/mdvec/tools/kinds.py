"""The kinds of source that a tool can have, one entry each."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mdvec.files.endings import DATA_ENDINGS


@dataclass(frozen=True, slots=True)
class SourceKind:
    """The properties of a kind of source that imports, searches, commands and the server use.

    Code is named as "module:attribute"; ``load_code`` imports it when it is first needed.

    Attributes:
        name: the value of `mdvec tool add --kind` and of the table of tools.
        importer: its ``mdvec.importing.job.Importer``.
        status: its ``mdvec.tools.status.KindStatus``.
        name_check: the function that refuses a tool's name if it clashes with the names of
            others of this kind; None if names cannot clash.
        report_fields: the JSON fields that it adds to an import's report; null for other kinds.
        endings: the endings of its files, in lower case; None stands for `[scan] extensions`.
        takes_file: whether its source can be a single file instead of a folder.
        is_streamed: whether its files are read in pieces, so that their size is not limited.
        has_texts: whether searches find its chunks.
        records: the function that gives the records of a chunk, if chunks are what records have
            in common instead of passages of documents: a ``mdvec.search.search.RecordsOf``.
        has_ledger: whether its rows are transactions, which share one SQL table.
        has_data_files: whether its import makes SQL tables of data files.
        family: the key of the server's family of tools that it enables, if any.
    """

    name: str
    importer: str
    status: str
    name_check: str | None = None
    report_fields: tuple[str, ...] = ()
    endings: tuple[str, ...] | None = None
    takes_file: bool = False
    is_streamed: bool = False
    has_texts: bool = True
    records: str | None = None
    has_ledger: bool = False
    has_data_files: bool = False
    family: str | None = None

    @property
    def is_made_of_records(self) -> bool:
        """Whether a hit is a whole record, not a passage of a document."""
        return self.records is not None

    @property
    def has_tables(self) -> bool:
        """Whether SQL can query it."""
        return self.has_ledger or self.has_data_files


KINDS = {
    kind.name: kind
    for kind in (
        SourceKind(
            "markdown",
            importer="mdvec.documents.importer:DOCUMENTS",
            status="mdvec.tools.status:TEXTS",
        ),
        SourceKind(
            "household",
            importer="mdvec.household.importer:HOUSEHOLD",
            status="mdvec.tools.status:TEXTS",
            report_fields=("ledger", "duplicate_candidates", "transfer_candidates"),
            endings=(".csv", ".tsv"),
            records="mdvec.household.found_sums:rows_of_chunk",
            has_ledger=True,
            family="household",
        ),
        SourceKind(
            "dataset",
            importer="mdvec.datasets.importer:DATASET",
            status="mdvec.datasets.status:DATASET",
            name_check="mdvec.datasets.core.grouping:checked_dataset_name",
            report_fields=("dataset",),
            endings=DATA_ENDINGS,
            takes_file=True,
            is_streamed=True,
            has_texts=False,
            has_data_files=True,
            family="analytics",
        ),
    )
}
"""By name, in the order in which help and errors list them."""


def load_code(reference: str) -> Any:  # noqa: ANN401 - its type depends on the reference
    """Import the attribute that is named as "module:attribute"."""
    module, _, attribute = reference.partition(":")
    return getattr(import_module(module), attribute)
