"""Listings, links, front matter and tasks as a client asks for them."""

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
    assert '- "水.md"' in said(client.call("search", {"where": {"status": None}}))
    for value in (3, True, ["open", 3]):
        assert not client.call("search", {"where": {"status": value}}).is_error
    tasks = said(client.call("search", {"tasks": True}))
    assert tasks.endswith('- "修理.md" "修理"\n  - line 8: "電話する"')
    assert "the last is 1" in client.call("search", {"page": 2}).content[0].text


def test_hits_and_documents_tell_their_links(client):
    answer = said(client.call("notes", {"query": "型番"}))
    assert "; links to 給湯器.md; linked from 給湯器.md\n" in answer
    document = said(client.call("get_document", {"tool": "notes", "file_path": "給湯器.md"}))
    assert "; links to 修理.md; linked from 修理.md\n" in document
    linking = said(client.call("search", {"query": "型番", "links_to": "給湯器.md"}))
    assert [hit.file_path for hit in passages(linking)] == ["修理.md"]


def test_related_notes_are_found_without_the_note_itself(client):
    answer = said(client.call("search", {"related_to": "給湯器.md"}))
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


def test_list_sources_tells_front_matter_and_its_values_if_some_are_shared(client):
    assert 'front matter: "status" ("open", "done")' in said(client.call("list_sources", {}))
