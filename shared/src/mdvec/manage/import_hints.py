"""What an import says of files that its tool's kind does not take, so that nobody wonders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from mdvec.files.scan import DATA_ENDINGS, Scan, ScanRules
from mdvec.household.core.moneyforward import is_transactions
from mdvec.household.report import LEDGER_ENDINGS
from mdvec.importing.report import ImportReport
from mdvec.tools.rows import Tool

_LOOKED_INTO = 20
_HEAD = 4096
_ENDINGS_NAMED = 8
_COLUMNS = {"日付", "内容", "金額"}


def hints_of(tool: Tool, found: Scan, rules: ScanRules, report: ImportReport) -> tuple[str, ...]:
    """Why nothing was taken, and which files another kind of tool is for."""
    hints = []
    if not found.files:
        hints.append(_why_nothing(tool, found.others, rules))
    statement = _statement(tool, found, report)
    if statement:
        hints.append(
            f"{statement} holds Money Forward's transactions; for sums, trends and charts add a "
            f"household: mdvec tool add --kind household -n NAME -d DESCRIPTION -s {tool.source}"
        )
    return tuple(hints)


def _why_nothing(tool: Tool, others: Iterable[str], rules: ScanRules) -> str:
    taken = {
        "household": f"a household takes {', '.join(LEDGER_ENDINGS)}",
        "dataset": f"a dataset takes {', '.join(DATA_ENDINGS)}",
    }.get(tool.kind, f"this tool takes {', '.join(rules.extensions)} ([scan] extensions)")
    seen = Counter(PurePosixPath(path).suffix.lower() or "no ending" for path in others)
    if not seen:
        return f"there are no files in {tool.source} to look at; {taken}"
    named = ", ".join(f"{ending} ({n})" for ending, n in seen.most_common(_ENDINGS_NAMED))
    more = f" and {len(seen) - _ENDINGS_NAMED} more" if len(seen) > _ENDINGS_NAMED else ""
    return f"nothing in {tool.source} was taken; its files end in {named}{more}, and {taken}"


def _statement(tool: Tool, found: Scan, report: ImportReport) -> str:
    """The first file that a household is for; "" if there is none."""
    if tool.kind == "household":
        return ""
    if report.dataset is not None:
        return next(
            (
                table.origin
                for table in report.dataset.tables
                if {column.name[:2] for column in table.columns} >= _COLUMNS
            ),
            "",
        )
    likely = [path for path in found.others if path.lower().endswith(LEDGER_ENDINGS)]
    looked_into = likely[:_LOOKED_INTO]
    return next((path for path in looked_into if is_transactions(_head(tool.source / path))), "")


def _head(file: Path) -> bytes:
    if file.is_symlink() or not file.is_file():
        return b""
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return b""
    # The last line may end within a character.
    return head if len(head) < _HEAD else head[: head.rfind(b"\n") + 1]
