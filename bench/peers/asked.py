"""The sets that every searcher is asked: passages by file, and questions with their file."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from corpus import find_corpus, markdown_files
from finding import evenly
from jsquad import passages_of
from processes import BENCH, Bench

_PARTS = re.compile(r"^(?=#{1,3} )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AskedSet:
    """Files in a folder, their sections for libraries that do not cut files, and the questions."""

    name: str
    folder: str
    parts: list[tuple[str, str]]
    questions: list[tuple[str, str]]

    def sampled(self, characters: int, folder: Path) -> AskedSet:
        """At most so many characters: files that are asked about, evenly spread, in a folder."""
        sizes = Counter[str]()
        for name, part in self.parts:
            sizes[name] += len(part)
        if sizes.total() <= characters:
            return self
        asked = names = list(dict.fromkeys(file for _, file in self.questions))
        while sum(sizes[name] for name in names) > characters:
            names = evenly(asked, len(names) - 1)
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(self.folder) / name, folder / name)
        return _asked(self.name, folder, (each for each in self.questions if each[1] in names))


def public_sets(bench: Bench, count: int) -> list[AskedSet]:
    """JSQuAD's passages, and the React documentation in users' words; hits count by file.

    Raises:
        Skipped: a set is not here; the message says where it comes from.
    """
    passages, react = passages_of(bench), find_corpus(bench.asked_corpus)
    of_passages = evenly([(asked.words, asked.file) for asked in passages.asked], count)
    of_users = evenly(_written(BENCH / "users_questions.toml"), count)
    return [_asked("JSQuAD", passages.folder, of_passages), _asked("react-ja", react, of_users)]


def collection(folder: Path, questions: Path) -> AskedSet:
    """A folder and a TOML file of questions, each with its text and the file that answers it."""
    return _asked(questions.stem, folder.resolve(), _written(questions))


def _written(questions: Path) -> list[tuple[str, str]]:
    written = tomllib.loads(questions.read_text(encoding="utf-8"))["question"]
    return [(each["text"], each["file"]) for each in written]


def _asked(name: str, folder: Path, questions: Iterable[tuple[str, str]]) -> AskedSet:
    parts = [
        (file.relative_to(folder).as_posix(), part)
        for file in markdown_files(folder)
        for part in _PARTS.split(file.read_text(encoding="utf-8"))
        if part.strip()
    ]
    return AskedSet(name, str(folder), parts, list(questions))
