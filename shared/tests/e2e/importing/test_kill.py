"""Imports that are killed: the file stays sound, and the next update completes the work."""

import random
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from collection import RULES, Collection
from sample_documents import word

FILES = 24
MIXED = replace(RULES, extensions=(*RULES.extensions, ".html", ".docx", ".eml"))
FORMATS = {
    3: (".html", lambda text: f"<h1>節</h1><p>{text}</p>".encode()),
    5: (".docx", lambda text: word(("Heading 1", "節"), ("Normal", text[:400]))),
    7: (".eml", lambda text: f"Subject: knot\n\n{text}".encode()),
}
"""How every eighth of many files is written, by its number; the others are Markdown."""


def fill(folder: Path, seed: int, files: int = FILES) -> None:
    """Write files with a few sections each; another seed changes about half of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        words = random.Random(f"{number}-{seed if number % 2 else 0}")
        sections = [
            f"## 節 {words.random()}\n\n"
            + "".join(words.choices("春夏秋冬花鳥風月abc。\r\n", k=300))
            for _ in range(words.randint(1, 5))
        ]
        # To start a converter for each import of few files would take too long.
        ending, made = FORMATS.get(number % 8 if number >= FILES else 0, (".md", str.encode))
        (folder / f"{number:03}{ending}").write_bytes(made("\n\n".join(sections)))


def killed(importing, collection: Collection, mode: str, files: int) -> None:
    """Import in another process, and kill it once that many files are done."""
    with importing(collection, mode) as child:
        for _ in range(files + 1):
            child.stdout.readline()
        child.kill()


def without_vectors(contents):
    return [row[:-1] for row in contents]


def assert_same(contents, expected):
    """The same documents, chunks and positions; vectors within 1e-5."""
    assert without_vectors(contents) == without_vectors(expected)
    for row, wanted in zip(contents, expected, strict=True):
        if row[-1] is not None:
            distance = np.frombuffer(row[-1], np.float32) - np.frombuffer(wanted[-1], np.float32)
            assert np.abs(distance).max() < 1e-5


@dataclass(frozen=True)
class Beginning:
    """A database and a changed folder, from which an import begins."""

    place: Path
    expected: list

    def copy(self, place: Path) -> Collection:
        """A copy of the database, over the same files."""
        shutil.copytree(self.place, place, ignore=shutil.ignore_patterns("notes"))
        return Collection(self.place / "notes", place / "vectors.sqlite", rules=MIXED, is_new=False)


def begin(place: Path, changed: bool, files: int = FILES) -> Beginning:
    """A folder with files that are new, or changed since their import."""
    fill(place / "notes", 1, files)
    collection = Collection(place / "notes", place / "vectors.sqlite", rules=MIXED)
    if changed:
        collection.import_("new")
        fill(place / "notes", 2, files)
        (place / "notes" / "000.md").unlink()
    undisturbed = Collection(place / "notes", place.parent / f"{place.name}.sqlite", rules=MIXED)
    assert not undisturbed.import_("new").failed
    return Beginning(place, undisturbed.contents())


@pytest.fixture(scope="module")
def beginnings(tmp_path_factory) -> dict[str, Beginning]:
    folder = tmp_path_factory.mktemp("beginnings")
    first, changed = begin(folder / "first", changed=False), begin(folder / "changed", changed=True)
    return {"new": first, "update": changed, "replace": changed}


def kill_and_recover(importing, beginning: Beginning, place: Path, mode: str, files: int) -> None:
    collection, expected = beginning.copy(place), beginning.expected
    before = collection.contents()

    killed(importing, collection, mode, files)

    collection.check()
    after = collection.contents()
    if mode == "replace":
        assert after in (before, expected)
    else:
        # Whole or absent: every document is as it was before, or as it should become.
        known = {path: rows for rows in (before, expected) for path in documents(rows)}
        for path, rows in documents(after).items():
            assert rows in (documents(before).get(path), documents(expected).get(path)), known
    collection.import_("update")
    collection.check()
    assert_same(collection.contents(), expected)
    names = collection.rows("SELECT name FROM sqlite_schema WHERE name LIKE '%@%'")
    assert names == []


def documents(contents):
    """Rows by path, without vectors."""
    by_path: dict[str, list] = {}
    for row in contents:
        by_path.setdefault(row[0], []).append(row[:-1])
    return by_path


MOMENTS = [
    (mode, random.Random(f"{mode}{number}").randrange(FILES))
    for number in range(1)
    for mode in ("new", "update", "replace")
]


@pytest.mark.parametrize(
    ("mode", "files"), [MOMENTS[0], pytest.param(*MOMENTS[1], marks=pytest.mark.soak), MOMENTS[2]]
)
def test_a_killed_import_leaves_whole_documents_and_update_completes_it(
    tmp_path, importing, beginnings, mode, files
):
    kill_and_recover(
        importing,
        beginnings[mode],
        tmp_path / "own",
        mode,
        files // 2 if mode == "update" else files,
    )


@pytest.mark.soak
@pytest.mark.parametrize("mode", ["new", "update", "replace"])
def test_two_hundred_kills(tmp_path, importing, beginnings, mode):
    moments = random.Random(mode)
    for number in range(200):
        files = moments.randrange(FILES // 2 if mode == "update" else FILES)
        kill_and_recover(importing, beginnings[mode], tmp_path / str(number), mode, files)


def test_a_kill_while_vectors_come_loses_those_of_one_document_at_most(tmp_path, importing):
    fill(tmp_path / "notes", seed=1)
    collection = Collection(tmp_path / "notes", tmp_path / "v.sqlite")
    undisturbed = Collection(tmp_path / "notes", tmp_path / "undisturbed.sqlite")
    undisturbed.import_("new")
    collection.import_("new", is_background=True)
    words = without_vectors(collection.contents())
    assert words == without_vectors(undisturbed.contents())

    with importing(collection, "update") as child:
        while int(child.stdout.readline()) < FILES // 4:
            pass
        child.kill()

    collection.check()
    after = collection.contents()
    assert without_vectors(after) == words
    with_vectors = {row[0] for row in after if row[-1]}
    assert FILES // 4 <= len(with_vectors) < FILES
    assert with_vectors.isdisjoint(row[0] for row in after if not row[-1])  # whole or absent
    said = collection.search("春夏秋冬").notes
    assert any(note.startswith(f"notes: {sum(map(bool, vectors(after)))} of ") for note in said)

    collection.import_("update")
    collection.check()
    assert_same(collection.contents(), undisturbed.contents())
    assert len(collection.backend.embedded) == sum(not vector for vector in vectors(after))


def vectors(contents):
    return [row[-1] for row in contents]


@pytest.mark.soak
def test_a_thousand_files_that_are_killed_ten_times(tmp_path, importing):
    beginning, moments = begin(tmp_path / "first", changed=False, files=1_000), random.Random(1)
    collection = beginning.copy(tmp_path / "own")
    for number in range(10):
        killed(importing, collection, "update" if number else "new", moments.randrange(90))
        collection.check()
    collection.import_("update")
    assert_same(collection.contents(), beginning.expected)
