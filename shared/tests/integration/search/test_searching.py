"""Searching: ranked hits with exact places, and what is refused."""

from contextlib import nullcontext
from dataclasses import replace

import pytest
from table_of_cases import each
from tiny_embedder import TinyBackend, tiny_embedder

from mdvec.database.connection import DatabaseMissing
from mdvec.embedding.embedder import UnembeddableText
from mdvec.manage import registering
from mdvec.search.answer import Answer, Question, SearchRefused, search
from mdvec.search.question_vectors import ModelDiffers
from mdvec.tools.registry import ToolNotFound

BODY = "水の備蓄は一人一日三リットルを目安にします。台所の下の棚に置きます。" * 2
OTHER = "Keep two branches checked out at the same time with git worktree add. " * 2


@pytest.fixture
def filled(collection):
    collection.write("home/water.md", f"---\ntitle: 防災\n---\n# 防災\n\n## 水\r\n\r\n{BODY}\r\n")
    collection.write("dev/git.md", f"# Git\n\n{OTHER}\n")
    collection.import_("new")
    return collection


def test_the_nearest_chunk_comes_first_with_its_exact_place(filled):
    answer = filled.search("水の備蓄 git", k=2)
    best = answer.results[0]
    text = (filled.folder / "home/water.md").read_bytes().decode()
    assert best.file_path == "home/water.md"
    assert best.heading == "防災 > 水"
    assert text[best.start_position : best.end_position] == best.content
    lines = text.replace("\r\n", "\n").split("\n")
    assert (lines[best.start_line - 1], lines[best.end_line - 1]) == ("# 防災", BODY)
    assert 1 >= best.score >= answer.results[1].score >= 0
    assert answer.total_chunks == 2


def test_k_bounds_the_hits_and_as_many_as_were_asked_for_need_no_note(filled):
    assert len(filled.search("git 水", k=1).results) == 1
    assert len(filled.search("git 水", k=50).results) == 2
    assert filled.search("git worktree", k=1).notes == ()


NO_OTHER = ("no other passage stands out for this question",)


@each(
    ("query", "mode", "files", "notes"),
    [
        ("checked out branches", "hybrid", ["dev/git.md"], NO_OTHER),
        ("git worktree", "lexical", ["dev/git.md"], NO_OTHER),
        (
            "xylophone", "lexical", [],
            ('nothing here mentions "xylophone"', "no passage stands out for this question"),
        ),
        ("git 水", "hybrid", ["dev/git.md", "home/water.md"], ()),
    ],
)  # fmt: skip
def test_a_passage_without_evidence_is_no_hit_and_the_answer_says_so(
    filled, query, mode, files, notes
):
    answer = filled.search(query, mode=mode)
    assert sorted(hit.file_path for hit in answer.results) == files
    assert (answer.notes, answer.total_chunks) == (notes, 2)


def test_no_hit_is_shown_with_a_score_of_nought(collection):
    for number in range(60):
        collection.write(f"{number}.md", f"# {number}\n\n{BODY[number % 30 :]} {OTHER[number:]}\n")
    collection.import_("new")
    for mode in ("hybrid", "vector", "lexical"):
        for query in ("水", "棚に置く git", "🍙", "について"):
            answer = collection.search(query, k=50, mode=mode)
            assert all(f"{hit.score:.2f}" != "0.00" for hit in answer.results)
            assert bool(answer.notes) == (len(answer.results) < 50)


def test_a_tool_without_an_import_or_without_documents_answers_with_nothing(collection):
    for _ in range(2):
        answer = collection.search("何か")
        assert replace(answer, seconds={}) == Answer(("notes",), "何か", (), 0)
        collection.import_("update")


def test_a_query_may_have_four_thousand_characters_and_no_more(filled):
    assert filled.search("水" * 4000).results
    with pytest.raises(SearchRefused, match="4,001 characters; shorten it to 4,000"):
        filled.search("水" * 4001)


BLANKS = ("", "  ", "\u3000\n", "\u200b\ufeff", "\0", "\ufffd\ufffd")


@each(
    ("query", "queries", "refusal"),
    [
        *((blank, (), "the query is blank; ask something") for blank in BLANKS),
        ("水", ("米", ""), r"one of the further queries \(queries, --also\) is blank"),
    ],
)
def test_a_blank_query_is_refused_and_named(filled, query, queries, refusal):
    with pytest.raises(SearchRefused, match=refusal):
        filled.search(query, queries=queries)


def test_a_query_with_half_a_surrogate_pair_is_refused(filled):
    with pytest.raises(UnembeddableText, match="not UTF-8"):
        filled.search("水\ud800")


def test_a_missing_tool_a_missing_database_and_a_disabled_tool_say_what_to_do(filled, tmp_path):
    models = tiny_embedder()
    with pytest.raises(ToolNotFound, match="nearest: notes"):
        search(filled.database, Question("水", ("other",)), lambda _: nullcontext(models))
    with pytest.raises(DatabaseMissing, match="mdvec tool add"):
        search(tmp_path / "none.sqlite", Question("水", ("notes",)), lambda _: nullcontext(models))
    assert not (tmp_path / "none.sqlite").exists()
    registering.set_active(filled.database, "notes", active=False)
    with pytest.raises(SearchRefused, match="mdvec tool enable -n notes"):
        filled.search("水")


def test_a_model_other_than_the_tools_is_refused_with_the_way_out(filled):
    filled.backend = TinyBackend(dimension=8)
    with pytest.raises(ModelDiffers, match=r"--mode replace"):
        filled.search("水")


def test_a_tool_rebuilt_between_the_question_and_the_search_is_asked_again(filled):
    models = iter([TinyBackend(), TinyBackend(dimension=8)])

    def rebuilt_meanwhile(name):
        backend = next(models)
        if backend.dimension == 16:
            filled.backend = TinyBackend(dimension=8)
            filled.import_("replace")
        from mdvec.embedding.embedder import Embedder

        return nullcontext(Embedder(backend))

    answer = search(filled.database, Question("水の備蓄", ("notes",), 1), rebuilt_meanwhile)
    assert answer.results[0].file_path == "home/water.md"
