"""The embedder: what it refuses, what it checks, and that one model serves one caller at a time."""

import threading

import numpy as np
import pytest
from tiny_embedder import TinyBackend

from mdvec.interfaces.embedding.embedder import BadEmbedding, Embedder, UnembeddableText


class Answering(TinyBackend):
    """Answers every text with the same numbers."""

    def __init__(self, answer):
        super().__init__(dimension=4)
        self.answer = np.asarray(answer, dtype=np.float32)

    def _vector(self, text):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "reason"),
    [([1, np.nan, 0, 0], "NaN"), ([np.inf, 0, 0, 0], "infinite"), ([0, 0, 0, 0], "all zero")],
)
def test_an_unusable_answer_is_refused_for_documents_and_queries(answer, reason):
    embedder = Embedder(Answering(answer))
    with pytest.raises(BadEmbedding, match=reason):
        embedder.embed_documents(["文"])
    with pytest.raises(BadEmbedding, match=reason):
        embedder.embed_query("文")


def test_an_answer_of_another_length_is_refused():
    embedder = Embedder(Answering([1, 2, 3]))
    with pytest.raises(BadEmbedding, match=r"shape \(1, 3\), not \(1, 4\)"):
        embedder.embed_documents(["文"])


def test_every_vector_is_normalised_float32():
    embedder = Embedder(Answering([3, 4, 0, 0]))
    documents = embedder.embed_documents(["一", "二"])
    assert documents.tolist() == [pytest.approx([0.6, 0.8, 0, 0])] * 2
    assert embedder.embed_query("一").tolist() == pytest.approx([0.6, 0.8, 0, 0])
    assert {documents.dtype, embedder.embed_query("一").dtype} == {np.dtype("float32")}


def test_no_texts_give_no_vectors():
    assert Embedder(TinyBackend()).embed_documents([]).shape == (0, 16)


@pytest.mark.parametrize("text", ["", " ", "\t\r\n", "\u3000", "\ufeff", "\u200b", "\x00\x1f"])
def test_blank_text_is_refused(text):
    embedder = Embedder(TinyBackend())
    with pytest.raises(UnembeddableText, match="blank"):
        embedder.embed_query(text)
    with pytest.raises(UnembeddableText, match="blank"):
        embedder.embed_documents(["文", text])


def test_half_a_surrogate_pair_is_refused():
    with pytest.raises(UnembeddableText, match="surrogate"):
        Embedder(TinyBackend()).embed_query("文\ud83c")


def test_a_model_gets_no_more_at_once_than_it_takes():
    calls = []

    class Counting(TinyBackend):
        def encode_documents(self, texts):
            calls.append(len(texts))
            return super().encode_documents(texts)

    assert Embedder(Counting()).embed_documents([str(n) for n in range(20)]).shape == (20, 16)
    assert calls == [8, 8, 4]


def test_one_caller_at_a_time_reaches_the_model():
    inside = threading.Semaphore(1)
    crowded = []

    class Narrow(TinyBackend):
        def encode_query(self, text):
            if not inside.acquire(blocking=False):
                crowded.append(text)
            vector = sum(self._vector(text) for _ in range(200))
            inside.release()
            return vector

    embedder = Embedder(Narrow())
    threads = [threading.Thread(target=embedder.embed_query, args=(f"文{n}",)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert crowded == []


def test_the_fingerprint_names_everything_that_changes_a_vector():
    prints = {
        Embedder(backend).fingerprint
        for backend in (TinyBackend(), TinyBackend(dimension=8), TinyBackend(name="other"))
    }
    assert prints == {"tiny@1:16:l2", "tiny@1:8:l2", "other@1:16:l2"}
