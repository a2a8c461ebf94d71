"""Updating a folder of ten thousand files: nothing changed, then one paragraph changed."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from mdvec.manage.registering import add_tool
from processes import Bench, call_in_child, run_mdvec
from results import Row, median, spread

FILES = 10_000
FOLDERS = 100
DIFFERENT = 500
"""The number of distinct contents: this measures the update, not the embedding."""

CHANGED = "000/note-00000.md"
CHANGED_SECTIONS = 12
UNCHANGED_BAR_MS = 0.1
CHANGED_BAR = 2.0
SUBJECTS = (
    "バックアップの復元", "証明書の更新", "議事録の書き方", "冷蔵庫の整理", "家計簿の締め",
    "ブランチの運用", "非常食の点検", "索引の作り直し", "旅行の準備", "オンコールの引き継ぎ",
)  # fmt: skip


def measure(bench: Bench) -> list[Row]:
    """Create the files, import them once, then update."""
    source, database = bench.folder / "notes", bench.folder / "notes.sqlite"
    _write_files(source)
    add_tool(database, "notes", "一万のメモ", source, "markdown")
    _mdvec_import(bench, database, "new")
    return [*_unchanged_rows(bench, database, source), _changed_row(bench, database, source)]


def _unchanged_rows(bench: Bench, database: Path, source: Path) -> list[Row]:
    runs = [
        call_in_child(bench, "updating", "update_unchanged", str(database), str(source.resolve()))
        for _ in range(bench.times(7))
    ]
    per_file = [seconds * 1000 / FILES for seconds, _ in runs]
    opened = max(opened for _, opened in runs)
    return [
        Row(
            f"`--mode update`, nothing changed, {FILES:,} files (process start apart)",
            spread(per_file, "ms a file"),
            f"≤ {UNCHANGED_BAR_MS} ms a file",
            median(per_file) <= UNCHANGED_BAR_MS,
        ),
        Row("files that it opened", str(opened), "none", opened == 0, minor=True),
    ]


def update_unchanged(database: str, source: str) -> tuple[float, int]:
    """An update in this process: the seconds of its report, and how many files it opened.

    Python itself tells of each opening (an audit hook), so none escapes the count.
    """
    from mdvec.embedding import catalog
    from mdvec.files.scanning import ScanRules
    from mdvec.importing.job import ImportRequest
    from mdvec.importing.options import ChunkingSettings
    from mdvec.manage.tool_import import import_tool

    opened: list[str] = []

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and str(arguments[0]).startswith(f"{source}/"):
            opened.append(str(arguments[0]))

    sys.addaudithook(note)
    rules = ScanRules((".md", ".markdown", ".txt"), (), 10 * 2**20)
    request = ImportRequest(Path(database), "notes", "update", rules, ChunkingSettings())
    report = import_tool(request, lambda name: catalog.load(str(name)))
    during = len(opened)
    (Path(source) / CHANGED).read_bytes()
    if report.unchanged != FILES or len(opened) != during + 1:
        raise RuntimeError(f"{report.unchanged} files unchanged, {len(opened)} openings seen")
    return report.seconds, during


def _changed_row(bench: Bench, database: Path, source: Path) -> Row:
    """A different paragraph each time, through the command line as a user runs it."""
    seconds, embedded = [], []
    for number in range(bench.times(5)):
        _change_paragraph(source / CHANGED, number % CHANGED_SECTIONS)
        took, report = _mdvec_import(bench, database, "update")
        seconds.append(took)
        embedded.append(int(report["chunks_embedded"]) if report["updated"] == 1 else -1)
    return Row(
        f"one of them changed in one of its {CHANGED_SECTIONS} paragraphs",
        f"{spread(seconds, 's')} in all; chunks embedded: "
        f"{', '.join(map(str, sorted(set(embedded))))}",
        f"only the changed chunk; ≤ {CHANGED_BAR:.0f} s in all",
        set(embedded) == {1} and median(seconds) <= CHANGED_BAR,
    )


def _mdvec_import(bench: Bench, database: Path, mode: str) -> tuple[float, dict[str, int]]:
    began = time.perf_counter()
    done = run_mdvec(
        bench, "import", "-n", "notes", "--mode", mode, "--model", "use", "--format", "json",
        "--database", database,
    )  # fmt: skip
    report: dict[str, int] = json.loads(done.stdout)
    return time.perf_counter() - began, report


def _write_files(source: Path) -> None:
    for number in range(FILES):
        path = source / f"{number * FOLDERS // FILES:03d}" / f"note-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        sections = CHANGED_SECTIONS if number == 0 else 2
        path.write_text(_note(number % DIFFERENT, sections), encoding="utf-8")


def _note(number: int, sections: int) -> str:
    parts = [f"# メモ {number}\n"]
    for section in range(sections):
        subject = SUBJECTS[(number + section) % len(SUBJECTS)]
        parts.append(
            f"## {subject}その{section}\n\n{subject}について、{number}番目のメモの第{section}節。"
            "手順を上から順に確かめ、終わったら日付と担当を書き残し、次の人に渡す。\n"
        )
    return "\n".join(parts)


def _change_paragraph(path: Path, section: int) -> None:
    before = path.read_text(encoding="utf-8")
    path.write_text(
        before.replace(f"第{section}節。", f"第{section}節。この段落だけ書き直した。"),
        encoding="utf-8",
    )
