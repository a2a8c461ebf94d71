"""Arguments of another JSON type than the schema's are refused, not reinterpreted."""

import pytest
from mcp.server.mcpserver.exceptions import ToolError
from table_of_cases import each

from mdvec_mcp.arguments import checked_arguments

OPTIONAL_NUMBER = {"anyOf": [{"type": "number"}, {"type": "null"}]}
NUMBERS = {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}
TEXTS = {"anyOf": [{"type": "array", "items": {"type": "string"}, "minItems": 1}, {"type": "null"}]}
PAIR = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}


@each(
    ("schema", "value"),
    [
        ({"type": "integer"}, 5),
        ({"type": "integer"}, 5.0),
        ({"type": "number"}, 5),
        ({"type": "boolean"}, True),
        ({"type": "string"}, "5"),
        ({"enum": ["a"], "type": "string"}, None),
        (OPTIONAL_NUMBER, None),
        (OPTIONAL_NUMBER, 0.5),
        (NUMBERS, [1, 2]),
        (NUMBERS, "[1, 2]"),
        (PAIR, "2025-06"),
        ({}, object),
    ],
)
def test_arguments_that_pydantic_checks_are_unchanged(schema, value):
    assert checked_arguments("t", {"p": value}, {"p": schema}) == {"p": value}


@each(
    ("schema", "value", "needed"),
    [
        ({"type": "integer"}, True, "a whole number, not true"),
        ({"type": "integer"}, "5", 'a whole number, not "5"'),
        ({"type": "integer"}, 5.5, "a whole number, not 5.5"),
        ({"type": "integer"}, 10**18, f"a whole number of at most 18 digits, not {10**18}"),
        ({"type": "integer"}, -1e300, "a whole number of at most 18 digits, not -1e+300"),
        (OPTIONAL_NUMBER, False, "a number, not false"),
        (OPTIONAL_NUMBER, "5", 'a number, not "5"'),
        ({"type": "boolean"}, 1, "true or false, not 1"),
        ({"type": "boolean"}, "true", 'true or false, not "true"'),
        (NUMBERS, [1, True], "a list in which each item is a whole number, not [1, true]"),
        (NUMBERS, ["5"], 'a list in which each item is a whole number, not ["5"]'),
        ({"type": "integer"}, "x" * 900, f'a whole number, not "{"x" * 59}…'),
    ],
)
def test_another_json_type_is_refused_in_one_sentence(schema, value, needed):
    with pytest.raises(ToolError) as refused:
        checked_arguments("t", {"p": value}, {"p": schema})
    assert str(refused.value) == f"t: p should be {needed}"


def test_one_text_is_a_list_of_one_where_a_list_of_texts_is_taken():
    assert checked_arguments("t", {"p": "vue"}, {"p": TEXTS}) == {"p": ["vue"]}
    assert checked_arguments("t", {"p": "[1"}, {"p": TEXTS}) == {"p": ["[1"]}
    assert checked_arguments("t", {"p": '["vue"]'}, {"p": TEXTS}) == {"p": '["vue"]'}
