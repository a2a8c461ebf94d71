"""``st:<folder>`` through the real sentence-transformers, over a tiny folder made here."""

import json

import numpy as np
import pytest
import tiny_sentence_transformer as tiny
from table_of_cases import each

from mdvec.embedding import catalog
from mdvec.embedding.backends.sentence_transformers import device_for, prefixes_of
from mdvec.embedding.embedder import ModelUnavailable
from mdvec.embedding.options import BackendOptions, StOptions

PROMPTS = {"query": "検索: ", "document": "本文: "}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Models of the same weights: without prompts, with prompts, and one named like ruri-v3."""
    root = tmp_path_factory.mktemp("st")
    return {
        "plain": tiny.build(root / "plain"),
        "prompted": tiny.build(root / "prompted", PROMPTS),
        "ruri": tiny.build(root / "ruri-v3-30m"),
    }


def load(folder, **of_st):
    return catalog.load(f"st:{folder}", BackendOptions(st=StOptions(**of_st)))


def test_prefixes_come_from_settings_the_name_or_the_model(folders):
    plain = load(folders["plain"])
    same = np.testing.assert_allclose
    by_name, by_model = load(folders["ruri"]), load(folders["prompted"])
    same(by_name.embed_query("水"), plain.embed_query("検索クエリ: 水"), atol=1e-5)
    same(by_name.embed_documents(["水"]), plain.embed_documents(["検索文書: 水"]), atol=1e-5)
    same(by_model.embed_query("水"), plain.embed_query("検索: 水"), atol=1e-5)
    same(by_model.embed_documents(["水"]), plain.embed_documents(["本文: 水"]), atol=1e-5)
    as_set = load(folders["ruri"], query_prefix="", document_prefix="火")
    same(as_set.embed_query("水"), plain.embed_query("水"), atol=1e-5)
    assert len({model.fingerprint for model in (plain, by_name, by_model, as_set)}) == 4


@each(
    ("model", "prefixes"),
    [
        ("cl-nagoya/ruri-v3-310m", ("検索クエリ: ", "検索文書: ")),
        ("cl-nagoya/ruri-base-v2", ("クエリ: ", "文章: ")),
        ("intfloat/multilingual-e5-large", ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", (None, None)),
        ("BAAI/bge-m3", (None, None)),
    ],
)
def test_models_known_by_name(model, prefixes):
    assert prefixes_of(model, StOptions()) == prefixes


def test_vectors_can_be_shortened_and_the_fingerprint_tells(folders):
    whole, short = load(folders["plain"]), load(folders["plain"], truncate_dim=8)
    assert short.embed_query("水").shape == (8,)
    cut = whole.embed_query("水")[:8]
    np.testing.assert_allclose(short.embed_query("水"), cut / np.linalg.norm(cut), atol=1e-5)
    assert (whole.fingerprint[-6:], short.fingerprint[-5:]) == (":32:l2", ":8:l2")


def test_tokens_have_their_places_and_long_texts_are_seen(folders):
    model = load(folders["plain"])
    assert model.token_spans("水と火") == [(0, 1), (1, 2), (2, 3)]
    assert not model.oversized("水" * 100)
    assert model.oversized("水" * 130)
    card = catalog.card_named(f"st:{folders['plain']}")
    assert (card.default_size, card.max_tokens, card.dimension) == (96, 96, 0)


def test_other_weights_are_another_model(folders, tmp_path):
    folder = tiny.build(tmp_path / "plain")
    weights = folder / "model.safetensors"
    before = load(folder).fingerprint
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\0")
    assert load(folder).fingerprint != before


def test_what_is_not_here_is_refused_with_the_way_to_get_it(folders, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelUnavailable, match="there is no such folder"):
        catalog.choose("st:/nowhere/at/all")
    with pytest.raises(ModelUnavailable, match="mdvec model pull st:cl-nagoya/ruri-v3-30m"):
        catalog.load("st:cl-nagoya/ruri-v3-30m")
    with pytest.raises(ModelUnavailable, match="no model in it"):
        catalog.choose(f"st:{tmp_path}")
    with pytest.raises(ModelUnavailable, match="needs optimum"):
        load(folders["plain"], backend="onnx")


def test_a_broken_folder_is_one_sentence(tmp_path):
    folder = tiny.build(tmp_path / "broken")
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelUnavailable, match="cannot be loaded from"):
        load(folder)


def test_code_and_pickles_in_a_folder_are_never_run(tmp_path):
    """Not by any of the ways that a model's files can name code."""
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w')\nfrom sentence_transformers.models import Pooling as Own\n"
    modules = tiny.build(tmp_path / "modules")
    named = (
        (modules / "modules.json")
        .read_text()
        .replace("sentence_transformers.models.Pooling", "own.Own")
    )
    (modules / "modules.json").write_text(named)
    automatic = tiny.build(tmp_path / "automatic")
    config = json.loads((automatic / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Own"}}
    (automatic / "config.json").write_text(json.dumps(config))
    for folder in (modules, automatic):
        (folder / "own.py").write_text(code)
        with pytest.raises(ModelUnavailable, match="cannot be loaded from"):
            load(folder)
    pickled = tiny.build(tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable, match="its weights are not safetensors"):
        load(pickled)
    assert not mark.exists()


def test_a_model_in_the_hubs_cache_is_found_by_its_name(folders, tmp_path, monkeypatch):
    repository = tmp_path / "models--someone--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("abc123", encoding="ascii")
    (repository / "snapshots").mkdir()
    (repository / "snapshots" / "abc123").symlink_to(folders["plain"])
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert catalog.load("st:someone/tiny").embed_query("水").shape == (32,)
    assert catalog.pull("st:" + str(folders["plain"]), lambda _: False).startswith("st:/")


@each(
    ("requested", "cuda", "mps", "device"),
    [(None, True, True, "cuda"), (None, False, True, "mps"), (None, False, False, "cpu"),
     ("cpu", True, True, "cpu"), ("mps", False, True, "mps")],
)  # fmt: skip
def test_the_fastest_device_is_taken_unless_another_is_asked_for(requested, cuda, mps, device):
    assert device_for(requested, cuda=cuda, mps=mps) == device


def test_a_device_that_is_not_here_is_refused():
    with pytest.raises(ModelUnavailable, match="there is no 'cuda' on this machine"):
        device_for("cuda", cuda=False, mps=False)
