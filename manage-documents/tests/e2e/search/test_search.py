"""`mdvec search`: the server's answer, as lines or as JSON."""

import re

from mdvec.manage.registering import add_tool, set_active

HIT_KEYS = {
    "tool", "file_path", "heading", "content", "score", "chunk_index", "start_position",
    "end_position", "start_line", "end_line", "truncated", "next_position",
}  # fmt: skip


def test_hits_are_shown_as_lines_or_as_json_and_explained_when_asked(notes):
    query = "一人一日三リットルの水"
    plain, as_json, explained, section = notes.each(
        ["search", query, "-n", "notes", "-k", "2"],
        ["search", query, "--format", "json", "--explain", "--mode", "lexical"],
        ["search", query, "--explain", "-k", "1"],
        ["search", query, "--return", "document", "-k", "1", "--format", "json"],
    )
    assert [done.code for done in (plain, as_json, explained, section)] == [0] * 4
    assert [done.err for done in (plain, as_json, explained, section)] == [""] * 4
    lines = plain.out.splitlines()
    assert re.fullmatch(r"\[1\] [01]\.\d\d  notes: water\.md:1-3  水の備え", lines[0])
    assert "    # 水の備え" in lines
    assert len([line for line in lines if line.startswith("[")]) == 2

    found = as_json.json
    assert (found["tools"], found["query"], found["total_chunks"]) == (["notes"], query, 4)
    assert (found["truncated"], found["notes"]) == (
        False,
        ["no other passage stands out for this question"],
    )
    best = found["results"][0]
    assert set(best) == HIT_KEYS | {"explanation"}
    assert (best["tool"], best["file_path"]) == ("notes", "water.md")
    assert best["explanation"]["lexical_rank"] == 1
    assert best["explanation"]["cosine"] is None
    assert found["seconds"]["lexical_search"] >= 0
    assert "query_embedding" not in found["seconds"]

    why = explained.out.splitlines()[1]
    assert re.search(r"words: rank 1, bm25 \d.*coverage \d+%.*vectors: rank \d, cosine 0\.\d", why)
    assert "matched words: " in explained.out.splitlines()[2]
    assert "query_embedding" in explained.out

    (whole,) = section.json["results"]
    assert set(whole) == HIT_KEYS
    assert whole["content"] == (notes.docs / "water.md").read_bytes().decode()


def test_what_cannot_be_searched_is_said_in_one_line(notes):
    add_tool(notes.database, "empty", "d", notes.docs, "markdown")
    add_tool(notes.database, "off", "d", notes.docs, "markdown")
    set_active(notes.database, "off", active=False)
    empty, off, many, blank = notes.each(
        ["search", "水", "-n", "empty"],
        ["search", "水", "-n", "off"],
        ["search", "水", "-k", "51"],
        ["search", " "],
    )
    assert (empty.code, empty.out) == (0, "")
    assert empty.err == "empty: no documents yet; import them with: mdvec import -n empty\n"
    for done, words in (
        (off, "enable it with: mdvec tool enable -n off"),
        (many, "k cannot be 51; allowed: 1 to 50 hits"),
        (blank, "the query is blank"),
    ):
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("error: ")
        assert words in done.err
        assert done.err.count("\n") == 1


def test_without_an_active_tool_it_says_how_to_add_one(mdvec):
    add_tool(mdvec.database, "off", "d", mdvec.docs, "markdown")
    set_active(mdvec.database, "off", active=False)
    done = mdvec("search", "水")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("no tool with texts is active; add one with: mdvec tool add")
