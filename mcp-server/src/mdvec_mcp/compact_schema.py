"""Removes from the schema of a tool's arguments what pydantic adds and no client needs."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
TEXTS_GO_IN = "x-texts-go-in"
"""Our keyword for a parameter of numbers: the parameters that take texts; errors name them."""

_MAPS_OF_SCHEMAS = {"properties", "$defs"}
"""Keywords whose values map names, not keywords, to schemas."""
_IMPLIED = [("additionalProperties", True), ("default", None), ("default", "")]
"""Keywords with default values, which can be omitted."""


def compact_input(schema: Schema) -> Schema:
    """The schema without our keyword, and the titles and null defaults that pydantic adds.

    A parameter whose default is null loses the type null: clients omit it instead.
    """
    compact = {
        keyword: _compact_value(keyword, value)
        for keyword, value in schema.items()
        if keyword not in ("title", TEXTS_GO_IN) and (keyword, value) not in _IMPLIED
    }
    plain = _nullable(compact) if schema.get("default", ...) is None else None
    rest = {keyword: value for keyword, value in compact.items() if keyword != "anyOf"}
    return compact if plain is None else {**plain, **rest}


def _compact_value(keyword: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    if keyword in _MAPS_OF_SCHEMAS:
        return {name: compact_input(schema) for name, schema in value.items()}
    if isinstance(value, list):
        return [compact_input(item) if isinstance(item, dict) else item for item in value]
    return compact_input(value) if isinstance(value, dict) else value


def _nullable(schema: Schema) -> Schema | None:
    """The schema X if ``schema`` is a union of X and null, else None."""
    variants = schema.get("anyOf", [])
    is_nullable = len(variants) == 2 and variants[1] == {"type": "null"}
    return dict(variants[0]) if is_nullable else None
