"""Listings, links, front matter and tasks as a client asks for them."""

import json
import re

import pytest
from answer_text import notes, passages
from collection import Collection

NOTES = {
    "給湯器.md": "---\nstatus: open\ndate: 2025-02-01\ntags: [家]\n---\n# 給湯器\n\n[[修理]]\n",
    "修理.md": "---\nstatus: open\n---\n# 修理\n\n[給湯器](給湯器.md) の型番。\n\n- [ ] 電話する\n",
    "水.md": "---\nstatus: done\n---\n# 水\n\n水の備蓄。\n",
}


@pytest.fixture(scope="module")
def client(tmp_path_factory, connect_here):
    folder = tmp_path_factory.mktemp("links")
    database = Collection.of(folder, NOTES).database
    with connect_here(database, home=folder / "home", MDVEC_SEARCH_MODE="lexical") as connected:
        yield connected


def said(answer):
    assert not answer.is_error, answer.content[0].text
    return answer.content[0].text


def test_without_a_query_search_lists_what_passes_the_filters(client):
    listed = said(client.call("search", {"tags": ["家"]}))
    assert listed == '1 document of notes\n- "給湯器.md" "給湯器" 2025-02-01 "#家"'
    assert said(client.call("search", {})).startswith("3 documents of notes\n")
    status = said(client.call("search", {"where": {"status": "done"}}))
    assert '- "水.md" "水"' in status
    none = said(client.call("search", {"where": {"status": "closed"}}))
    assert 'values of "status": "open", "done"' in none
    of_any = said(client.call("search", {"where": {"status": None}}))
    assert '- "水.md"' in of_any
    assert '"status=done"' in of_any
    for value in (3, True, ["open", 3]):
        assert not client.call("search", {"where": {"status": value}}).is_error
    takes = "where 'status' takes a value, a list of values, or null for any value"
    for wrong in ({"from": "open"}, ["open", None], [["open"]]):
        refused = client.call("search", {"where": {"status": wrong}})
        assert (refused.is_error, refused.content[0].text) == (True, takes)
    tasks = said(client.call("search", {"tasks": True}))
    assert tasks.startswith("1 document of notes, with 1 open task\n")
    assert tasks.endswith('- "修理.md" "修理"\n  - line 8: "電話する"')
    assert "the last is 1" in client.call("search", {"page": 2}).content[0].text


def test_a_further_page_of_a_question_is_said_to_be_none(client):
    answer = said(client.call("search", {"query": "型番", "page": 2}))
    assert "note: a question has no pages, only a listing has; a larger k" in answer
    assert "pages" not in said(client.call("search", {"query": "型番", "page": 1}))


def test_a_listing_of_many_long_tasks_and_tags_keeps_within_its_budget(tmp_path, connect_here):
    tags = ", ".join(f"{'長' * 90}{number}" for number in range(50))
    tasks = "".join(f"- [ ] 仕事 {number}: {'手順' * 160}\n" for number in range(40))
    notes = {f"{name}.md": f"---\ntags: [{tags}]\n---\n{tasks}" for name in "abc"}
    database = Collection.of(tmp_path, notes).database
    with connect_here(
        database, home=tmp_path / "home", MDVEC_SEARCH_MODE="lexical", MDVEC_SEARCH_MAX_CHARS="9000"
    ) as client:
        listed = said(client.call("search", {"tasks": True}))
        assert len(listed) < 9_000 + 3 * 80
        assert listed.count('\n- "') == 3
        assert '  - line 4: "仕事 0: 手順' in listed
        assert ' 47 more"' in listed
        more = re.findall(r"\n  - (\d+) more tasks from line (\d+) on; narrow by path", listed)
        shown = listed.count("\n  - line ")
        assert sum(int(count) for count, _ in more) + shown == 3 * 40
        assert int(more[0][1]) == 4 + 40 - int(more[0][0])
        hit = said(client.call("notes", {"query": "仕事", "k": 1}))
        assert len(hit) < 9_200
        assert ' 47 more", score' in hit


def test_texts_in_front_matter_and_endless_names_fill_no_answer(tmp_path, connect_here):
    matter = f"{'鍵' * 90}: x\nstatus: open\nabout: {'長い説明' * 300}\n"
    notes = {f"{name}.md": f"---\n{matter}---\n本文 {name}\n" for name in "ab"}
    database = Collection.of(tmp_path, notes).database
    with connect_here(database, home=tmp_path / "home", MDVEC_SEARCH_MODE="lexical") as client:
        (line,) = [
            line.strip()
            for line in said(client.call("list_sources", {})).splitlines()
            if "front matter" in line
        ]
        assert line == 'front matter: "status" ("open"), "about"'
        none = said(client.call("search", {"where": {"about": "短い"}}))
        assert none.endswith('has that "about"; the most frequent values of "about": none')
        assert len(said(client.call("search", {"where": {"鍵" * 9_000: "x"}}))) < 300
        for call in ("search", {"tools": ["x" * 9_000]}), ("x" * 9_000, {}):
            refused = client.call(*call)
            assert refused.is_error
            assert len(refused.content[0].text) < 300


