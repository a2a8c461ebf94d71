"""Reads the data about categories: their English names."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def english_names() -> dict[str, list[str]]:
    """The names that the category of an English word may have, by the word in small letters."""
    names: dict[str, list[str]] = data_of("category_words.toml")["english"]
    return names


def data_of(name: str) -> dict[str, Any]:
    """The contents of a TOML file of the household."""
    return tomllib.loads((resources.files("mdvec.household") / name).read_text("utf-8"))
