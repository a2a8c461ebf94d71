"""The answers of every tool on the samples, as recorded: what a change to the code must not change.

After a change that is meant, `MDVEC_RECORD=1 pytest mcp-server/tests/e2e/test_golden_answers.py`
writes them anew; the difference is then read and committed with it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "answers.txt"
SHOPS = "SELECT shop, count(*) AS n FROM transactions GROUP BY shop ORDER BY n DESC, shop LIMIT 5"
CALLS: list[tuple[str, dict[str, object]]] = [
    ("search", {"query": "地震に備えて水はどれくらい？"}),
    ("search", {"query": "量子コンピューターの価格"}),
    ("notes", {"query": "git worktree", "k": 2}),
    ("kakeibo", {"query": "スーパー", "k": 2}),
    ("get_document", {"tool": "notes", "file_path": "home/防災メモ.md"}),
    ("get_document", {"tool": "notes", "file_path": "home/防災メも.md"}),
    ("get_monthly_household", {"period": "2025-06"}),
    ("get_monthly_household", {"period": "2025-06", "page": 2}),
    ("get_monthly_household", {"period": "2024年", "category": "食費", "limit": 0}),
    ("get_category_trend", {"category": "食費", "period": "2025-01〜2025-06"}),
    ("get_category_trend", {"category": "貯蓄率", "period": "2025-01〜2025-06"}),
    ("get_category_trend", {"period": "2025-01〜2025-03"}),
    ("find_transactions", {"query": "スーパー", "period": "2025-06"}),
    ("find_transactions", {"category": "食費", "group_by": "shop", "period": "2025-06"}),
    ("find_transactions", {"account": "ない銀行"}),
    ("household_report", {"report": "compare", "period": "2025-09"}),
    ("household_report", {"report": "compare", "period": "2025-09", "detail": "full"}),
    ("household_report", {"report": "recurring"}),
    ("household_report", {"report": "forecast"}),
    ("household_report", {"report": "anomalies"}),
    ("edit_household", {"what": "budget", "category": "食費", "amount": 50_000}),
    ("household_report", {"report": "budget", "period": "2025-09"}),
    ("edit_household", {"what": "rule", "shop": "カフェ", "category": "食費", "action": "try"}),
    ("edit_household", {"what": "note", "transaction_id": 1, "note": "確認済み", "tags": ["税"]}),
    ("detect_duplicates", {}),
    ("list_duplicate_candidates", {}),
    ("get_duplicate_candidate_detail", {"check_id": 1}),
    ("confirm_duplicate", {"check_id": 1, "decision": "duplicate"}),
    ("get_duplicate_stats", {}),
    ("query", {"query": SHOPS}),
    ("query", {"query": "SELECT nothing FROM transactions"}),
    ("profile", {"table_or_query": "runs"}),
    ("histogram", {"table_or_query": "runs", "column": "km"}),
    ("list_handles", {}),
    ("runs", {}),
    ("list_sources", {}),
]  # fmt: skip
VARIABLE = (
    (r"(</?text) [0-9a-f]+>", r"\1 MARK>"),
    (r"score [\d.]+", "score N"),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?Z?", "TIME"),
    (r"（\d+か月前）", "（N か月前）"),
    (r", \d+ months ago", ", N months ago"),
    (r"exp_[0-9a-z_]+", "HANDLE"),
    (r"\d+(\.\d+)? m?s\b", "N s"),
)
"""What differs from run to run, and what takes its place."""


def as_recorded(database: Path, text: str) -> str:
    text = text.replace(str(Path(__file__).parents[3]), "REPO")
    text = re.sub(rf"{re.escape(str(database.parent))}|/[^ ]*/samples(?=/runs)", "FOLDER", text)
    for pattern, replacement in VARIABLE:
        text = re.sub(pattern, replacement, text)
    return text


@pytest.fixture(scope="module")
def answers(tmp_path_factory, connect_here, samples):
    database = samples(tmp_path_factory.mktemp("golden"))
    home = database.parent / "home"
    with connect_here(database, home=home, MDVEC_ANALYTICS_FOLDER=str(home / "exports")) as client:
        sections = []
        for tool, arguments in CALLS:
            answer = client.call(tool, arguments)
            said = "\n".join(block.text for block in answer.content if block.type == "text")
            given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
            refused = " — refused" if answer.is_error else ""
            sections.append(f"=== {tool}({given}){refused}\n{as_recorded(database, said)}\n")
    return sections


def test_every_tool_answers_as_recorded(answers):
    if os.environ.get("MDVEC_RECORD"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text("\n".join(answers), encoding="utf-8")
    assert "\n".join(answers) == GOLDEN.read_text(encoding="utf-8")
