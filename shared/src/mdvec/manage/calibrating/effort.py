"""How much a calibration embeds: as much as the model can in the time allowed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mdvec.embedding.embedder import Embedder
from mdvec.embedding.remote.embedder import RemoteEmbedder
from mdvec.manage.calibrating.headless import (
    MAX_CHUNKS,
    MAX_QUESTIONS,
    MIN_QUESTIONS,
    Headless,
)
from mdvec.manage.calibrating.unanswerable import UNANSWERABLE

_TRIED = 8
_SHARE_OF_QUESTIONS = 0.25
_MIN_CHUNKS = 100


@dataclass(frozen=True, slots=True)
class CalibrationEffort:
    """The most chunks and questions to embed; ``seconds`` is about how long one of each takes."""

    chunks: int = MAX_CHUNKS
    questions: int = MAX_QUESTIONS
    seconds: tuple[float, float] = (0.0, 0.0)

    def minutes(self, made: Headless) -> float:
        """About how long ``made`` takes."""
        chunk, question = self.seconds
        questions = len(made.questions) + len(UNANSWERABLE)
        return (made.chunks * chunk + questions * question) / 60


def affordable(
    made: Headless, embedder: Embedder, minutes: float, clock: Callable[[], float]
) -> CalibrationEffort:
    """What can be embedded in about so many minutes, judged by a few chunks and a question.

    For a model behind an endpoint everything: nothing is sent before the user allows it.
    """
    texts = [chunk.text for document in made.documents for chunk in document.chunks]
    if isinstance(embedder, RemoteEmbedder) or not texts:
        return CalibrationEffort()
    sample = texts[:: max(len(texts) // _TRIED, 1)][:_TRIED]
    embedder.embed_query(made.questions[0].words)  # the first is slow
    times = [clock()]
    embedder.embed_query(made.questions[-1].words)
    times.append(clock())
    embedder.embed_documents(sample)
    times.append(clock())
    question, chunk = times[1] - times[0], (times[2] - times[1]) / len(sample)
    for_questions = minutes * 60 * _SHARE_OF_QUESTIONS
    return CalibrationEffort(
        _within(_MIN_CHUNKS, minutes * 60 - for_questions, chunk, MAX_CHUNKS),
        _within(2 * MIN_QUESTIONS, for_questions, question, MAX_QUESTIONS),
        (chunk, question),
    )


def _within(least: int, seconds: float, each: float, most: int) -> int:
    return most if seconds >= each * most else max(int(seconds / each), least)
