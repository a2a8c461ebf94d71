"""Shortens the JSON Schemas of tools, because every conversation pays for `tools/list`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]

_MAPS_OF_SCHEMAS = {"properties", "$defs"}
"""Keywords whose values map names, not keywords, to schemas."""
_IMPLIED = [("additionalProperties", True), ("default", None)]
"""Keywords with values that are the default anyway."""


def compact_input(schema: Schema) -> Schema:
    """The schema without the titles and null defaults that pydantic adds to each parameter.

    A parameter whose default is null loses the type null: clients omit it instead.
    """
    kept = {
        keyword: _compact_value(keyword, value, compact_input)
        for keyword, value in schema.items()
        if keyword != "title" and (keyword, value) not in _IMPLIED
    }
    plain = _nullable(kept) if schema.get("default", ...) is None else None
    rest = {keyword: value for keyword, value in kept.items() if keyword != "anyOf"}
    return kept if plain is None else {**plain, **rest}


def compact_output(schema: Schema) -> Schema:
    """An equivalent schema without titles and docstrings.

    Nullable types become ``[type, "null"]``; definitions that are used once are inlined.
    """
    compact = _compact_definition(schema)
    definitions: dict[str, Schema] = compact.pop("$defs", {})
    text = json.dumps([compact, definitions])
    once = {name: definitions[name] for name in definitions if text.count(_reference(name)) == 1}
    inlined: Schema = _inlined(compact, once)
    kept = {name: _inlined(definitions[name], once) for name in definitions if name not in once}
    return {"$defs": kept, **inlined} if kept else inlined


def _reference(name: str) -> str:
    return f'"#/$defs/{name}"'


def _inlined(value: Any, definitions: dict[str, Schema]) -> Any:  # noqa: ANN401 - JSON
    """The value with each reference to ``definitions`` replaced by its definition."""
    if isinstance(value, list):
        return [_inlined(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    name = str(value.get("$ref", "")).rpartition("/")[2]
    rest = {key: _inlined(item, definitions) for key, item in value.items()}
    if name not in definitions:
        return rest
    del rest["$ref"]
    return {**_inlined(definitions[name], definitions), **rest}


def _compact_definition(schema: Schema) -> Schema:
    kept = {
        keyword: _compact_value(keyword, value, _compact_definition)
        for keyword, value in schema.items()
        if keyword != "title"
        and not (keyword == "description" and "properties" in schema)
        and (keyword, value) not in _IMPLIED
    }
    return _without_union(kept)


def _compact_value(keyword: str, value: Any, compact: Callable[[Schema], Schema]) -> Any:  # noqa: ANN401 - JSON
    if keyword in _MAPS_OF_SCHEMAS:
        return {name: compact(schema) for name, schema in value.items()}
    if isinstance(value, list):
        return [compact(item) if isinstance(item, dict) else item for item in value]
    return compact(value) if isinstance(value, dict) else value


def _without_union(schema: Schema) -> Schema:
    """The schema with a union of one plain type and null written as a list of types."""
    plain = _nullable(schema)
    if plain is None or not isinstance(plain.get("type"), str) or {"enum", "const"} & plain.keys():
        return schema
    rest = {keyword: value for keyword, value in schema.items() if keyword != "anyOf"}
    return {**plain, **rest, "type": [plain["type"], "null"]}


def _nullable(schema: Schema) -> Schema | None:
    """The schema X if ``schema`` is a union of X and null, else None."""
    variants = schema.get("anyOf", [])
    is_nullable = len(variants) == 2 and variants[1] == {"type": "null"}
    return dict(variants[0]) if is_nullable else None
