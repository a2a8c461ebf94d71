"""The view of the tools: folders added, imports watched, tools switched, over a real port."""

import json

import pytest
from collection import Collection
from hostile import text_in
from mdvec.embedding import catalog
from mdvec.manage.registering import add_tool, find_tool
from page_site import page_site, post, wait_until


@pytest.fixture
def home(tmp_path, monkeypatch, kept_caches):
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    kept_caches(tmp_path / "caches")
    return home


def events(client, until):
    """The server's events until one fulfils a condition."""
    seen = []
    with client.stream("GET", "/tools/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                seen.append((name, json.loads(line.removeprefix("data: "))))
                if until(seen):
                    return seen
    raise AssertionError(seen)


def test_from_nothing_to_the_first_hit(home):
    (home / "notes" / "water.md").write_text("# 水\n\n水は1人1日3リットルを備えます。\n")
    database = home / "data" / "v.sqlite"
    with (
        page_site(database, catalog.load, model={"name": "use"}) as site,
        site.client("ja") as client,
    ):
        assert "まだツールがありません" in client.get("/tools").text
        picked = client.get("/tools/folders").text
        assert "/tools/folders?at=notes" in picked
        added = post(client, "/tools/add", path=f"{home}/notes", kind="markdown")
        assert (added.status_code, added.url.path) == (200, "/tools")
        assert 'id="tool-notes"' in added.text
        # The list is announced at first, and again when the import has ended.
        events(client, lambda _: "最新です" in client.get("/tools?part=list").text)
        found = client.get("/", params={"q": "水の備え"}).text
        assert "3リットル" in text_in(found)


def test_a_tool_is_switched_off_and_on_and_said_to_be_stale(home):
    collection = Collection.of(home, {"a.md": "# 水\n"})
    with page_site(collection.database) as site, site.client() as client:
        assert "Up to date (1 files)" in client.get("/tools").text
        off = post(client, "/tools/active", tool="notes", active="0")
        assert "Enable" in off.text
        assert find_tool(collection.database, "notes").is_active is False
        post(client, "/tools/active", tool="notes", active="1")
        collection.write("b.md", "# 米\n")
        stale = client.get("/tools?part=list").text
        assert "1 file is newer than the index of notes" in stale
        post(client, "/tools/stop", tool="notes")
        assert post(client, "/tools/reindex", tool="none").status_code == 400
        assert client.get("/tools/active").status_code == 405


def test_an_import_that_failed_is_shown_until_the_index_is_up_to_date(home):
    collection = Collection.of(home, {"a.md": "# 水\n"})
    with page_site(collection.database) as site, site.client() as client:
        (home / "notes").rename(home / "away")
        post(client, "/tools/reindex", tool="notes")
        wait_until(lambda: 'class="trouble"' in client.get("/tools?part=list").text)
        (home / "away").rename(home / "notes")
        fresh = client.get("/tools?part=list").text
        assert ("Up to date (1 files)" in fresh, 'class="trouble"' in fresh) == (True, False)


def test_a_wrong_name_or_kind_ends_in_one_sentence(home):
    with page_site(home / "data" / "v.sqlite") as site, site.client() as client:
        wrong = post(client, "/tools/add", path="notes", name="No Name!", kind="markdown")
        assert (wrong.status_code, "Traceback" in wrong.text) == (400, False)
        file = home / "a.txt"
        file.touch()
        refused = post(client, "/tools/add", path="a.txt", kind="dataset")
        assert (refused.status_code, "cannot be a dataset" in refused.text) == (400, True)
        assert 'value="a.txt"' in refused.text  # what was typed stays
        assert '<option value="dataset" selected>' in refused.text


def test_a_backup_is_downloaded_and_restored_over_what_was_there_when_that_is_said(home):
    database = home / "data" / "v.sqlite"
    folder = home / "a"
    folder.mkdir()
    add_tool(database, "first", "the first", folder, "markdown")
    with page_site(database) as site, site.client() as client:
        backup = post(client, "/tools/backup")
        assert backup.headers["content-disposition"].startswith("attachment; filename=")
        (home / "b.zip").write_bytes(backup.content)
        add_tool(database, "second", "the second", folder, "markdown")
        refused = post(client, "/tools/restore", backup="b.zip")
        assert (refused.status_code, 'value="b.zip"' in refused.text) == (400, True)
        assert "has tools already (first, second)" in refused.text
        for wrong in ("none.zip", "a", "", "a\0b", "~x/b.zip"):
            assert post(client, "/tools/restore", backup=wrong, replaces="1").status_code == 400
        done = post(client, "/tools/restore", backup=str(home / "b.zip"), replaces="1")
        assert ("tool-first" in done.text, "tool-second" in done.text) == (True, False)
        (kept,) = database.parent.glob("v.sqlite.replaced-*")
        assert f"What was there is kept: {kept}" in text_in(done.text)
        assert sorted(file.suffix for file in database.parent.glob(".mdvec*")) == []
