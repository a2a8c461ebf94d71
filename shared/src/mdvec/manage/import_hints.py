"""Hints after an import: why no file was imported, and which kind of tool reads a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from mdvec.datasets.report import DatasetReport
from mdvec.files.scan import Scan, ScanRules
from mdvec.household.core.moneyforward import is_transactions
from mdvec.importing.report import ImportReport
from mdvec.tools.kinds import KINDS
from mdvec.tools.rows import Tool

_MAX_FILES_READ = 20
_MAX_BYTES_READ = 4096
_MAX_ENDINGS_NAMED = 8
_STATEMENT_COLUMNS = {"日付", "内容", "金額"}
_HOUSEHOLD_ENDINGS = KINDS["household"].endings or ()


def hints_of(tool: Tool, found: Scan, rules: ScanRules, report: ImportReport) -> tuple[str, ...]:
    """Say why no file was imported, and name a file that belongs in a household."""
    hints = []
    if not found.files:
        hints.append(_why_nothing(tool, found.others, rules))
    statement = _statement(tool, found, report)
    if statement:
        hints.append(
            f"{statement} contains Money Forward transactions; for sums, trends and charts add a "
            f"household: mdvec tool add --kind household -n NAME -d DESCRIPTION -s {tool.source}"
        )
    return tuple(hints)


def _why_nothing(tool: Tool, others: Iterable[str], rules: ScanRules) -> str:
    kind = KINDS[tool.kind]
    taken = (
        f"this tool reads {', '.join(rules.extensions)} ([scan] extensions)"
        if kind.endings is None
        else f"a {kind.name} reads {', '.join(kind.endings)}"
    )
    seen = Counter(PurePosixPath(path).suffix.lower() or "no ending" for path in others)
    if not seen:
        return f"{tool.source} contains no files to import; {taken}"
    named = ", ".join(f"{ending} ({n})" for ending, n in seen.most_common(_MAX_ENDINGS_NAMED))
    more = f" and {len(seen) - _MAX_ENDINGS_NAMED} more" if len(seen) > _MAX_ENDINGS_NAMED else ""
    return f"no file in {tool.source} was imported: their names end in {named}{more}, and {taken}"


def _statement(tool: Tool, found: Scan, report: ImportReport) -> str:
    """The first file of Money Forward transactions; "" if there is none.

    Looks at the tables of a dataset, and at files that were skipped because of their ending.
    """
    if isinstance(report.details, DatasetReport):
        for table in report.details.tables:
            if {column.name[:2] for column in table.columns} >= _STATEMENT_COLUMNS:
                return table.origin
    likely = [path for path in found.others if path.lower().endswith(_HOUSEHOLD_ENDINGS)]
    looked_into = likely[:_MAX_FILES_READ]
    return next((path for path in looked_into if is_transactions(_head(tool.source / path))), "")


def _head(file: Path) -> bytes:
    if file.is_symlink() or not file.is_file():
        return b""
    try:
        with file.open("rb") as stream:
            head = stream.read(_MAX_BYTES_READ)
    except OSError:
        return b""
    # The last line may be cut within a character.
    return head if len(head) < _MAX_BYTES_READ else head[: head.rfind(b"\n") + 1]
