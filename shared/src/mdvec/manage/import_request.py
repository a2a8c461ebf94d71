"""The request of an import, from the settings."""

from __future__ import annotations

import functools
from collections.abc import Callable

from mdvec.datasets.options import DatasetOptions
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.embedding.names import canonical
from mdvec.embedding.options import BackendOptions
from mdvec.household.options import HouseholdOptions, RemovalOptions
from mdvec.importing.options import ChunkingOverrides
from mdvec.importing.report import EmbedderFor, ImportRequest, Mode
from mdvec.settings.sections import Settings


def import_request(
    settings: Settings,
    tool: str,
    mode: Mode,
    *,
    model: str | None = None,
    removals: RemovalOptions | None = None,
    take_scan: bool = False,
    checksum: bool = False,
    is_automatic: bool = False,
    tables: DatasetOptions | None = None,
) -> ImportRequest:
    """The request of an import: the settings, with the options of this import.

    ``model`` is a model requested by name; the default is that of the settings. ``tables`` are
    options for a dataset; a tool of another kind refuses them.
    """
    named, chunking, duplicates = settings.model.name, settings.chunking, settings.duplicates
    detection = duplicates.options() if duplicates.auto_detect_on_import else None
    return ImportRequest(
        database=settings.database_path,
        tool=tool,
        mode=mode,
        rules=settings.scan.rules(),
        chunking=ChunkingOverrides(
            chunking.strategy,
            chunking.size,
            chunking.overlap,
            chunking.heading_levels,
            chunking.min_chars,
        ),
        model=canonical(model) if model else (None if named == catalog.AUTO else named),
        options=tables or HouseholdOptions(detection, removals or RemovalOptions()),
        scan_explicit=frozenset(settings.scan.model_fields_set),
        take_scan=take_scan,
        checksum=checksum,
        is_automatic=is_automatic,
        engine=settings.vector_engine,
    )


def loading_and_telling(tell: Callable[[str], None], options: BackendOptions) -> EmbedderFor:
    """Returns a function that loads the model of an import, and says why it was chosen."""
    return functools.partial(_load_and_tell, tell, options)


def _load_and_tell(
    tell: Callable[[str], None], options: BackendOptions, name: str | None
) -> Embedder:
    choice = catalog.choose(name or catalog.AUTO, options)
    tell(f"model: {choice.reason}")
    return catalog.load(choice.card.name, options)
