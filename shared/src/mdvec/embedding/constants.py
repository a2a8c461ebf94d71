"""The constants by which a search judges a model's cosines, unless others were stored for it."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.embedding.cards import CARDS, E5_SMALL
from mdvec.embedding.names import family_of


@dataclass(frozen=True, slots=True)
class ModelConstants:
    """``vector_trust`` and ``unrelated``, as ``embedding/cards.py`` explains them."""

    vector_trust: float
    unrelated: tuple[float, float] | None

    def likeness(self, cosine: float | None) -> float | None:
        """A cosine as a z-score among those of unrelated passages; None if they are not known."""
        if cosine is None or self.unrelated is None:
            return None
        mean, deviation = self.unrelated
        return (cosine - mean) / deviation


_UNKNOWN = ModelConstants(1.0, None)


def default_constants(model: str | None) -> ModelConstants:
    """Those of the model's card; a user's own model has the trust of e5-small."""
    card = CARDS.get(model or "")
    if card is not None:
        return ModelConstants(card.vector_trust, card.unrelated)
    if model is not None and family_of(model) is not None:
        return ModelConstants(E5_SMALL.vector_trust, None)
    return _UNKNOWN
