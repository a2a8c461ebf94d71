"""`e5-small`: its limits are respected, and texts that it would misread are refused."""

import numpy as np
import pytest
from table_of_cases import each

from mdvec.embedding.backends.e5_small import E5SmallBackend
from mdvec.embedding.embedder import Embedder, UnembeddableText
from mdvec.text.chunking import chunk_document
from mdvec.text.markdown import outline
from mdvec.text.tokens import ChunkingOptions


@pytest.fixture(scope="module")
def backend():
    return E5SmallBackend()


def test_a_nul_is_refused_because_the_library_would_end_the_text_there(backend):
    with pytest.raises(UnembeddableText, match="NUL"):
        Embedder(backend).embed_query("前\0後")
    with pytest.raises(UnembeddableText, match="NUL"):
        Embedder(backend).embed_documents(["文", "前\0後"])


def test_a_ligature_too_long_for_the_librarys_buffer_is_expanded(backend):
    embedder = Embedder(backend)
    assert backend.oversized("ﷺ" * 130)
    rows = embedder.embed_documents(["ﷺ" * 60, "صلى الله عليه وسلم" * 60])
    assert np.abs(rows[0] - rows[1]).max() < 1e-6
    few = backend._encoder.passage(["平和ﷺ", "平和صلى الله عليه وسلم"])
    assert np.abs(few[0] - few[1]).max() < 1e-6


@each("unit", ["猫", "word ", "齟齬", "㍿½", "👨\u200d👩", "0123456789", "ﷺ"])
def test_oversized_uses_the_models_own_count(backend, unit):
    counts = {
        number: backend._encoder.token_count((unit * number).replace("ﷺ", "صلى الله عليه وسلم"))
        for number in (1, 20, 60, 100, 140, 200, 300, 600, 2000)
    }
    told = {number: backend.oversized(unit * number) for number in counts}
    assert told == {number: count > 512 for number, count in counts.items()}
    assert set(told.values()) == {True, False}


def test_a_text_over_the_limit_is_refused(backend):
    with pytest.raises(UnembeddableText, match="20,001 characters"):
        Embedder(backend).embed_documents(["あ" * 20_001])


def test_questions_and_passages_are_embedded_differently(backend):
    embedder = Embedder(backend)
    passage = embedder.embed_documents(["水の備蓄"])[0]
    query = embedder.embed_query("水の備蓄")
    assert passage.shape == query.shape == (384,)
    assert np.abs(passage - query).max() > 1e-3
    assert passage @ query > 0.8


@each("strategy", ["heading", "token"])
def test_no_chunk_has_more_tokens_than_the_model_takes(backend, strategy):
    # Rare characters are many tokens to this model and few to the one that cuts.
    text = "# 長い文\n\n" + "齟齬鬱蒼𠮷野家ｶﾞｷﾞ㍿½ word 文章を続けます。" * 120
    options = ChunkingOptions(strategy, 448, 64, (1, 2, 3), 50)
    chunks = chunk_document(text, outline(text, "a.md"), options, Embedder(backend))
    assert len(chunks) > 2
    assert all(backend._encoder.token_count(chunk.text) <= 512 for chunk in chunks)
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
