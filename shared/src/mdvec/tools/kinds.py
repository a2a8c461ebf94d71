"""The kinds of source that a tool can have, one line each."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.files.scan import DATA_ENDINGS


@dataclass(frozen=True, slots=True)
class Kind:
    """What the import, the search, the commands and the server need to know of a kind of source.

    Attributes:
        name: as `mdvec tool add --kind` and the table of tools have it.
        importer: the module and the function that import it, loaded at its first import.
        endings: of the files it reads, in lower case; None where `[scan] extensions` says.
        takes_file: whether a single file can be its source, in place of a folder.
        is_streamed: whether its files are read piece by piece, so that none is too large.
        has_texts: whether searches find its chunks.
        is_made_of_records: whether a chunk is a record that stands for itself, not a passage.
        has_tables: whether SQL can query it.
        family: the key of the server's family of tools that its rows switch on; None for none.
    """

    name: str
    importer: str
    endings: tuple[str, ...] | None = None
    takes_file: bool = False
    is_streamed: bool = False
    has_texts: bool = True
    is_made_of_records: bool = False
    has_tables: bool = False
    family: str | None = None


KINDS = {
    kind.name: kind
    for kind in (
        Kind("markdown", "mdvec.documents.importer:ImportRun"),
        Kind(
            "household", "mdvec.household.importer:HouseholdRun", endings=(".csv", ".tsv"),
            is_made_of_records=True, has_tables=True, family="household",
        ),
        Kind(
            "dataset", "mdvec.datasets.importer:DatasetRun", endings=DATA_ENDINGS,
            takes_file=True, is_streamed=True, has_texts=False, has_tables=True, family="dataset",
        ),
    )
}  # fmt: skip
"""By name, in the order in which help and errors list them."""
