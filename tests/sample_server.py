"""A database of the samples in docs/examples: notes, a household, and a dataset of a few runs."""

from __future__ import annotations

from pathlib import Path

from imported import imported
from mdvec.embedding import catalog

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
ROWS = "day,km,pace\n" + "".join(
    f"2025-06-{n:02},{n % 5 + 1},{5 + n % 7 / 4}\n" for n in range(1, 31)
)


def sample_database(folder: Path) -> Path:
    """A database in ``folder`` with the tools notes, kakeibo and runs, imported with `use`."""
    folder.mkdir()
    database = folder / "vectors.sqlite"
    (folder / "runs.csv").write_text(ROWS, encoding="utf-8")
    for name, kind, description, source in (
        ("notes", "markdown", "開発と暮らしのメモ", EXAMPLES / "notes"),
        ("kakeibo", "household", "我が家の家計簿（架空）", EXAMPLES / "household"),
        ("runs", "dataset", "ランニングの記録", folder / "runs.csv"),
    ):
        imported(database, name, source, kind, description, load=catalog.load, model="use")
    return database
