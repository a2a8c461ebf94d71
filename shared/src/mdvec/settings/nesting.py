"""Sections of the settings file that are within others, such as ``[index.hnsw]``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mdvec.settings.section import SettingsSection
from mdvec.settings.sections import Settings


def _sections(model: type[BaseModel], within: str = "") -> Iterator[tuple[str, Fields]]:
    """The sections of the settings file and their keys; one within another has a dot."""
    for name, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, SettingsSection):
            nested = dict(_sections(section, f"{within}{name}."))
            fields = section.model_fields.items()
            inner = {key.rpartition(".")[2] for key in nested}
            yield within + name, {key: one for key, one in fields if key not in inner}
            yield from nested.items()


Fields = dict[str, FieldInfo]
KNOWN: dict[str, Fields] = dict(_sections(Settings))
"""The fields of every section, by section and key."""
_OTHER_NAMES: dict[str, dict[str, str]] = {
    "index.hnsw": {
        "construction_ef": "ef_construction",
        "search_ef": "ef_search",
        "M": "max_neighbors",
        **{
            f"hnsw{mark}{name}": key
            for mark in "_:"
            for name, key in (
                ("space", "space"),
                ("construction_ef", "ef_construction"),
                ("search_ef", "ef_search"),
                ("M", "max_neighbors"),
            )
        },
    }
}
"""Other names of keys, by section: those that Chroma gave them before version 1."""


def flat(read: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The sections with those within others beside them, and every key under its present name."""
    beside: dict[str, dict[str, Any]] = {}
    for section, values in read.items():
        beside[section] = {}
        for key, value in values.items():
            inner = f"{section}.{key}"
            if inner in KNOWN and isinstance(value, dict):
                others = _OTHER_NAMES.get(inner, {})
                beside[inner] = {others.get(name) or name: one for name, one in value.items()}
            else:
                beside[section][key] = value
    return beside


def nested(sections: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The reverse of ``flat``."""
    within: dict[str, dict[str, Any]] = {}
    for section, values in sections.items():
        outer, _, inner = section.partition(".")
        if not inner or section not in KNOWN:
            within.setdefault(section, {}).update(values)
        else:
            within.setdefault(outer, {})[inner] = dict(values)
    return within
