"""The names of models, and facts about each; cheap to import."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

ModelFamily = Literal["openai", "gemini", "st"]
MODEL_FAMILIES: tuple[ModelFamily, ...] = get_args(ModelFamily)
FORMS = "openai:<model>, gemini:<model>, st:<model or folder>"

_MAX_CHARS = 500
_MODEL = re.compile(r"\S(?:[^\x00-\x1f\x7f]*\S)?")
_FOLDER = ("/", ".", "~")


def family_of(name: str) -> ModelFamily | None:
    """The family of a user's own model; None for a name without a valid family and model."""
    family, _, model = name.partition(":")
    if len(name) > _MAX_CHARS or not _MODEL.fullmatch(model):
        return None
    return next((known for known in MODEL_FAMILIES if known == family), None)


def is_endpoint_model(name: str) -> bool:
    """Whether a model is behind an endpoint."""
    return family_of(name) in ("openai", "gemini")


def model_of(name: str) -> str:
    """The part of a name that its family understands."""
    return name.partition(":")[2]


def is_model_name(name: str) -> bool:
    """Whether a name is in the catalogue or has the form of a user's own model."""
    return name in CARDS or family_of(name) is not None


def canonical(name: str) -> str:
    """The name as tools store it: a folder's path is absolute."""
    model = model_of(name)
    if family_of(name) == "st" and model.startswith(_FOLDER):
        return f"st:{Path(model).expanduser().absolute()}"
    return name


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model's name and figures.

    ``dimension`` is the length of its vectors; ``default_size`` and ``default_overlap`` are chunk
    sizes in its own tokens; ``max_tokens`` is its input limit. ``vector_trust`` is the weight of
    its cosines against the words of a query (see ``search/core/fusion.py``). ``unrelated`` are mean
    and standard deviation of the cosine of the nearest passage, over questions that nothing answers
    (see ``search/core/confidence.py``); None where they were not measured.
    """

    name: str
    summary: str
    dimension: int
    default_size: int
    default_overlap: int
    max_tokens: int
    vector_trust: float
    unrelated: tuple[float, float] | None
    licence: str
    how_to_get: str
    is_light: bool = False
    """Whether a server may load it before the first search asks for it."""


INSTALL_PLAMO = "pip install -c constraints.txt -e './shared[plamo]' (in mdvec's own folder)"
PLAMO = ModelCard(
    name="plamo",
    summary="PLaMo-Embedding-1B by Preferred Networks: the best Japanese answers, 2.1 GB",
    dimension=2048,
    default_size=1024,
    default_overlap=64,
    max_tokens=4096,
    vector_trust=1.6,  # that of e5-small: a guess until it is fitted with bench/calibrate.py
    unrelated=None,
    licence="Apache-2.0",
    how_to_get=f"{INSTALL_PLAMO}, then: mdvec model pull plamo",
)
USE = ModelCard(
    name="use",
    summary="universal-sentence-encoder-multilingual v3: embedded, 16 languages, fast",
    dimension=512,
    default_size=192,
    default_overlap=48,
    max_tokens=4096,  # the encoder has no limit of its own; its memory grows with the text
    vector_trust=0.2,
    unrelated=(0.234, 0.060),
    licence="Apache-2.0",
    how_to_get="comes with mdvec",
    is_light=True,
)
E5_SMALL = ModelCard(
    name="e5-small",
    summary="multilingual-e5-small, 4 bit: better answers than use, about forty times slower",
    dimension=384,
    default_size=448,
    default_overlap=64,
    max_tokens=512,
    vector_trust=1.6,
    unrelated=(0.817, 0.020),
    licence="MIT",
    how_to_get="pip install -c constraints.txt -e './shared[e5]' (in mdvec's own folder)",
)

CARDS = {card.name: card for card in (PLAMO, USE, E5_SMALL)}


@dataclass(frozen=True, slots=True)
class ModelConstants:
    """``vector_trust`` and ``unrelated``, as ``ModelCard`` explains them."""

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
