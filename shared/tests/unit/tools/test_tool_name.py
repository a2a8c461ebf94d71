"""Valid names of tools."""

import pytest
from table_of_cases import each

from mdvec.tools.names import OWN, InvalidToolName, checked_tool_name, own_name


@each("name", ["a", "7", "notes", "my-notes_2024", "0_-", "x" * 63, "select"])
def test_a_good_name_comes_back_as_it_is(name):
    assert checked_tool_name(name) == name


@each(
    "name",
    [
        "", " ", "Notes", "my notes", "ノート", "-notes", "_notes", "notes\n", "\nnotes", "no\0tes",
        'n"otes', "n'otes", "notes; DROP TABLE tools", "notes--*/", "../notes", "notes.db",
        "x" * 64, "x" * 100, "é", "ｎｏｔｅｓ", "notes\u200b", "n%s", "[notes]", "１",
    ],
)  # fmt: skip
def test_any_other_name_is_refused_with_what_is_allowed(name):
    with pytest.raises(InvalidToolName, match="use 1 to 63 lower-case letters a-z, digits, '_'"):
        checked_tool_name(name)


def test_a_long_name_is_shown_in_short():
    with pytest.raises(InvalidToolName) as refused:
        checked_tool_name("あ" * 10_000)
    assert "'" + "あ" * 40 + "…'" in str(refused.value)
    assert len(str(refused.value)) < 200


@each("name", sorted(OWN))
def test_the_servers_own_names_are_refused_with_another(name):
    for taken in (name, f"mdvec_{name}"):
        with pytest.raises(InvalidToolName, match=f"choose another, such as 'my-{name}'"):
            checked_tool_name(taken)
    assert checked_tool_name(f"my-{name}") == f"my-{name}"


def test_a_tool_of_the_servers_own_gives_way_to_rows_of_its_name():
    assert own_name("query", {"notes"}) == "query"
    assert own_name("query", {"notes", "query"}) == "mdvec_query"
    assert own_name("query", {"query", "mdvec_query"}) == "mdvec_mdvec_query"
