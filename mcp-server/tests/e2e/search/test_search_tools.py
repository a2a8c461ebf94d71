"""What a client can ask beside a single collection: all of them, more around a find, the rest."""

import json
import re
from urllib.parse import quote

from answer_text import fenced, notes, passages
from table_of_cases import each


def said(answer):
    return answer.content[0].text


def test_search_asks_every_active_collection_and_names_the_source_of_each_hit(connected):
    answer = connected.call("search", {"query": "water 備蓄する水はどれくらい必要？", "k": 50})
    found = passages(said(answer))
    assert " passages of dev, empty, notes\n" in said(answer)
    assert {hit.tool for hit in found} == {"dev", "notes"}
    assert (found[0].tool, found[0].file_path, found[0].lines) == ("notes", "a.md", (1, 5))
    assert notes(said(answer)) == ["no other passage stands out for this question"]


def test_search_may_be_narrowed_to_named_collections(connected):
    for one in (["dev"], "dev", '["dev"]'):
        narrowed = said(connected.call("search", {"query": "water", "tools": one}))
        assert " passages of dev\n" in narrowed
        assert {hit.tool for hit in passages(narrowed)} == {"dev"}
    nothing = connected.call("search", {"query": "water", "tools": ["empty"]})
    assert passages(said(nothing)) == []
    assert "mdvec import -n empty" in said(nothing)


def test_more_than_the_passage_is_returned_when_asked_for(filled, connected):
    text = (filled / "dev" / "home.md").read_text(encoding="utf-8")
    for tool in ("dev", "search"):
        hits = {}
        for wanted in ("chunk", "section", "document"):
            answer = connected.call(tool, {"query": "soak the rice", "k": 1, "return": wanted})
            assert not answer.is_error, said(answer)
            (hits[wanted],) = passages(said(answer))
            assert hits[wanted].file_path == "home.md"
        assert hits["section"].content.startswith("## Rice\n")
        assert "Bicycle" not in hits["section"].content
        assert hits["document"].content == text.strip()
        assert (hits["document"].lines[0], hits["document"].span[0]) == (1, 0)


def test_a_document_is_read_in_part_or_whole(filled, connected):
    text = (filled / "dev" / "home.md").read_text(encoding="utf-8")
    place = {"tool": "dev", "file_path": "home.md"}
    whole = connected.call("get_document", place)
    assert fenced(said(whole)) == [text.removesuffix("\n")]
    assert said(whole).startswith('dev: "home.md":1-')
    part = said(connected.call("get_document", {**place, "start_line": 3, "end_line": 3}))
    assert fenced(part) == ["## Water"]
    assert f" of {len(text)})" in part
    (found,) = passages(said(connected.call("dev", {"query": "rice", "k": 1})))
    rest = connected.call("get_document", {**place, "start_position": found.span[1]})
    assert fenced(said(rest)) == [text[found.span[1] :].removesuffix("\n")]


def test_a_hit_carries_a_link_on_request(filled, connected):
    file = filled / "notes" / "a.md"
    for tool in ("notes", "search"):
        for link, expected in (
            ("path", str(file)),
            ("obsidian", f"obsidian://open?path={quote(str(file), safe='')}"),
        ):
            arguments = {"query": "水はどれくらい必要？", "k": 1, "link": link}
            answer = connected.call(tool, arguments)
            assert f"\n{json.dumps(expected)}\n" in said(answer)
    plain = connected.call("notes", {"query": "水"})
    assert str(filled) not in said(plain)


def test_what_a_model_reads_keeps_within_max_chars(filled, connect_here):
    with connect_here(
        filled / "vectors.sqlite", home=filled / "home", MDVEC_SEARCH_MAX_CHARS="500"
    ) as client:
        answer = client.call("search", {"query": "water 水", "k": 50})
    assert len(said(answer)) <= 500
    assert len(passages(said(answer))) > 1
    assert "note: the text of " in said(answer)


