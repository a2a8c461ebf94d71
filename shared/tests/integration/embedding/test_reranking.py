"""``[search] reranker``: a real cross-encoder, tiny and made here, orders the first candidates."""

from contextlib import nullcontext

import pytest
import tiny_onnx
import tiny_sentence_transformer as tiny
from table_of_cases import each
from tiny_embedder import tiny_embedder

from mdvec.embedding.options import BackendOptions
from mdvec.embedding.reranker import Reranker, RerankerTooSlow
from mdvec.manage.tool_import import import_tool
from mdvec.search.answer import Question, search
from mdvec.search.ordering import MAX_RERANKED
from mdvec.settings.loading import SettingsError, load_settings

NOTES = 35


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("cross")
    onnx = {
        "onnx": tiny_onnx.build_cross_encoder(root / "onnx"),
        "onnx of two": tiny_onnx.build_cross_encoder(root / "two", numbers=2),
    }
    return {
        "one": f"st:{tiny.build_cross_encoder(root / 'one')}",
        "three": f"st:{tiny.build_cross_encoder(root / 'three', numbers=3)}",
        "none": f"st:{tiny.build(root / 'none')}",
        **{name: f"onnx:{folder}" for name, folder in onnx.items()},
    }


@pytest.fixture
def ask(collection):
    for number in range(NOTES):
        collection.write(f"{number:02}.md", f"# note {number}\n\n{'water fire ' * (number + 1)}\n")
    model = tiny_embedder()
    import_tool(collection.request("new"), lambda _: model)

    def asked(reranker=None, sort="relevance"):
        question = Question("water", ("notes",), 50, sort=sort)
        return search(
            collection.database, question, lambda _: nullcontext(model), reranker=reranker
        )

    return asked


def reranker(name):
    return Reranker(name, BackendOptions())


@pytest.mark.parametrize("name", ["one", "onnx"])
def test_the_first_candidates_come_in_the_order_of_its_scores(ask, folders, name):
    usual = ask()
    model = reranker(folders[name])
    answer = ask(model)
    first = usual.results[:MAX_RERANKED]
    texts = [f"{hit.heading}\n{hit.content}" for hit in first]
    scores = model.scores("water", texts, 60)
    expected = [hit.file_path for _, hit in sorted(zip(scores, first, strict=True),
                                                   key=lambda one: -one[0])]  # fmt: skip
    assert [hit.file_path for hit in answer.results[:MAX_RERANKED]] == expected
    assert expected != [hit.file_path for hit in first]
    rest = [hit.file_path for hit in usual.results[MAX_RERANKED:]]
    assert [hit.file_path for hit in answer.results[MAX_RERANKED:]] == rest
    assert rest
    assert [hit.score for hit in answer.results] == [hit.score for hit in usual.results]
    assert answer.confident == usual.confident
    assert answer.notes == (*usual.notes, f"the first 20 were ordered by {model.name}")
    newest = {hit.file_path for hit in ask(model, sort="newest").results}
    assert newest == {hit.file_path for hit in ask(sort="newest").results}


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("three", "gives 3 numbers for a passage"),
        ("onnx of two", "gives 2 numbers for a passage"),
        ("none", "is not a cross-encoder"),
        ("missing", "is not here (there is no such folder); take it out of [search] reranker"),
    ],
)
def test_what_cannot_rerank_leaves_the_usual_order_and_one_sentence(ask, folders, folder, why):
    usual = ask()
    answer = ask(reranker(folders.get(folder, "onnx:/nowhere/at/all")))
    assert answer.results == usual.results
    (note,) = set(answer.notes) - set(usual.notes)
    assert note.startswith("not reranked: ")
    assert why in note


def test_scores_of_onnxruntime_are_those_of_sentence_transformers(folders):
    import torch
    from sentence_transformers import CrossEncoder

    passages = ["fire", "water and fire " * 9, "水"]
    other = CrossEncoder(folders["onnx"].removeprefix("onnx:"), device="cpu")
    expected = other.predict(
        [("水", passage) for passage in passages], activation_fn=torch.nn.Identity()
    )
    assert reranker(folders["onnx"]).scores("水", passages, 60) == pytest.approx(expected, abs=1e-4)


def test_it_can_be_unloaded_when_it_is_idle_and_loads_again(folders):
    model = reranker(folders["one"])
    assert (model.missing(), model.unused_seconds) == (None, None)
    before = model.scores("water", ["fire", "water"], 60)
    assert model.unused_seconds is not None
    model.unload()
    assert model.unused_seconds is None
    assert model.scores("water", ["fire", "water"], 60) == pytest.approx(before)


@each("name", ["one", "onnx"])
def test_scoring_that_takes_too_long_is_given_up(folders, name):
    with pytest.raises(RerankerTooSlow, match="of 12 passages in 1e-09 seconds"):
        reranker(folders[name]).scores("water", ["fire"] * 12, 1e-9)


def test_the_settings_take_a_cross_encoder_and_nothing_else():
    chosen = load_settings({"MDVEC_SEARCH_RERANKER": "st:owner/cross-encoder"})
    assert chosen.reranker().name == "st:owner/cross-encoder"
    by_onnx = load_settings({"MDVEC_SEARCH_RERANKER": "onnx:owner/cross-encoder"})
    assert by_onnx.reranker().name == "onnx:owner/cross-encoder"
    assert load_settings({}).reranker() is None
    with pytest.raises(SettingsError, match="onnx:<cross-encoder>"):
        load_settings({"MDVEC_SEARCH_RERANKER": "openai:reranker"})
