"""Fits a model's constants on the user's own documents, and keeps them if they are better."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from mdvec.database.connection import open_database, snapshot
from mdvec.embedding.constants import ModelConstants, default_constants
from mdvec.embedding.embedder import Embedder
from mdvec.embedding.remote.embedder import RemoteEmbedder
from mdvec.embedding.remote.endpoint import Sending
from mdvec.errors import MdvecError
from mdvec.index.documents import stored_files, stored_text
from mdvec.index.model_constants import calibrated_constants, store_constants
from mdvec.manage.calibrating.effort import CalibrationEffort, affordable
from mdvec.manage.calibrating.fitting import (
    CalibrationFigures,
    JudgedQuestion,
    figures,
    fitted_trust,
    fitted_unrelated,
)
from mdvec.manage.calibrating.headless import MIN_QUESTIONS, Headless, headless
from mdvec.manage.calibrating.trial_index import trial_index
from mdvec.manage.calibrating.unanswerable import UNANSWERABLE
from mdvec.tools import rows as tools
from mdvec.tools.kinds import KINDS
from mdvec.tools.rows import Tool

DEFAULT_MINUTES = 3.0


class CalibrationRefused(MdvecError):
    """There is too little to calibrate with, or the user does not allow texts to be sent."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a calibration found.

    ``questions`` is how many headings were asked; half of them fitted the constants, and the
    figures are those of the other half. ``after`` are the constants in use from now on, which are
    those of ``before`` if no others are better.
    """

    model: str
    fingerprint: str
    tools: tuple[str, ...]
    chunks: int
    questions: int
    before: ModelConstants
    after: ModelConstants
    figures_before: CalibrationFigures
    figures_after: CalibrationFigures

    @property
    def is_better(self) -> bool:
        """Whether anything changed."""
        return self.before != self.after


def calibrate(
    database: Path,
    name: str | None,
    embedder: Embedder,
    *,
    may_send: Callable[[Sending], bool] = lambda _: False,
    on_notice: Callable[[str], None] = lambda _: None,
    on_progress: Callable[[int, int], None] = lambda _, __: None,
    minutes: float = DEFAULT_MINUTES,
    clock: Callable[[], float] = time.perf_counter,
) -> Calibration:
    """Fit the constants of ``embedder``'s model on a tool's stored documents, or on all tools'.

    The tools may have been imported with another model. A model that runs here gets as many
    documents as it embeds in about so many ``minutes``. ``on_notice`` gets a sentence on how much
    is embedded, before that begins; ``on_progress`` how many texts of how many are embedded.

    Raises:
        ToolNotFound: there is no tool of that name.
        CalibrationRefused: there are too few headings, or texts may not be sent.
        ModelError: the model fails.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        chosen = _tools(connection, name)
        texts = [one for tool in chosen for one in _texts(connection, tool)]
        stored = calibrated_constants(connection, embedder.fingerprint)
    before = stored or default_constants(embedder.name)
    made = headless(texts, embedder)
    if len(made.questions) < MIN_QUESTIONS:
        raise CalibrationRefused(
            f"{_named(chosen)}: {len(made.questions)} headings with text under them are too few; "
            f"calibrate with {MIN_QUESTIONS} or more, in Markdown that is imported"
        )
    effort = affordable(made, embedder, minutes, clock)
    if made.chunks > effort.chunks or len(made.questions) > effort.questions:
        made = headless(texts, embedder, effort.chunks, effort.questions)
    _ask(chosen, embedder, may_send)
    on_notice(_announced(made, effort))
    counted = _Counted(made, on_progress)
    with trial_index(made, embedder, counted.add) as index:
        headings = [JudgedQuestion(index.ask(one.words), one.answer) for one in made.questions]
        unanswerable = [JudgedQuestion(index.ask(words), None) for words in UNANSWERABLE]
    after = _better(before, headings, unanswerable)
    if after != before:
        with open_database(database, "write") as connection, connection:
            store_constants(connection, embedder.fingerprint, after)
    shown = headings[1::2], unanswerable[1::2]
    return Calibration(
        embedder.name, embedder.fingerprint, tuple(tool.name for tool in chosen), made.chunks,
        len(made.questions), before, after, figures(*shown, before), figures(*shown, after),
    )  # fmt: skip


class _Counted:
    """Counts the texts that are embedded."""

    def __init__(self, made: Headless, on_progress: Callable[[int, int], None]) -> None:
        self._total = made.chunks + len(made.questions) + len(UNANSWERABLE)
        self._done = 0
        self._on_progress = on_progress

    def add(self, number: int) -> None:
        self._done += number
        self._on_progress(self._done, self._total)


def _announced(made: Headless, effort: CalibrationEffort) -> str:
    told = f"embedding {made.chunks:,} chunks and {len(made.questions)} headings"
    if (minutes := effort.minutes(made)) >= 0.5:
        told += f", which takes about {math.ceil(minutes)} minutes"
    return f"{told} …"


def _better(
    before: ModelConstants,
    headings: Sequence[JudgedQuestion],
    unanswerable: Sequence[JudgedQuestion],
) -> ModelConstants:
    """Each constant, as fitted to one half, if it is better on the other half."""
    shown = headings[1::2], unanswerable[1::2]
    present = figures(*shown, before)
    trust = fitted_trust(headings[::2], before.vector_trust)
    after = ModelConstants(trust, before.unrelated)
    if figures(*shown, after).ndcg <= present.ndcg:
        after = before
    judging = ModelConstants(after.vector_trust, fitted_unrelated(unanswerable[::2]))
    is_better = figures(*shown, judging).judgement > present.judgement
    return judging if is_better else after


def _tools(connection: apsw.Connection, name: str | None) -> list[Tool]:
    if name is not None:
        return [tools.get_tool(connection, name)]
    return tools.list_tools(connection, active_only=True)


def _texts(connection: apsw.Connection, tool: Tool) -> list[tuple[str, str]]:
    """The paths and contents of a tool's documents; none of tools that have records."""
    kind = KINDS[tool.kind]
    if not kind.has_texts or kind.is_made_of_records or not tool.generation:
        return []
    texts = []
    for path in stored_files(connection, tool.tables):
        found = stored_text(connection, tool.tables, path)
        if found is not None:
            texts.append((path, found.content))
    return texts


def _ask(
    chosen: Sequence[Tool],
    embedder: Embedder,
    may_send: Callable[[Sending], bool],
) -> None:
    """Ask before texts leave this machine."""
    if not isinstance(embedder, RemoteEmbedder) or embedder.endpoint.is_local:
        return
    sending = Sending(_named(chosen), embedder.name, embedder.endpoint)
    if not may_send(sending):
        raise CalibrationRefused(
            f"nothing was sent. {sending.sentence()} To allow it, answer yes on a terminal, or "
            "add --yes"
        )


def _named(chosen: Sequence[Tool]) -> str:
    return ", ".join(tool.name for tool in chosen) or "no tool"
