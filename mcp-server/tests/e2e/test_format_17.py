"""A database of format 17, filled with everything, answers as the mdvec that wrote it did."""

import pytest
from imported import import_
from mdvec.database import migrations
from mdvec.database.connection import open_database
from old_database import database_of_format_17

ANSWERS = [
    ("notes", {"query": "水はどれくらい備蓄する？"}, ["water.md", "#備蓄", "3リットル"]),
    ("notes", {"query": "git worktree"}, ["git.md", "Two branches at once"]),
    ("notes", {"query": "みず", "tags": ["防災"]}, ["water.md"]),
    ("kakeibo", {"query": "動物園"}, ["-1,200円", "「雨で早めに帰った」 #家族 #夏"]),
    ("search", {"query": "家具"}, ["日記/2025-06-08.md", "住宅/家具・家電", "集計外: 重複"]),
    ("get_monthly_household", {"tool": "kakeibo", "period": "2025年6月", "output_format": "text"},
     ["53,580円", "250,000円", "リンリン -23,980円 趣味・娯楽 > 旅行", "集計外: 重複",
      "集計外: 振替"]),
    ("get_monthly_household", {"tool": "kakeibo", "period": "2025年7月", "output_format": "text"},
     ["4,000円", "集計外: 明細から消えたもの"]),
    ("household_report", {"report": "budget", "tool": "kakeibo", "period": "2025年7月"},
     ["食費", "40,000円", "旅行", "120,000円"]),
    ("household_report", {"report": "households", "period": "2025年7月"},
     ["両方にある買い物 1件（支出 1,200円）"]),
    ("household_report", {"report": "net_worth", "tool": "kakeibo"}, ["310,000円"]),
    ("edit_household", {"what": "rule", "tool": "kakeibo", "action": "list"},
     ["リンリン", "趣味・娯楽 > 旅行"]),
    ("edit_household", {"what": "note", "tool": "kakeibo"}, ["雨で早めに帰った"]),
    ("list_duplicate_candidates", {"tool": "kakeibo", "skip_checked": False},
     ["家具のとびら ピコペイ", "喫茶こむぎ", "チャージ"]),
    ("query", {"query": "SELECT shop, yen, file FROM runs__shops_sales WHERE yen = '060'"},
     ["東", "sales_2025-06.csv"]),
    ("query", {"query": "SELECT typeof(pace) AS t FROM runs__runs LIMIT 1"}, ["VARCHAR"]),
    ("query", {"query": "distance", "parameters": {"since": "2025-06-05"}}, ["[[21]]"]),
]  # fmt: skip


@pytest.fixture
def old(tmp_path):
    return database_of_format_17(tmp_path / "old")


def answered(client):
    """Check every answer; returns the texts."""
    texts = []
    for tool, arguments, parts in ANSWERS:
        answer = client.call(tool, arguments)
        text = "".join(block.text for block in answer.content if block.type == "text")
        assert (answer.is_error, [part for part in parts if part not in text]) == (False, []), text
        texts.append(text)
    return texts


def test_it_answers_before_and_after_its_next_import_which_embeds_nothing(
    old, connect_here, tmp_path, model_use
):
    with connect_here(old, home=tmp_path / "home") as client:
        answered(client)
        for tool, there in (("notes", 3), ("kakeibo", 13), ("ours", 1), ("runs", 2)):
            report = import_(old, tool, load=lambda _: model_use, model="use")
            assert (report.added, report.deleted, report.chunks_embedded) == (0, 0, 0)
            read_anew = report.updated if tool == "runs" else 0
            assert report.unchanged + read_anew == there
            assert report.failed == ()
        answered(client)
    with open_database(old, "read") as connection:
        assert migrations.format_of(connection) == migrations.LATEST
        kept = "SELECT check_id, user_decision FROM departed_pairs"
        assert connection.execute(kept).fetchall() == [(3, "duplicate")]
        assert connection.execute("SELECT origin FROM allowed_endpoints").get == (
            "https://models.example"
        )
