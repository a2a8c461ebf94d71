"""How far a search trusts a model's vectors: the model's own constants, or those stored for it."""

import pytest
from tiny_embedder import TinyBackend

from mdvec.database.connection import open_database
from mdvec.embedding.cards import ModelConstants, default_constants
from mdvec.embedding.embedder import Embedder
from mdvec.index.nearest import store_constants


def test_models_without_stored_constants_have_those_of_their_card():
    assert default_constants("use") == ModelConstants(0.2, (0.234, 0.060))
    assert (
        default_constants("st:mine") == default_constants("openai:x") == ModelConstants(1.6, None)
    )


@pytest.mark.parametrize("is_own", [True, False], ids=["this model", "another version of it"])
def test_a_search_uses_the_constants_stored_for_exactly_its_model(collection, is_own):
    collection.write("a.md", "# 設定\n\n環境変数で設定を書く。\n")
    collection.write("b.md", "# 検索\n\n言葉とベクトルで探す。\n")
    collection.import_("new")

    def weight_of_words():
        found = collection.search("設定を環境変数で暗号化する")  # one word is nowhere
        return found.results[0].explanation.lexical_weight

    before = weight_of_words()
    model = Embedder(collection.backend if is_own else TinyBackend(dimension=64))
    with open_database(collection.database, "write") as connection, connection:
        store_constants(connection, model.fingerprint, ModelConstants(50.0, None))
    assert (weight_of_words() < before) == is_own