def test_a_path_in_an_answer_can_be_passed_on_as_it_stands(tmp_path, connect_here):
    path = "a  b.md"  # which shows as "a b.md" where white space collapses
    notes = {"c.md": "# c\n\n[[a  b]] の話。\n", path: "# 二つ\n\n空白。\n"}
    notes |= {f"同じ/{path}": "# 同じ\n\n同じ文。\n", "同じ/1.md": "# 同じ\n\n同じ文。\n"}
    database = Collection.of(tmp_path, notes).database
    with connect_here(database, home=tmp_path / "home", MDVEC_SEARCH_MODE="lexical") as client:
        document = said(client.call("get_document", {"tool": "notes", "file_path": "c.md"}))
        (linked,) = re.findall(r'links to ("[^"]*")', document)
        read = {"tool": "notes", "file_path": json.loads(linked)}
        assert "空白。" in said(client.call("get_document", read))
        assert 'also in "同じ/a  b.md":1-3' in said(client.call("notes", {"query": "同じ文"}))


def test_hits_and_documents_tell_their_links(client):
    answer = said(client.call("notes", {"query": "型番"}))
    assert "; links to 給湯器.md; linked from 給湯器.md\n" in answer
    document = said(client.call("get_document", {"tool": "notes", "file_path": "給湯器.md"}))
    assert "; links to 修理.md; linked from 修理.md\n" in document
    linking = said(client.call("search", {"query": "型番", "links_to": "給湯器.md"}))
    assert [hit.file_path for hit in passages(linking)] == ["修理.md"]


def test_a_document_tells_which_notes_a_link_fits_that_fits_several(tmp_path, connect_here):
    notes = {"a.md": "[値](/t/v.html)\n", "p/t/v.md": "# p\n", "q/t/v.md": "# q\n"}
    database = Collection.of(tmp_path, notes).database
    with connect_here(database, home=tmp_path / "home", MDVEC_SEARCH_MODE="lexical") as client:
        document = said(client.call("get_document", {"tool": "notes", "file_path": "a.md"}))
        assert '; "/t/v.html" fits several: p/t/v.md, q/t/v.md\n' in document
        assert "links to" not in document


def test_related_notes_are_found_without_the_note_itself(client):
    answer = said(client.call("search", {"related_to": "給湯器.md"}))
    assert "nothing here seems to answer" not in answer  # nothing was asked
    assert [hit.file_path for hit in passages(answer)] == ["修理.md"]
    assert not any("mention" in note for note in notes(answer))
    assert said(client.call("search", {"related_to": "給湯器"})).count("修理.md") == 1
    missing = client.call("search", {"related_to": "none.md"})
    assert 'no document "none.md" here' in missing.content[0].text


def test_lines_are_numbered_on_request(client):
    place = {"tool": "notes", "file_path": "水.md", "start_line": 4}
    assert "\n4: # 水\n5: \n6: 水の備蓄。\n" in said(
        client.call("get_document", {**place, "line_numbers": True})
    )


def test_list_sources_says_how_many_more_entries_front_matter_has(tmp_path, connect_here):
    matter = "".join(f"e{number}: {number}\n" for number in range(11))
    database = Collection.of(tmp_path, {"a.md": f"---\n{matter}---\n本文\n"}).database
    with connect_here(database, home=tmp_path / "home", MDVEC_SEARCH_MODE="lexical") as client:
        assert '"e6", "e7" and 3 more\n' in said(client.call("list_sources", {}))


def test_list_sources_names_the_endings_that_are_not_read(tmp_path, connect_here):
    collection = Collection.of(tmp_path, {"a.md": "# 一\n\n春の話。\n"})
    for name in ("b.log", "c.log", "d.ipynb"):
        (collection.folder / name).write_text("{}")
    with connect_here(
        collection.database, home=tmp_path / "home", MDVEC_SEARCH_MODE="lexical"
    ) as client:
        listed = said(client.call("list_sources", {}))
    assert "  not read: notebooks (1 file); to read them too: mdvec tool update -n " in listed
    assert "\n  not read, as mdvec cannot: .log (2 files)\n" in listed


def test_list_sources_tells_front_matter_and_its_values_if_some_are_shared(client):
    assert 'front matter: "status" ("open", "done")' in said(client.call("list_sources", {}))
