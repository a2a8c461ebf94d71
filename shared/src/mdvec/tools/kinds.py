"""The kinds of source that a tool can have, one entry each."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.files import DATA_ENDINGS


@dataclass(frozen=True, slots=True)
class SourceKind:
    """The properties of a kind of source that imports, searches, commands and the server use.

    Attributes:
        name: the value of `mdvec tool add --kind` and of the table of tools.
        report_fields: the JSON fields that it adds to an import's report; null for other kinds.
        endings: the endings of its files, in lower case; None stands for `[scan] extensions`.
        takes_file: whether its source can be a single file instead of a folder.
        is_streamed: whether its files are read in pieces, so that their size is not limited.
        has_texts: whether searches find its chunks.
        is_made_of_records: whether a hit is a whole record, not a passage of a document; each of
            its chunks is a text that several records share.
        has_ledger: whether its rows are transactions, which share one SQL table.
        has_data_files: whether its import makes SQL tables of data files.
    """

    name: str
    report_fields: tuple[str, ...] = ()
    endings: tuple[str, ...] | None = None
    takes_file: bool = False
    is_streamed: bool = False
    has_texts: bool = True
    is_made_of_records: bool = False
    has_ledger: bool = False
    has_data_files: bool = False

    @property
    def has_passages(self) -> bool:
        """Whether its texts are split."""
        return self.has_texts and not self.is_made_of_records

    @property
    def has_tables(self) -> bool:
        """Whether SQL can query it."""
        return self.has_ledger or self.has_data_files


KINDS = {
    kind.name: kind
    for kind in (
        SourceKind("markdown"),
        SourceKind(
            "household",
            report_fields=(
                "ledger",
                "duplicate_candidates",
                "transfer_candidates",
                "bill_candidates",
            ),
            endings=(".csv", ".tsv"),
            is_made_of_records=True,
            has_ledger=True,
        ),
        SourceKind(
            "dataset",
            report_fields=("dataset",),
            endings=DATA_ENDINGS,
            takes_file=True,
            is_streamed=True,
            has_texts=False,
            has_data_files=True,
        ),
    )
}
"""By name, in the order in which help and errors list them."""
