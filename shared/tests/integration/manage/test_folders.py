"""The tool of a folder that a server was started for."""

import pytest
from table_of_cases import each

from mdvec.manage import registering
from mdvec.manage.registering import FolderRefused, tool_of_folder
from mdvec.tools.names import InvalidToolName, checked_tool_name, name_for


@each(
    ("title", "name"),
    [
        ("Notes 2026", "notes-2026"),
        ("ｎｏｔｅｓ", "notes"),
        ("家のメモ", "docs"),
        ("家notes", "notes"),
        ("search", "my-search"),
        ("--", "docs"),
        ("a" * 200, "a" * 50),
    ],
)
def test_a_folder_gives_a_name_that_a_tool_can_have(title, name):
    assert name_for(title, ()) == name
    assert checked_tool_name(name) == name


def test_a_name_that_is_taken_is_numbered(tmp_path):
    database = tmp_path / "v.sqlite"
    for folder in ("a/メモ", "b/記録", "c/日記"):
        (tmp_path / folder).mkdir(parents=True)
    names = [
        tool_of_folder(database, tmp_path / folder).name
        for folder in ("a/メモ", "b/記録", "a/メモ", "c/日記")
    ]
    assert names == ["docs", "docs-2", "docs", "docs-3"]


def test_a_tool_that_the_user_named_is_taken_as_it_is(tmp_path):
    database = tmp_path / "v.sqlite"
    registering.add_tool(database, "mine", "私の", tmp_path, "markdown")
    assert tool_of_folder(database, tmp_path).name == "mine"
    assert tool_of_folder(database, tmp_path, "mine").description == "私の"
    with pytest.raises(FolderRefused, match="choose another --name"):
        tool_of_folder(database, tmp_path.parent, "mine")
    with pytest.raises(InvalidToolName):
        tool_of_folder(database, tmp_path, "家")
    with pytest.raises(FolderRefused, match="there is no folder"):
        tool_of_folder(database, tmp_path / "no")
    registering.set_active(database, "mine", active=False)
    with pytest.raises(FolderRefused, match="is disabled; enable it with: mdvec tool enable -n"):
        tool_of_folder(database, tmp_path)
