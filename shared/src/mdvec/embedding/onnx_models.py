"""Models for onnxruntime: what is known of one, where it is, and how it is loaded and fetched."""

from __future__ import annotations

from pathlib import Path

from mdvec.embedding import backends
from mdvec.embedding.backends.hub_models import MayDownload
from mdvec.embedding.backends.model_files import (
    Pooling,
    pooling_of,
    prefixes_known_of,
    prompts_of,
)
from mdvec.embedding.backends.onnx_files import OnnxPlace
from mdvec.embedding.cards import CARDS, ModelCard, OnnxSource, model_of
from mdvec.embedding.embedder import Embedder, ModelUnavailable
from mdvec.embedding.options import DEFAULT_OPTIONS, BackendOptions, OnnxOptions

_RERANKERS = {"hotchpotch/japanese-reranker-xsmall-v2": ("onnx/model_qint8_avx2.onnx",)}
"""The 8-bit files of rerankers that have several, from their pages on the hub (MIT)."""


def place_of(name: str, options: BackendOptions) -> OnnxPlace:
    """Where a model is or would be."""
    model, chosen, source = model_of(name), _options_for(name, options), known_source(name)
    if source is not None:
        files = (chosen.file,) if chosen.file else source.files
        return OnnxPlace(source.repository, files, must_be=bool(chosen.file))
    files = (chosen.file,) if chosen.file else _RERANKERS.get(model, ())
    return OnnxPlace(model, files, must_be=bool(chosen.file))


def load(card: ModelCard, options: BackendOptions) -> Embedder:
    """Load a model.

    Raises:
        ModelUnavailable: a package or the model is missing, or its files are not of a kind that is
            known here.
    """
    try:
        files = place_of(card.name, options).located()
    except ModelUnavailable as error:
        raise ModelUnavailable(
            f"the model {card.name!r} is not here ({error}); get it with: {card.how_to_get}"
        ) from error
    chosen = _options_for(card.name, options)
    pooling = Pooling(chosen.pooling) if chosen.pooling else pooling_of(files.folder)
    prefixes = _prefixes(card.name, files.folder, chosen)
    return Embedder(backends.OnnxBackend(card, files, prefixes, pooling, chosen.truncate_dim))


def pull(card: ModelCard, options: BackendOptions, may_download: MayDownload) -> Path:
    """Download what is missing of a model, if that is allowed; returns its folder.

    Raises:
        ModelUnavailable: it is not allowed, or something is missing.
    """
    licence = card.licence if known_source(card.name) is not None else ""
    return place_of(card.name, options).pull(may_download, card.name, licence)


def known_source(name: str) -> OnnxSource | None:
    """What the catalogue knows of a model, by its name there or by that of its repository."""
    return next(
        (
            card.onnx
            for card in CARDS.values()
            if card.onnx is not None
            and (card.name == name or card.onnx.repository == model_of(name))
        ),
        None,
    )


def _options_for(name: str, options: BackendOptions) -> OnnxOptions:
    """The settings of ``[model.onnx]`` are for models that the catalogue does not name."""
    return DEFAULT_OPTIONS.onnx if name in CARDS else options.onnx


def _prefixes(name: str, folder: Path, chosen: OnnxOptions) -> tuple[str, str]:
    """The texts before questions and passages: as set, as known of the model, or its own."""
    source = known_source(name)
    known = source.prefixes if source is not None else prefixes_known_of(model_of(name))
    query, document = prompts_of(folder) if known is None else known
    return (
        query if chosen.query_prefix is None else chosen.query_prefix,
        document if chosen.document_prefix is None else chosen.document_prefix,
    )
