"""Compact schemas accept what the whole ones accept, and say it in fewer characters."""

from __future__ import annotations

from pydantic import BaseModel, Field

from mdvec_mcp.compact_schema import compact_input


class Passage(BaseModel):
    """A class's docstring."""

    title: str
    page: int | None = Field(ge=1, description="From 1.")
    kind: dict[str, object] | None


def test_titles_go_and_properties_called_title_stay():
    found = compact_input(Passage.model_json_schema())
    assert found["properties"]["title"] == {"type": "string"}
    assert "title" not in found


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
