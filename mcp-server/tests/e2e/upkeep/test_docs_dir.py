"""A server that is started for a folder needs no other command."""

import os
from functools import partial

import pytest
from answer_text import notes, passages
from mdvec.manage import registering
from page_site import wait_until

from mdvec_mcp import freshness


def write(folder, count, words="# 水\n\n水は一人一日三リットル。\n"):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        file = folder / f"{number}.md"
        file.write_text(words.format(number=number), encoding="utf-8")
        os.utime(file, (1, 1))


@pytest.fixture
def started(connect, tmp_path):
    """A process that is started for a folder, and names no database."""
    return partial(connect, None, "--docs-dir", home=tmp_path)


@pytest.fixture
def serving(connect_here, tmp_path):
    """A server for a folder in this process, with a database that it makes."""
    return partial(connect_here, tmp_path / "data" / "vector-db.sqlite", home=tmp_path)


def names(client):
    return [tool.name for tool in client.tools()]


def test_a_search_during_a_long_import_says_how_far_it_is(serving, tmp_path, monkeypatch):
    monkeypatch.setattr(freshness, "_MAX_SECONDS_WITH_SOME", 0.1)
    folder = tmp_path / "Notes 2026"
    write(folder, 400, "# 水 {number}\n\n水を{number}本備える。")
    with serving(folder=folder) as client:
        answer = client.call("notes-2026", {"query": "水"})
    assert passages(answer.content[0].text)
    told = " ".join(notes(answer.content[0].text))
    assert "of 400 files); an import is running" in told
    assert "newer than the index" not in told  # which files a first import lacks is said already
    assert "continue with" not in told


def test_the_first_search_waits_the_next_start_imports_changes_and_the_folder_can_be_away(
    started, serving, tmp_path
):
    folder, data, told = tmp_path / "家のメモ", tmp_path / "data", []
    write(folder, 3)
    registering.add_tool(data / "vector-db.sqlite", "diary", "d", tmp_path, "markdown")

    async def note(done, total, message):
        told.append(message)

    with started(folder, "--data-dir", data, "--name", "home") as client:
        answer = client.call("search", {"query": "水の量"}, progress_callback=note)
        assert names(client) == ["home", "search", "get_document", "reindex", "list_sources"]
    assert "三リットル" in answer.content[0].text
    assert told[0].startswith("home is being imported")
    tool = registering.find_tool(data / "vector-db.sqlite", "home")
    said = "The user's documents in the folder 家のメモ."
    assert (tool.source, tool.description) == (folder, said)
    write(folder, 1, "# 水\n\n水は九リットルに増やした。\n")

    def answered():
        return client.call("home", {"query": "水"}).content[0].text

    with serving(folder=folder) as client:
        wait_until(lambda: "九リットル" in answered())
    folder.rename(tmp_path / "away")
    with serving(folder=folder) as client:
        assert "九リットル" in answered()


def test_wrong_folders_and_options_are_one_sentence(refused, tmp_path):
    assert "there is no folder" in refused("--docs-dir", tmp_path / "no")
    assert "belong to --docs-dir" in refused("--name", "a")
    both = ("--docs-dir", tmp_path, "--connect", "http://127.0.0.1:1/mcp")
    assert "with --connect" in refused(*both)
    shown = ("--docs-dir", tmp_path, "--http", "127.0.0.1:1")
    assert "the page shows the whole database" in refused(*shown)
    (tmp_path / "b").mkdir()
    registering.add_tool(tmp_path / "vector-db.sqlite", "a", "d", tmp_path, "markdown")
    here = ("--docs-dir", tmp_path / "b", "--data-dir", tmp_path)
    assert "choose another --name" in refused(*here, "--name", "a")
    assert "cannot be a tool's name" in refused(*here, "--name", "家-a")


def test_nothing_is_imported_by_itself_where_the_settings_say_so(serving, tmp_path):
    write(tmp_path / "notes", 1)
    with serving(folder=tmp_path / "notes", MDVEC_SYNC_AUTO="false") as client:
        answer = client.call("notes", {"query": "水"})
    assert "no documents yet" in answer.content[0].text


@pytest.fixture
def project(tmp_path):
    """A folder beside another one, whose tool is in the user's database."""
    database = tmp_path / "mdvec" / "vector-db.sqlite"
    write(tmp_path / "private", 1, "# 秘密\n\n水の話は日記にだけ書く。\n")
    registering.add_tool(database, "diary", "d", tmp_path / "private", "markdown")
    write(tmp_path / "project", 1)
    return tmp_path / "project"


def test_a_server_of_a_folder_answers_from_that_folder_alone(project, connect_here, import_use):
    database = project.parent / "mdvec" / "vector-db.sqlite"
    registering.add_tool(database, "home", "d", project, "markdown")
    for name in ("diary", "home"):
        import_use(database, name)
    refusals: tuple[tuple[str, dict[str, object]], ...] = (
        ("search", {"query": "水", "tools": ["diary"]}),
        ("get_document", {"tool": "diary", "file_path": "0.md"}),
        ("reindex", {"tool": "diary"}),
        ("diary", {"query": "水"}),
    )
    with connect_here(database, home=project.parent, folder=project, is_alone=True) as alone:
        found = alone.call("search", {"query": "水の量"}).content[0].text
        listed = alone.call("list_sources", {}).content[0].text
        refused = [alone.call(*call) for call in refusals]
    assert {hit.tool for hit in passages(found)} == {"home"}
    assert [answer.is_error for answer in refused] == [True] * len(refusals)
    assert all("秘密" not in answer.content[0].text for answer in refused)
    assert "home" in listed
    assert "private" not in listed


def test_with_all_tools_it_offers_those_of_the_database(started, project):
    with started(project, "--all-tools") as client:
        assert "diary" in names(client)


@pytest.mark.soak
def test_with_all_tools_it_searches_those_of_the_database(started, project):
    with started(project, "--all-tools") as client:
        found = client.call("search", {"query": "水の量"})
        read = client.call("get_document", {"tool": "diary", "file_path": "0.md"})
    assert " passage of diary, project\n" in found.content[0].text
    assert "has no document" in read.content[0].text  # nobody has imported it
