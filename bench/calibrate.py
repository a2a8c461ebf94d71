"""Fits how far searches trust a model, on the headings of your own documents.

    .venv/bin/python bench/calibrate.py plamo         # by all tools' documents
    .venv/bin/python bench/calibrate.py plamo -n notes

Each heading is a question that should find the text under it; all headings and titles are removed
from the texts first. Questions that hardly any notes answer are asked, too. Every second question
fits the two constants of the model (`mdvec/embedding/cards.py` explains them), and the others
compare them with the present ones. A constant that is better there is stored in the database, where
searches read it at once.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from asked_collections import KeysOf, by_owner
from finding import evenly, quality
from headings import store_headless
from legs import Legs, legs_of
from mdvec.database.connection import open_database
from mdvec.embedding import catalog
from mdvec.embedding.cards import ModelConstants, default_constants
from mdvec.embedding.embedder import Embedder
from mdvec.embedding.endpoint import RemoteEmbedder
from mdvec.errors import MdvecError
from mdvec.index.documents import stored_files, stored_text
from mdvec.index.nearest import calibrated_constants, store_constants
from mdvec.search.core.fusion import FIRST, evidence, fuse
from mdvec.settings import load_settings
from mdvec.text.markdown import outline
from mdvec.text.tokens import is_blank
from mdvec.tools import registry
from mdvec.tools.kinds import KINDS
from section_finding import LEVELS, SHORTEST_SECTION, Document, SectionKey, own_text
from studies.fusion_fit import Case, rank

MIN_QUESTIONS, MAX_QUESTIONS = 30, 400
TRUSTS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.2, 1.6, 2.4, 3.6, 5.0)
"""The trusts that are tried, besides the present one."""
_UNANSWERABLE = Path(__file__).with_name("unanswerable.toml")
_MIN_DEVIATION = 1e-3


@dataclass(frozen=True, slots=True)
class Asked:
    """What two kinds of questions found: headings, and questions without an answer."""

    headings: Sequence[Case]
    unanswerable: Sequence[Case]

    def half(self, first: int) -> Asked:
        """Every second question of each kind."""
        return Asked(self.headings[first::2], self.unanswerable[first::2])

    def ndcg(self, trust: float) -> float:
        """nDCG@10 of the headings, where a section ranks by its best chunk."""
        return quality([rank(trusting(case, trust)) for case in self.headings]).ndcg

    def confident(self, constants: ModelConstants) -> tuple[float, float]:
        """The shares of both kinds for which an answer says that it is one."""
        headings, unanswerable = (
            _confident_share(cases, constants) for cases in (self.headings, self.unanswerable)
        )
        return headings, unanswerable

    def judgement(self, constants: ModelConstants) -> float:
        """The share of right judgements, where both kinds count the same."""
        answered, misled = self.confident(constants)
        return (answered + 1 - misled) / 2


def main() -> int:
    """Fit, print what was found, and store what is better."""
    arguments = _arguments()
    try:
        settings = load_settings(os.environ)
        database = arguments.database or settings.database_path
        options = settings.model.options()
        embedder = catalog.load(catalog.choose(arguments.model, options).card.name, options)
        if isinstance(embedder, RemoteEmbedder) and not (
            embedder.endpoint.is_local or arguments.yes
        ):
            print(f"headings and texts would go to {embedder.endpoint.host}; allow it with --yes")
            return 1
        documents = [*_documents(database, arguments.name, arguments.characters)]
    except MdvecError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    questions = _questions(documents)
    if len(questions) < MIN_QUESTIONS:
        print(f"{len(questions)} headings with text under them are fewer than {MIN_QUESTIONS}")
        return 1
    with open_database(database, "read") as connection:
        stored = calibrated_constants(connection, embedder.fingerprint)
    before = stored or default_constants(embedder.name)
    print(f"embedding {len(documents)} documents and {len(questions)} headings …", flush=True)
    asked = _ask(documents, questions, embedder)
    after = better(before, asked)
    _print(asked.half(1), before, after)
    if after == before:
        print("no other constants are better on the headings held out; nothing was changed")
        return 0
    with open_database(database, "write") as connection, connection:
        store_constants(connection, embedder.fingerprint, after)
    print(f"searches with {embedder.fingerprint} use the new constants from now on")
    return 0


def better(before: ModelConstants, asked: Asked) -> ModelConstants:
    """Each constant, as fitted to one half, if it is better on the other half."""
    fitting, others = asked.half(0), asked.half(1)
    ndcg = {trust: fitting.ndcg(trust) for trust in (before.vector_trust, *TRUSTS)}
    after = replace(before, vector_trust=max(ndcg, key=lambda trust: ndcg[trust]))
    if others.ndcg(after.vector_trust) <= others.ndcg(before.vector_trust):
        after = before
    judging = replace(after, unrelated=unrelated_cosines(fitting.unanswerable))
    return judging if others.judgement(judging) > others.judgement(before) else after


def unrelated_cosines(unanswerable: Sequence[Case]) -> tuple[float, float] | None:
    """Mean and standard deviation of the nearest passage's cosine; None without any."""
    nearest = [
        max(cosines)
        for case in unanswerable
        if (cosines := [c.cosine for c in case.candidates if c.cosine is not None])
    ]
    if not nearest:
        return None
    return statistics.fmean(nearest), max(statistics.pstdev(nearest), _MIN_DEVIATION)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="as in --model of an import")
    parser.add_argument("-n", "--name", help="the tool whose documents are used; default: all")
    parser.add_argument("--database", type=Path, help="default: that of the settings")
    parser.add_argument(
        "--characters", type=int, default=400_000,
        help="stop taking documents after so many characters; fewer are quicker (400,000)",
    )  # fmt: skip
    parser.add_argument(
        "-y", "--yes", action="store_true", help="send texts to the model's endpoint"
    )
    return parser.parse_args()


