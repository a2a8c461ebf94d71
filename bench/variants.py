"""One word in two spellings: is a note found by the spelling that it does not use?"""

from __future__ import annotations

import tomllib
from pathlib import Path

from finding import group_rows, hits_of, imported
from invented_notes import write_notes
from mdvec.embedding import catalog
from processes import Bench
from results import Row

K = 5
VARIANTS = Path(__file__).with_name("spelling_variants.toml")


def measure(bench: Bench) -> list[Row]:
    """A row for all, and one a group, among the invented notes; a query that misses is named."""
    folder = bench.folder / "variants"
    write_notes(folder)
    groups = write_variants(folder)
    embedder = catalog.load("use")
    database = bench.folder / "variants.sqlite"
    imported(database, folder, embedder)
    missed = {
        group: [
            query
            for query, file in expected.items()
            if file
            not in {hit.file_path for hit in hits_of(database, query, K, "hybrid", embedder)}
        ]
        for group, expected in groups.items()
    }
    asked = {group: len(expected) for group, expected in groups.items()}
    return group_rows(f"spellings in notes, {K} hits (`use`, hybrid)", asked, missed)


def write_variants(folder: Path) -> dict[str, dict[str, str]]:
    """Write a note a pair, without a title; by group, each query and the file it should find."""
    groups: dict[str, dict[str, str]] = {}
    for group in tomllib.loads(VARIANTS.read_text("utf-8"))["group"]:
        for query, text in group["pairs"]:
            number = sum(map(len, groups.values()))
            name = f"variants/{number:03}.md"
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n", encoding="utf-8")
            groups.setdefault(group["name"], {})[query] = name
    return groups
