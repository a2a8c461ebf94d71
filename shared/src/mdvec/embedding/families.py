"""The models that users bring themselves: behind an endpoint, or from a folder or a hub."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from mdvec.embedding import backends, onnx_models, remote
from mdvec.embedding.backends.hub_models import MayDownload
from mdvec.embedding.backends.model_files import max_tokens_of
from mdvec.embedding.cards import (
    E5_SMALL,
    INSTALL_ONNX,
    ModelCard,
    ModelFamily,
    family_of,
    model_of,
)
from mdvec.embedding.embedder import Embedder, ModelUnavailable
from mdvec.embedding.options import GEMINI_URL, OPENAI_URL, BackendOptions
from mdvec.embedding.remote.answers import KeyMissing
from mdvec.embedding.remote.endpoint import Endpoint

INSTALL_GEMINI = "pip install -c constraints.txt -e './shared[gemini]' (in mdvec's own folder)"
_OPENAI_TOKENS = 8191
_GEMINI_TOKENS = {"gemini-embedding-001": 2048, "gemini-embedding-2": 8192}
_OPENAI_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_ROOM_OF_PREFIXES = 32
_FREE_TIER = "On Gemini's free tier Google may use texts to improve its products."


def card_of(name: str, options: BackendOptions) -> ModelCard:
    """The card of a user's own model; its dimension is 0 if only its endpoint knows."""
    family, model = family_of(name), model_of(name)
    if family == "st":
        return _st_card(name, options)
    if family == "onnx":
        return _onnx_card(name, options)
    if family == "gemini":
        endpoint = endpoint_of(name, options)
        return _card(
            name, f"{model}, at {endpoint.host if endpoint else ''}", options.gemini.dimensions,
            _GEMINI_TOKENS.get(model, 2048), "the maker's terms of use",
            f"{INSTALL_GEMINI}; set GEMINI_API_KEY",
        )  # fmt: skip
    endpoint = endpoint_of(name, options)
    return _card(
        name, f"{model}, at {endpoint.host if endpoint else ''}", openai_dimension(name, options),
        _OPENAI_TOKENS, "the endpoint's terms of use",
        "set [model.openai] base_url, and the variable of its key",
    )  # fmt: skip


def _st_card(name: str, options: BackendOptions) -> ModelCard:
    """The card according to the model's files, without loading it."""
    model = model_of(name)
    how = backends.sentence_transformers.INSTALL_ST
    return _card(
        name, f"{model}, by sentence-transformers", options.st.truncate_dim or 0,
        _room(backends.sentence_transformers.located(model)), "that of the model",
        how if is_folder(name) else f"{how}, then: mdvec model pull {name}",
    )  # fmt: skip


def _onnx_card(name: str, options: BackendOptions) -> ModelCard:
    """The card according to the model's files, without loading it."""
    try:
        folder = onnx_models.place_of(name, options).located().folder
    except ModelUnavailable:
        folder = None
    return _card(
        name, f"{model_of(name)}, by onnxruntime", options.onnx.truncate_dim or 0, _room(folder),
        "that of the model",
        INSTALL_ONNX if is_folder(name) else f"{INSTALL_ONNX}, then: mdvec model pull {name}",
    )  # fmt: skip


