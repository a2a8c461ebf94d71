"""Names of models: those of the catalogue, and ``family:model`` for models that users bring."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, get_args

from mdvec.embedding.cards import CARDS

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
    return next((one for one in MODEL_FAMILIES if one == family), None)


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
