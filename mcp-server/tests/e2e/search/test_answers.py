"""What a client sees of the server: its tools, their answers and their refusals."""

import pytest
from answer_text import passages
from mdvec.manage import registering


def test_every_active_row_is_a_tool_with_its_own_description(connected):
    tools = connected.tools()
    assert [tool.name for tool in tools[3:]] == [
        "search", "get_document", "reindex", "list_sources",
    ]  # fmt: skip
    english = "Search this collection of the user's notes or documents (several: search)."
    assert [(tool.name, tool.description) for tool in tools[:3]] == [
        (name, f"{english} {description}")
        for name, description in (
            ("dev", "dev の説明"),
            ("empty", "empty"),
            ("notes", "notes の説明"),
        )
    ]
    for line in ("- dev (markdown): dev の説明", "- empty (markdown): empty"):
        assert line in connected.client.instructions.split("\n")
    own = tools[2]
    assert own.annotations.read_only_hint is True
    query, k = (own.input_schema["properties"][name] for name in ("query", "k"))
    assert query["type"] == "string"
    assert (k["type"], k["default"]) == ("integer", 5)
    assert query["description"]


def test_a_question_without_an_answer_is_said_to_have_none(connected):
    answer = connected.call("search", {"query": "量子もつれの観測装置と冷凍機の水温"})
    first = answer.content[0].text.split("\n\n")[1]
    assert first == "nothing here seems to answer this; the nearest passages follow"


def test_hits_come_best_first_each_as_it_stands_in_its_file(filled, connected):
    query = "Where do I keep water for an earthquake?"
    answer = connected.call("dev", {"query": query, "k": 2})
    found = passages(answer.content[0].text)
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert (len(scores), scores[0] <= 1, scores[-1] > 0) == (2, True, True)
    for hit in found:
        text = (filled / "dev" / hit.file_path).read_bytes().decode()
        assert hit.content == text[slice(*hit.span)].strip()
        first, last = hit.lines
        assert hit.content == "\n".join(text.split("\n")[first - 1 : last]).strip()
    assert found[0].heading == "Home > Water"


def test_programs_that_ask_for_it_get_the_answer_as_data_too(filled, connect_here):
    always = {"MDVEC_SERVER_STRUCTURED": "always"}
    with connect_here(filled / "vectors.sqlite", home=filled / "home", **always) as client:
        answer = client.call("notes", {"query": "水はどれくらい必要？"})
        wide = client.call("search", {"query": "水"}).structured_content
        part = client.call("get_document", {"tool": "dev", "file_path": "home.md", "end_line": 1})
    found = answer.structured_content
    assert set(found) == {
        "tool", "query", "results", "total_chunks", "confident", "truncated", "notes",
    }  # fmt: skip
    assert set(found["results"][0]) == {
        "file_path", "title", "tags", "date", "heading", "content", "score", "chunk_index",
        "start_position", "end_position", "start_line", "end_line", "truncated", "next_position",
        "link", "found_by", "also_in", "links_to", "linked_from", "goes_on", "pages", "first_page",
            "description",
    }  # fmt: skip
    (hit,) = passages(answer.content[0].text)
    assert (found["confident"], found["results"][0]["content"].strip()) == (True, hit.content)
    assert wide["tools"] == ["dev", "empty", "notes"]
    assert {hit["tool"] for hit in wide["results"]} <= {"dev", "notes"}
    assert part.structured_content["content"] == "# Home\n"


@pytest.mark.parametrize("structured", ["auto", "never"])
def test_everybody_else_reads_the_text_alone(filled, connect_here, structured):
    asked = {"MDVEC_SERVER_STRUCTURED": structured}
    with connect_here(filled / "vectors.sqlite", home=filled / "home", **asked) as client:
        assert all(tool.output_schema is None for tool in client.tools())
        for name in ("notes", "search"):
            assert client.call(name, {"query": "水"}).structured_content is None


def test_anything_readable_is_a_question(connected):
    queries = ["[1,2]", "null", "7", '"a" AND b*', "絵文字🍙"]
    answers = [connected.call("notes", {"query": query}) for query in queries]
    assert [answer.is_error for answer in answers] == [False] * 5


def test_a_query_that_is_too_long_is_refused_without_repeating_it(connected):
    for tool in ("notes", "search"):
        answer = connected.call(tool, {"query": "水" * 4_001})
        assert answer.is_error
        said = answer.content[0].text
        assert "query should have at most 4000 characters, not" in said
        assert len(said) < 200


def test_filters_narrow_a_search_and_tags_are_told(database, connect_here, import_use):
    notes = database.parent / "notes"
    (notes / "plan.md").write_text(
        "---\ntags: [会議, work/plan]\ndate: 2025-06-01\n---\n計画の話。"
    )
    (notes / "diary.md").write_text("---\ndate: 2024-01-01\n---\n計画の話。 #日記\n")
    import_use(database, "notes", "update")
    with connect_here(database, home=database.parent) as client:
        tools = {tool.name: tool for tool in client.tools()}
        assert "会議" not in tools["notes"].description
        listed = client.call("list_sources", {}).content[0].text
        tagged, older, nothing, refused = (
            client.call("notes", {"query": "計画"} | more)
            for more in (
                {"tags": ["#Work"], "since": "2025年6月", "path": "*.md", "sort": "newest"},
                {"until": "2024年"},
                {"tags": ["会議室"]},
                {"since": "いつか"},
            )
        )
    assert 'frequent tags: "work/plan", "会議", "日記"' in listed
    (hit,) = passages(tagged.content[0].text)
    assert hit.about == "#会議 #work/plan 2025-06-01"
    assert [hit.file_path for hit in passages(older.content[0].text)] == ["diary.md"]
    assert 'no note of notes has the tag 会議室; similar tags: "会議"' in nothing.content[0].text
    assert (refused.is_error, "2025年6月" in refused.content[0].text) == (True, True)


def test_a_missing_database_is_not_an_error_and_is_not_created(tmp_path, connect_here):
    def offered():
        with connect_here(tmp_path / "none.sqlite", home=tmp_path) as connected:
            return connected.client.instructions, [tool.name for tool in connected.tools()]

    instructions, tools = offered()
    assert tools == ["search", "get_document"]
    assert "mdvec tool add" in instructions
    assert not (tmp_path / "none.sqlite").exists()
    (tmp_path / "none.sqlite").touch()
    assert offered() == (instructions, tools)


def test_changes_made_while_the_server_runs_get_a_clear_answer(database, connect_here, import_use):
    def ask():
        answer = client.call("notes", {"query": "水", "k": 9})
        text = answer.content[0].text
        return text if answer.is_error else len(passages(text))

    with connect_here(database, home=database.parent) as client:
        assert ask() == 1
        (database.parent / "notes" / "b.md").write_text(f"# 水道\n\n{'水の話。' * 30}")
        import_use(database, "notes", "update")
        assert ask() == 2
        import_use(database, "notes", "replace")
        assert ask() == 2
        gone = "there is no tool 'notes' here now; list the tools again. "  # noticed before it
        registering.set_active(database, "notes", active=False)
        disabled = "the tool 'notes' is disabled; enable it with: mdvec tool enable -n notes"
        assert ask().startswith((gone, disabled))
        registering.set_active(database, "notes", active=True)
        assert ask() == 2
        registering.delete_tool(database, "notes")
        deleted = "there is no tool 'notes'; "
        assert ask().startswith((gone, deleted))