def _room(folder: Path | None) -> int:
    """The tokens that a model's limit leaves beside a prefix."""
    limit = (max_tokens_of(folder) if folder else None) or 512
    return limit - min(_ROOM_OF_PREFIXES, limit // 4)


def openai_dimension(name: str, options: BackendOptions) -> int:
    """The dimension as set, or as known of OpenAI's own models; else 0."""
    if options.openai.dimensions is not None:
        return options.openai.dimensions
    is_own = options.openai.base_url == OPENAI_URL
    return _OPENAI_DIMENSIONS.get(model_of(name), 0) if is_own else 0


def endpoint_of(name: str, options: BackendOptions) -> Endpoint | None:
    """Where a model's texts go; None for a model that runs here."""
    family = family_of(name)
    if family == "openai":
        return Endpoint(options.openai.base_url.rstrip("/"))
    if family == "gemini":
        url = options.gemini.base_url
        return Endpoint(url.rstrip("/"), _FREE_TIER if url == GEMINI_URL else "")
    return None


def is_folder(name: str) -> bool:
    """Whether a model is a folder of the user's, which nothing can be downloaded into."""
    return family_of(name) in ("st", "onnx") and model_of(name).startswith("/")


def missing(name: str, options: BackendOptions) -> str | None:
    """Why a model cannot be used, in a few words, or None if it can; nothing is sent."""
    return _MISSING[_family(name)](name, options)


def load(name: str, options: BackendOptions) -> Embedder:
    """Load a model, or get ready to send to its endpoint; nothing is sent yet.

    Raises:
        ModelUnavailable: a package, a key or the model is missing.
    """
    return _LOAD[_family(name)](name, options)


def pull(name: str, options: BackendOptions, may_download: MayDownload) -> str:
    """Download a model if that is needed and allowed; returns one sentence on the result.

    Raises:
        ModelUnavailable: it is not allowed, or cannot be downloaded.
    """
    endpoint = endpoint_of(name, options)
    if endpoint is not None:
        return f"{name} is at {endpoint.host}; there is nothing to download"
    if family_of(name) == "onnx":
        folder = onnx_models.pull(card_of(name, options), options, may_download)
    else:
        folder = backends.sentence_transformers.pull(
            model_of(name), options.st.backend, may_download
        )
    return f"{name} is here: {folder}"


def _family(name: str) -> ModelFamily:
    family = family_of(name)
    if family is None:
        raise ValueError(name)
    return family


def _card(
    name: str, summary: str, dimension: int, max_tokens: int, licence: str, how_to_get: str
) -> ModelCard:
    size = min(448, max_tokens)
    return ModelCard(
        name=name,
        summary=summary,
        dimension=dimension,
        default_size=size,
        default_overlap=size // 7,
        max_tokens=max_tokens,
        vector_trust=E5_SMALL.vector_trust,
        unrelated=None,
        licence=licence,
        how_to_get=how_to_get,
    )


def _openai_missing(name: str, options: BackendOptions) -> str | None:
    try:
        remote.openai_key(name, options)
    except KeyMissing as error:
        return str(error)
    return None


def _load_openai(name: str, options: BackendOptions) -> Embedder:
    endpoint = endpoint_of(name, options)
    if endpoint is None:
        raise ModelUnavailable(f"the model {name!r} has no endpoint")
    return remote.RemoteEmbedder(backends.OpenAIBackend(card_of(name, options), endpoint, options))


def _gemini_missing(name: str, options: BackendOptions) -> str | None:
    if _is_not_installed("google.genai"):
        return f"google-genai is not installed; get it with: {INSTALL_GEMINI}"
    try:
        remote.gemini_key(name, options)
    except KeyMissing as error:
        return str(error)
    return None


def _load_gemini(name: str, options: BackendOptions) -> Embedder:
    if _is_not_installed("google.genai"):
        raise ModelUnavailable(f"the model {name!r}: {_gemini_missing(name, options)}")
    endpoint = endpoint_of(name, options)
    if endpoint is None:
        raise ModelUnavailable(f"the model {name!r} has no endpoint")
    return remote.RemoteEmbedder(backends.GeminiBackend(card_of(name, options), endpoint, options))


def _st_missing(name: str, options: BackendOptions) -> str | None:  # noqa: ARG001
    return backends.sentence_transformers.missing(model_of(name))


def _load_st(name: str, options: BackendOptions) -> Embedder:
    card = card_of(name, options)
    folder = backends.sentence_transformers.located(model_of(name))
    lack = backends.sentence_transformers.missing(model_of(name))
    if lack and is_folder(name):
        raise ModelUnavailable(f"the model {name!r} cannot be used: {lack}")
    if folder is None or lack:
        raise ModelUnavailable(
            f"the model {name!r} is not here ({lack}); get it with: {card.how_to_get}"
        )
    return Embedder(backends.SentenceTransformersBackend(card, folder, options.st))


def _onnx_missing(name: str, options: BackendOptions) -> str | None:
    return onnx_models.place_of(name, options).missing()


def _load_onnx(name: str, options: BackendOptions) -> Embedder:
    return onnx_models.load(card_of(name, options), options)


def _is_not_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:  # the package that it is in
        return True


_MISSING = {
    "openai": _openai_missing, "gemini": _gemini_missing, "st": _st_missing,
    "onnx": _onnx_missing,
}  # fmt: skip
_LOAD = {"openai": _load_openai, "gemini": _load_gemini, "st": _load_st, "onnx": _load_onnx}
