"""The two public sets that every searcher is asked: passages by file, and questions with a file."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass
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
        parts = [part for part in self.parts if part[0] in names]
        questions = [question for question in self.questions if question[1] in names]
        return AskedSet(self.name, str(folder), parts, questions)

    def store(self, path: Path) -> None:
        """Write it for a child process."""
        path.write_text(json.dumps(asdict(self), ensure_ascii=False), encoding="utf-8")


def asked_sets(bench: Bench, questions: int) -> list[AskedSet]:
    """JSQuAD's passages, and the React documentation in users' words; hits count by file.

    Raises:
        Skipped: a set is not here; the message says where it comes from.
    """
    passages = passages_of(bench)
    react = find_corpus(bench.asked_corpus)
    users = tomllib.loads((BENCH / "users_questions.toml").read_text(encoding="utf-8"))["question"]
    return [
        AskedSet(
            "JSQuAD", str(passages.folder), _sections(passages.folder),
            [(asked.words, asked.file) for asked in evenly(passages.asked, questions)],
        ),
        AskedSet(
            "react-ja", str(react), _sections(react),
            [(asked["text"], asked["file"]) for asked in evenly(users, questions)],
        ),
    ]  # fmt: skip


def collection(folder: Path, questions: Path) -> AskedSet:
    """A folder and a TOML file of questions, each with its text and the file that answers it."""
    written = tomllib.loads(questions.read_text(encoding="utf-8"))["question"]
    return AskedSet(
        questions.stem, str(folder.resolve()), _sections(folder),
        [(each["text"], each["file"]) for each in written],
    )  # fmt: skip


def _sections(folder: Path) -> list[tuple[str, str]]:
    return [
        (file.relative_to(folder).as_posix(), part)
        for file in markdown_files(folder)
        for part in _PARTS.split(file.read_text(encoding="utf-8"))
        if part.strip()
    ]