def _documents(database: Path, name: str | None, characters: int) -> Iterator[Document]:
    """The imported documents that have headings, the same ones each time, without their titles."""
    contents: dict[str, str] = {}
    with open_database(database, "read") as connection:
        chosen = (
            [registry.get_tool(connection, name)]
            if name is not None
            else registry.list_tools(connection, active_only=True)
        )
        for tool in chosen:
            kind = KINDS[tool.kind]
            if not kind.has_texts or kind.is_made_of_records or not tool.generation:
                continue
            for path in stored_files(tool.tables_in(connection)):
                found = stored_text(tool.tables_in(connection), path)
                if found is not None:
                    contents[f"{tool.name}/{path}"] = found.content
    for path in sorted(contents, key=lambda path: zlib.crc32(path.encode())):
        read = outline(contents[path], path.rpartition("/")[2])
        if read.headings and characters > 0:
            characters -= len(contents[path])
            yield Document(contents[path], replace(read, title=""))


def _questions(documents: Sequence[Document]) -> Mapping[str, SectionKey]:
    """The headings that occur once, above some text of their own."""
    found = [
        (heading.words, (number, heading.start))
        for number, document in enumerate(documents)
        for heading in document.outline.headings
        if heading.level in LEVELS
        and not is_blank(heading.words)
        and len(own_text(document, heading.start).strip()) >= SHORTEST_SECTION
    ]
    often = Counter(words for words, _ in found)
    return dict(evenly([pair for pair in found if often[pair[0]] == 1], MAX_QUESTIONS))


def headings_asked(documents: Sequence[Document], embedder: Embedder, most: int) -> list[Case]:
    """What the headings of documents find among their texts, which have none."""
    asked = evenly([*_questions(documents).items()], most)
    with tempfile.TemporaryDirectory(prefix="mdvec-calibration-") as folder:
        database = Path(folder) / "trial.sqlite"
        keys = by_owner(store_headless(database, list(documents), embedder))
        with legs_of(database, embedder) as legs:
            return [_case(legs, keys, words, answer) for words, answer in asked]


def _ask(
    documents: Sequence[Document], questions: Mapping[str, SectionKey], embedder: Embedder
) -> Asked:
    """What all questions find in a database that is deleted afterwards."""
    unanswerable = tomllib.loads(_UNANSWERABLE.read_text(encoding="utf-8"))["questions"]
    with tempfile.TemporaryDirectory(prefix="mdvec-calibration-") as folder:
        database = Path(folder) / "trial.sqlite"
        keys = by_owner(store_headless(database, documents, embedder))
        with legs_of(database, embedder) as legs:
            return Asked(
                [_case(legs, keys, words, answer) for words, answer in questions.items()],
                [_case(legs, keys, words, None) for words in unanswerable],
            )


def _case(legs: Legs, keys: KeysOf, words: str, answer: SectionKey | None) -> Case:
    pool = legs.pool(words)
    owners = [tuple(keys(chunk)) for _, chunk in pool.owners]
    return Case(pool.query, pool.statistics, pool.candidates, owners, answer)


def trusting(case: Case, trust: float) -> Case:
    """A case whose cosines are trusted so far."""
    return replace(case, candidates=[replace(each, trust=trust) for each in case.candidates])


def _confident_share(cases: Sequence[Case], constants: ModelConstants) -> float:
    return sum(_is_confident(case, constants) for case in cases) / len(cases)


def _is_confident(case: Case, constants: ModelConstants) -> bool:
    candidates = [
        replace(each, likeness=constants.likeness(each.cosine), trust=constants.vector_trust)
        for each in case.candidates
    ]
    scored = fuse(case.query, case.statistics, candidates, "hybrid")
    order = sorted(range(len(scored)), key=lambda number: -scored[number].score)
    first = [(candidates[number], scored[number]) for number in order[:FIRST]]
    found = evidence(case.query, case.statistics, first)
    return bool(scored) and found.is_confident


def _print(held_out: Asked, before: ModelConstants, after: ModelConstants) -> None:
    """The constants before and now, and what they reach on the half that was held out."""
    for name, constants in (("before", before), ("now", after)):
        answered, misled = held_out.confident(constants)
        unrelated = constants.unrelated
        print(
            f"{name}: trust in vectors {constants.vector_trust:g}, cosine of unrelated passages "
            + (f"{unrelated[0]:.3f} ± {unrelated[1]:.3f}" if unrelated else "not known")
            + f"; headings found (nDCG@10) {held_out.ndcg(constants.vector_trust):.3f}, "
            f"said to be answered: {answered:.0%} of headings, {misled:.0%} of unanswerable ones"
        )


if __name__ == "__main__":
    sys.exit(main())
