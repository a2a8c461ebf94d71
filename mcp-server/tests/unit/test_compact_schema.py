"""Compact schemas accept what the whole ones accept, and say it in fewer characters."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from pydantic import BaseModel, Field

from mdvec_mcp.analytics import schema as analytics
from mdvec_mcp.compact_schema import compact_input, compact_output
from mdvec_mcp.search import schema as search


class Passage(BaseModel):
    """A class's docstring."""

    title: str
    page: int | None = Field(ge=1, description="From 1.")
    kind: dict[str, object] | None


def test_titles_and_docstrings_go_and_properties_called_title_stay():
    assert compact_output(Passage.model_json_schema()) == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "page": {"type": ["integer", "null"], "minimum": 1, "description": "From 1."},
            "kind": {"type": ["object", "null"]},
        },
        "required": ["title", "page", "kind"],
    }


def test_a_definition_that_is_used_twice_stays_one():
    class Pair(BaseModel):
        first: Passage
        second: Passage

    class Book(BaseModel):
        pair: Pair

    found = compact_output(Book.model_json_schema())
    assert list(found["$defs"]) == ["Passage"]
    assert found["properties"]["pair"]["properties"] == {
        "first": {"$ref": "#/$defs/Passage"},
        "second": {"$ref": "#/$defs/Passage"},
    }


def test_input_schemas_keep_their_unions_and_descriptions():
    found = compact_input(Passage.model_json_schema())
    assert found["description"] == "A class's docstring."
    assert found["properties"]["page"] == {
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
        "description": "From 1.",
    }


def test_the_schema_of_an_optional_parameter_omits_null():
    class Arguments(BaseModel):
        page: int | None = Field(None, ge=1, description="From 1.")
        pages: list[int] | None = None

    assert compact_input(Arguments.model_json_schema())["properties"] == {
        "page": {"type": "integer", "minimum": 1, "description": "From 1."},
        "pages": {"type": "array", "items": {"type": "integer"}},
    }


def keys(value):
    """How often each key of an answer is named; definitions used once may move."""
    if isinstance(value, list):
        return sum(map(keys, value), Counter())
    if not isinstance(value, dict):
        return Counter()
    named = value.get("properties", {})
    return sum(
        map(keys, value.values()), Counter(list(named)) if isinstance(named, dict) else Counter()
    )


@pytest.mark.parametrize(
    "model",
    [
        analytics.HistogramModel,
        search.WideAnswerModel,
    ],
)
def test_every_key_stays_required_and_in_its_place(model):
    whole = model.model_json_schema()
    compact = compact_output(whole)
    assert list(compact["properties"]) == list(whole["properties"])
    assert compact["required"] == whole["required"]
    assert keys(compact) == keys(whole)
    assert len(json.dumps(compact)) < 0.8 * len(json.dumps(whole))