REFUSALS = [
    ("notes", {}, "notes needs the parameter 'query'"),
    ("notes", {"query": " 　"}, "the query is blank; ask something"),
    ("notes", {"query": ""}, 'notes: query should have at least 1 character, not ""'),
    ("notes", {"query": "水", "k": 0}, "notes: k should be greater than or equal to 1, not 0"),
    (
        "notes",
        {"query": "水", "top": 3},
        "notes has no parameter 'top'; it takes: query, queries, exact, exclude, k, return, path, "
        "tags, since, until, sort, link",
    ),
    ("notes", {"query": 5}, "notes: query should be a valid string, not 5"),
    ("notes", {"query": None}, "notes: query should be a valid string, not null"),
    ("notes", {"query": "水", "k": "many"}, 'notes: k should be a whole number, not "many"'),
    ("notes", {"query": "水", "k": None}, "notes: k should be a whole number, not null"),
    ("search", {"query": "水", "k": 0}, "search: k should be greater than or equal to 1, not 0"),
    ("search", {"query": "水", "k": 51}, "search: k should be less than or equal to 50, not 51"),
    ("search", {"query": "水", "tools": []}, "search: tools should have at least 1 item, not []"),
    ("search", {"query": "水", "tools": ["none"]}, "there is no tool 'none'"),
    ("search", {"query": "水", "tools": ["Dev"]}, "there is no tool 'Dev'; nearest: dev"),
    ("search", {"query": "水", "tools": ["off"]}, "mdvec tool enable -n off"),
    ("search", {"query": " "}, "the query is blank; ask something"),
    ("search", {"query": "水", "return": "page"}, "search: return "),
    ("dev", {"query": "水", "return": None}, "dev: return "),
    ("dev", {"query": "水", "return_": "section"}, "dev has no parameter 'return_'"),
    ("get_document", {"tool": "dev"}, "get_document needs the parameter 'file_path'"),
    ("get_document", {"tool": "none", "file_path": "a.md"}, "there is no tool 'none'"),
    ("get_document", {"tool": "off", "file_path": "a.md"}, "mdvec tool enable -n off"),
    ("get_document", {"tool": "dev", "file_path": "hom.md"}, 'nearest are: "home.md"'),
    ("get_document", {"tool": "dev", "file_path": "../../etc/passwd"}, "has no document"),
    ("get_document", {"tool": "dev", "file_path": "a.md", "start_line": 0}, "start_line "),
    ("get_document", {"tool": "dev", "file_path": "a.md", "start_line": 999}, "behind its end"),
    (
        "get_document",
        {"tool": "dev", "file_path": "a.md", "start_line": 1, "start_position": 0},
        "start_line and start_position both say where to begin; name one of them",
    ),
    ("get_document", {"tool": "dev", "file_path": "a.md", "start_position": -1}, "start_position "),
    ("none", {"query": "水"}, "there is no tool 'none' here"),
    ("notess", {"query": "水"}, "there is no tool 'notess' here now; nearest: notes"),
]


@each(("tool", "arguments", "words"), REFUSALS)
def test_what_cannot_be_done_is_refused_in_one_sentence(connected, tool, arguments, words):
    answer = connected.call(tool, arguments)
    assert answer.is_error
    assert words in said(answer)
    assert "\n" not in said(answer)


def test_the_parameter_is_called_return_in_every_search_tool(connected):
    searches = [tool for tool in connected.tools() if "index" not in tool.name]
    for tool in (one for one in searches if one.name != "list_sources"):
        names = tool.input_schema["properties"]
        if tool.name != "get_document":
            assert names["return"]["enum"] == ["chunk", "section", "document"]
            assert names["return"]["default"] == "chunk"
        assert all(not name.endswith("_") for name in names)
        assert tool.annotations.read_only_hint is True


@each("tool", ["dev", "search"])
def test_exact_and_excluded_texts_are_stated_or_typed(connected, tool):
    for call in ({"query": "Water", "exclude": ["earthquake"]}, {"query": "Water -earthquake"}):
        answer = said(connected.call(tool, {**call, "k": 10}))
        assert all("earthquake" not in hit.content for hit in passages(answer))
        assert any('"earthquake" excluded 1 passage of dev' in note for note in notes(answer))
    exact = said(connected.call(tool, {"query": "rice", "exact": ["half an hour"]}))
    assert [hit.heading for hit in passages(exact)] == ["Home > Rice"]
    typed = said(connected.call(tool, {"query": 'Rice "half an hour"'}))
    assert [hit.heading for hit in passages(typed)] == ["Home > Rice"]


@each("tool", ["dev", "search"])
@each("query", ["ls -water", "git worktree --rice", '{"rice": "soak"}'])
def test_a_command_or_json_forces_nothing(connected, tool, query):
    answer = said(connected.call(tool, {"query": query, "k": 10}))
    assert len(passages(answer)) > 1
    assert "excluded" not in answer


def test_the_word_null_is_searched_for(connected):
    answer = said(connected.call("search", {"query": "null"}))
    assert 'nothing here mentions "null"' in answer


def test_quotes_that_no_passage_has_force_nothing_and_say_so(connected):
    answer = said(connected.call("dev", {"query": 'Rice "soak it for an hour"'}))
    assert passages(answer)
    assert any("so the quotes forced nothing" in note for note in notes(answer))


@each(
    ("tool", "queries"),
    [
        ("dev", {"query": "rice", "queries": ["tyres"]}),
        ("search", {"queries": ["rice", "tyres"]}),
        ("search", {"query": None, "queries": ["rice", "tyres"]}),
        ("search", {"query": "path:*.md", "queries": ["rice", "tyres"]}),
    ],
)
def test_several_queries_are_ranked_together_and_each_hit_says_which_found_it(
    connected, tool, queries
):
    answer = said(connected.call(tool, {**queries, "k": 2}))
    assert re.search(r'"Home > Rice".*; found by "rice"', answer)
    assert re.search(r'"Home > Bicycle".*; found by .*"tyres"', answer)
