"""The embedder checks the input and the output of a model."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from table_of_cases import each
from tiny_embedder import TinyBackend, tiny_embedder

from mdvec.embedding.embedder import BadEmbedding, Embedder, UnembeddableText


class Answering(TinyBackend):
    """A model that answers every call with the same array."""

    def __init__(self, answer):
        super().__init__(dimension=4)
        self.answer = np.array(answer)

    def encode_documents(self, texts):
        return self.answer

    def encode_query(self, text):
        return self.answer


def test_every_vector_is_float32_of_length_one():
    embedder = tiny_embedder()
    rows = embedder.embed_documents(["猫が好き", "a much longer text with many words", "x"])
    query = embedder.embed_query("猫")
    assert (rows.shape, rows.dtype) == ((3, 16), np.float32)
    assert (query.shape, query.dtype) == ((16,), np.float32)
    assert np.allclose(np.linalg.norm([*rows, query], axis=1), 1, atol=1e-6)


@each("scale", [1e-9, 1e9, 1e30])
def test_tiny_and_huge_vectors_are_normalised_too(scale):
    rows = Embedder(Answering([[3 * scale, 0, 0, 4 * scale]])).embed_documents(["text"])
    assert np.allclose(rows, [[0.6, 0, 0, 0.8]], atol=1e-6)


@each("kind", [np.float64, np.float16, np.int64])
def test_any_numeric_type_becomes_float32(kind):
    backend = Answering([[3, 0, 0, 4]])
    backend.answer = backend.answer.astype(kind)
    assert Embedder(backend).embed_documents(["text"]).dtype == np.float32


@each(
    ("answer", "reason"),
    [
        ([[1, np.nan, 0, 0]], "NaN or infinite"),
        ([[1, np.inf, 0, 0]], "NaN or infinite"),
        ([[0, 0, 0, 0]], "all zero"),
        ([[1, 0, 0]], "shape (1, 3), not (1, 4)"),
        ([[1, 0, 0, 0, 0]], "shape (1, 5), not (1, 4)"),
        ([[1, 0, 0, 0], [0, 1, 0, 0]], "shape "),
    ],
)
def test_an_unusable_vector_is_refused(answer, reason):
    embedder = Embedder(Answering(answer))
    for embed in (lambda: embedder.embed_documents(["text"]), lambda: embedder.embed_query("text")):
        with pytest.raises(BadEmbedding) as refused:
            embed()
        assert "the model 'tiny' returned a vector that cannot be used" in str(refused.value)
        assert reason in str(refused.value)


def test_one_bad_row_among_good_ones_is_refused():
    embedder = Embedder(Answering([[1, 0, 0, 0], [0, 0, 0, 0]]))
    with pytest.raises(BadEmbedding, match="all zero"):
        embedder.embed_documents(["good", "bad"])


def test_many_texts_reach_the_model_in_its_batches_and_come_back_in_order():
    calls = []

    class Counting(TinyBackend):
        def encode_documents(self, texts):
            calls.append(len(texts))
            return super().encode_documents(texts)

    texts = [f"text number {number}" for number in range(19)]
    rows = Embedder(Counting()).embed_documents(texts)
    assert calls == [8, 8, 3]
    assert np.array_equal(rows, [tiny_embedder().embed_documents([text])[0] for text in texts])


def test_no_texts_give_no_rows():
    assert tiny_embedder().embed_documents([]).shape == (0, 16)


@each(
    ("text", "reason"),
    [
        ("", "it is blank"),
        (" \r\n\t\u3000", "it is blank"),
        ("\u200b\ufeff", "it is blank"),
        ("\0\0", "it is blank"),
        ("猫\ud83d", "it is not UTF-8"),
        ("\udc80text", "it is not UTF-8"),
    ],
)
def test_a_meaningless_text_is_refused_before_any_is_embedded(text, reason):
    backend = TinyBackend()
    embedder = Embedder(backend)
    with pytest.raises(UnembeddableText, match=f"the text cannot be embedded: {reason}"):
        embedder.embed_documents(["good", text])
    with pytest.raises(UnembeddableText, match=reason):
        embedder.embed_query(text)
    assert backend.embedded == []


def test_a_models_own_refusal_is_passed_on():
    class Picky(TinyBackend):
        def refusal(self, text):
            return "it is too pretty" if "pretty" in text else None

    with pytest.raises(UnembeddableText, match="cannot be embedded: it is too pretty"):
        Embedder(Picky()).embed_query("a pretty question")


def test_the_fingerprint_has_model_revision_dimension_and_normalisation():
    assert tiny_embedder().fingerprint == "tiny@1:16:l2"
    assert tiny_embedder(name="other", dimension=32).fingerprint == "other@1:32:l2"


@pytest.mark.parametrize(
    "call",
    [
        lambda embedder: embedder.embed_documents(["text"]),
        lambda embedder: embedder.embed_query("text"),
        lambda embedder: embedder.token_spans("text"),
        lambda embedder: embedder.oversized("text"),
    ],
    ids=["documents", "query", "spans", "oversized"],
)
def test_a_model_runs_one_call_at_a_time(call):
    class Meeting(TinyBackend):
        """A model in which every call waits for a second one to overlap with it."""

        met = False

        def _wait(self):
            try:
                meeting.wait(timeout=0.05)
                self.met = True
            except threading.BrokenBarrierError:
                meeting.reset()

        def refusal(self, text):
            self._wait()

        def token_spans(self, text):
            self._wait()
            return super().token_spans(text)

        def _vector(self, text):
            self._wait()
            return super()._vector(text)

    meeting = threading.Barrier(2)
    backend = Meeting()
    embedder = Embedder(backend)
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda _: call(embedder), range(3)))
    assert not backend.met
