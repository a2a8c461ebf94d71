"""A household imported from statement rows, for tests of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from imported import imported
from ledger_folder import HEADER


def quoted(text: str) -> str:
    """A cell of a CSV, on one line."""
    return '"' + text.replace('"', '""').replace("\n", " ") + '"'


def ledger(
    folder: Path, lines: Iterable[str], assets: str = "", banks: Mapping[str, str] | None = None
) -> Path:
    """A database with a household, ``kakeibo``, of these rows, and of this asset history.

    ``banks`` are more statements by file name.
    """
    statements = folder / "明細"
    statements.mkdir(parents=True)
    text = "\n".join([HEADER, *lines, ""])
    (statements / "明細_2025-07.csv").write_bytes(text.encode("utf-8-sig"))
    for name, content in (banks or {}).items():
        (statements / name).write_bytes(content.encode("cp932"))
    if assets:
        (statements / "資産推移月次.csv").write_bytes(assets.encode("utf-8-sig"))
    database = folder / "data" / "v.sqlite"
    assert not imported(database, "kakeibo", statements, "household").failed
    return database
