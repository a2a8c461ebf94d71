"""One question to several tools: merged without comparing what two models say."""

from contextlib import contextmanager

import pytest
from collection import Collection
from tiny_embedder import TinyBackend

from mdvec.embedding.embedder import Embedder, ModelUnavailable
from mdvec.manage import registering
from mdvec.search.answer import Question, SearchRefused, search
from mdvec.tools.registry import ToolNotFound


class Elsewhere(TinyBackend):
    """Another model, all of whose cosines are high."""

    def _vector(self, text):
        vector = super()._vector(text)
        vector[0] += 20.0
        return vector


BACKENDS = {"tiny": TinyBackend(), "high": Elsewhere("high", dimension=32)}


@contextmanager
def model(name):
    yield Embedder(BACKENDS[name])


def ask(collection, query, tools=None, **more):
    return search(collection.database, Question(query, tools, **more), model)


@pytest.fixture
def both(collection, tmp_path):
    """Two tools of two models, two documents each."""
    other = Collection(tmp_path / "dev", collection.database, "dev", BACKENDS["high"])
    collection.write("water.md", "# 防災\n\n水の備蓄は一人一日三リットルです。\n")
    collection.write("rice.md", "# 台所\n\n米は二合炊きます。\n")
    other.write("git.md", "# Git\n\ngit worktree keeps two branches checked out.\n")
    other.write("cache.md", "# Cache\n\nsettings live in config.toml for all.\n")
    collection.import_("new")
    other.import_("new")
    return collection


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_the_best_of_any_tool_comes_first(both, mode):
    best = {"水の備蓄": "water.md", "git worktree": "git.md", "config.toml": "cache.md"}
    assert {query: ask(both, query, mode=mode).results[0].file_path for query in best} == best
    scores = [hit.score for hit in ask(both, " ".join(best), k=50, mode=mode).results]
    assert (scores, len(scores)) == (sorted(scores, reverse=True), 3)


def test_a_model_with_high_cosines_does_not_win_by_them(both, tmp_path):
    other = Collection(tmp_path / "more", both.database, "more", BACKENDS["high"])
    for number in range(20):
        other.write(f"{number}.md", f"# Log {number}\n\nentry {number} of the log\n")
        both.write(f"{number}.md", f"# Diary {number}\n\nentry {number} of the diary\n")
    other.import_("new")
    both.import_()
    answer = ask(both, "水の備蓄は一人一日三リットルです", ("notes", "more"), mode="vector", k=50)
    cosines = {(hit.tool, hit.file_path): hit.explanation.cosine for hit in answer.results}
    high = [cosine for (tool, _), cosine in cosines.items() if tool == "more"]
    assert min(high) > cosines["notes", "water.md"]
    assert answer.results[0].file_path == "water.md"


def test_named_tools_are_searched_and_each_once(both):
    assert ask(both, "水", ("notes", "notes")).tools == ("notes",)
    assert ask(both, "水", ("notes", "dev")).total_chunks == 4
    with pytest.raises(ToolNotFound, match="other"):
        ask(both, "水", ("notes", "other"))


def test_a_tool_that_is_off_is_not_asked_and_refused_by_name(both):
    registering.set_active(both.database, "dev", active=False)
    assert ask(both, "水").tools == ("notes",)
    with pytest.raises(SearchRefused, match="mdvec tool enable -n dev"):
        ask(both, "水", ("notes", "dev"))


def test_a_tool_without_its_model_is_searched_by_words_and_the_answer_says_so(both):
    def only_tiny(name):
        if name == "high":
            raise ModelUnavailable("high is not here")
        return model(name)

    answer = search(both.database, Question("git worktree 水", k=2), only_tiny)
    assert answer.notes == ("dev was searched by words alone: high is not here",)
    assert {hit.tool for hit in answer.results} == {"dev", "notes"}
    with pytest.raises(ModelUnavailable):
        search(both.database, Question("git", ("dev",)), only_tiny)


def test_empty_tools_and_no_tools_answer_with_nothing(both):
    for name in ("notes", "dev"):
        registering.set_active(both.database, name, active=False)
    answer = ask(both, "水")
    assert (answer.tools, answer.results, answer.total_chunks) == ((), (), 0)


def test_two_documents_of_one_name_in_two_tools_are_two_hits(both, tmp_path):
    other = Collection(tmp_path / "more", both.database, "more", BACKENDS["tiny"])
    other.write("water.md", "# 防災\n\n水の備蓄は一人一日三リットルです。\n")
    other.import_("new")
    for returning in ("chunk", "section", "document"):
        answer = ask(both, "水の備蓄", k=2, returning=returning)
        assert {(hit.tool, hit.file_path) for hit in answer.results} == {
            ("more", "water.md"), ("notes", "water.md"),
        }  # fmt: skip
