"""A model's constants, fitted on the user's own headings and kept only if that is better."""

import itertools
import shutil
from pathlib import Path

import pytest
from collection import Collection
from endpoint_stand_in import EndpointStandIn
from tiny_embedder import TinyBackend

from mdvec.database.connection import open_database
from mdvec.embedding import catalog
from mdvec.embedding.constants import ModelConstants, default_constants
from mdvec.embedding.embedder import Embedder
from mdvec.embedding.options import BackendOptions, OpenAIOptions
from mdvec.index.model_constants import calibrated_constants, store_constants
from mdvec.manage.calibrating import CalibrationRefused, calibrate
from mdvec.manage.calibrating.headless import headless

SAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "notes" / "mdvec"


@pytest.fixture
def notes(tmp_path):
    """Sample notes, imported with a model whose cosines tell little."""
    shutil.copytree(SAMPLES, tmp_path / "notes")
    made = Collection(tmp_path / "notes", tmp_path / "db.sqlite", backend=TinyBackend(dimension=64))
    made.import_("new")
    return made


def weight_of_words(notes):
    return notes.search("設定を環境変数で書く").results[0].explanation.lexical_weight


def test_what_fits_better_is_kept_and_searches_use_it(notes):
    embedder = Embedder(notes.backend)
    bad = ModelConstants(50.0, None)  # as if vectors alone told what answers
    with open_database(notes.database, "write") as connection, connection:
        store_constants(connection, embedder.fingerprint, bad)
    before = weight_of_words(notes)
    found = calibrate(notes.database, "notes", embedder)
    assert found.before == bad
    assert found.is_better
    assert found.after.vector_trust < bad.vector_trust
    assert found.figures_after.ndcg > found.figures_before.ndcg
    with open_database(notes.database, "read") as connection:
        assert calibrated_constants(connection, found.fingerprint) == found.after
        assert calibrated_constants(connection, "tiny@1:16:l2") is None
    assert weight_of_words(notes) > before
    again = calibrate(notes.database, None, embedder)  # nothing else is better now
    assert (again.before, again.after, again.is_better) == (found.after, found.after, False)
    assert again.figures_before == again.figures_after


def test_a_slow_model_gets_fewer_documents_and_progress_reaches_the_end(notes):
    for number in range(120):
        notes.write(f"more/{number}.md", f"# 見出し{number}\n\n{f'本文{number}。' * 30}\n")
    notes.import_()
    told: list[str] = []
    steps: list[tuple[int, ...]] = []

    def run(seconds):
        """On a clock that has moved by so much whenever it is read."""
        steps.clear()
        clock = itertools.count(0, seconds)
        return calibrate(
            notes.database, "notes", Embedder(notes.backend), minutes=2,
            clock=lambda: next(clock), on_notice=told.append,
            on_progress=lambda *step: steps.append(step),
        )  # fmt: skip

    quick, slow = run(0.001), run(12.0)
    assert (quick.chunks > 150, slow.chunks) == (True, 100)
    assert quick.questions > slow.questions == 60
    assert steps[-1] == (100 + 60 + 40, 100 + 60 + 40)
    assert "minutes" not in told[0]
    assert told[1] == "embedding 100 chunks and 60 headings, which takes about 23 minutes …"


def test_models_that_were_not_calibrated_have_the_constants_of_their_card():
    assert default_constants("use") == ModelConstants(0.2, (0.234, 0.060))
    assert (
        default_constants("st:mine") == default_constants("openai:x") == ModelConstants(1.6, None)
    )


def test_no_heading_is_left_in_what_is_searched(notes):
    content = (
        "---\ntitle: 題\n---\n\n# 章の名\n\n" + "本文。" * 30 + "\n\n## 節の名\n\n" + "続き。" * 30
    )
    made = headless([("a.md", content)], Embedder(notes.backend))
    assert [question.words for question in made.questions] == ["章の名", "節の名"]
    texts = [chunk.text for document in made.documents for chunk in document.chunks]
    assert texts
    assert not any(word in text for word in ("題", "章の名", "節の名") for text in texts)
    for question in made.questions:
        assert any(question.answer in owned for owned in made.documents[0].sections)


def test_a_few_headings_are_refused(collection):
    collection.write("a.md", f"# 見出し\n\n{'本文。' * 30}\n")
    collection.import_("new")
    with pytest.raises(CalibrationRefused, match="notes: 1 headings with text under them are too"):
        calibrate(collection.database, "notes", Embedder(collection.backend))


def test_nothing_leaves_for_another_machine_unless_the_user_allows_it(notes):
    with EndpointStandIn().running() as endpoint:
        url = endpoint.url.replace("127.0.0.1", "0.0.0.0")
        options = BackendOptions(openai=OpenAIOptions(f"{url}/v1", dimensions=16), environment={})
        embedder = catalog.load("openai:tiny", options)
        with pytest.raises(CalibrationRefused, match=r"nothing was sent\. notes: .* go to 0.0.0.0"):
            calibrate(notes.database, "notes", embedder)
        assert endpoint.requests == []
