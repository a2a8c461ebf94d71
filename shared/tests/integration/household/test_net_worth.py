"""Asset histories: imported beside the transactions, told as net worth by month."""

from datetime import date
from pathlib import Path

import pytest

from mdvec.database.connection import open_database
from mdvec.household import Ledger
from mdvec.household.account_report import NoAssets, net_worth
from mdvec.household.core.moneyforward import read_asset_months
from mdvec.household.ledger_import import import_ledger
from mdvec.household.reading import LedgerFile
from mdvec.tools.registry import add_tool

TODAY = date(2025, 7, 1)
HEADER = "日付,合計（円）,預金・現金・暗号資産（円）,ポイント（円）"


@pytest.fixture
def connection(tmp_path):
    with open_database(tmp_path / "ledger.sqlite", "create") as connection:
        add_tool(connection, "kakeibo", "家計簿", Path(), "household")
        yield connection


def import_(connection, files, mode="update"):
    def file(path, time, *lines):
        data = "\r\n".join([HEADER, *lines, ""]).encode("cp932")
        return LedgerFile(path, len(data), time, lambda: data)

    return import_ledger(Ledger.undated(connection, 1), [file(*one) for one in files], mode)


def test_months_are_kept_the_newest_file_has_the_last_word(connection):
    old = ("資産推移月次.csv", 1, '2025/05/31,"1,000",900,100', "2025/04/30,800,800,0")
    new = ("資産推移月次 (1).csv", 2, "2025/06/30,1200,1200,", "2025/05/31,1010,910,100")
    report = import_(connection, [old, new])
    assert report.passed_over == ()
    assert [one.reason for one in report.net_worth] == ["net worth of 2 months"] * 2
    answer = net_worth(Ledger(connection, 1, TODAY))
    assert answer.text.splitlines()[:7] == [
        "2025年06月の純資産は 1,200円 です。", "- 直近の増減の平均: 毎月 +200円",
        "- 預金・現金・暗号資産: 1,200円", "月ごと:", "- 2025年04月: 800円",
        "- 2025年05月: 1,010円（+210円）", "- 2025年06月: 1,200円（+190円）",
    ]  # fmt: skip
    assert import_(connection, [old, new]).net_worth == report.net_worth
    import_(connection, [old], "replace")
    assert [one.total for one in net_worth(Ledger(connection, 1, TODAY)).months] == [800, 1_000]


def test_a_year_ago_a_missing_month_and_a_period(connection):
    lines = [f"2024/{month:02}/28,{month * 100},0,0" for month in (5, 6, 8, 9, 10, 11, 12)]
    lines += [f"2025/{month:02}/28,{1_200 + month * 100},0,0" for month in range(1, 7)]
    import_(connection, [("a.csv", 1, *lines)])
    answer = net_worth(Ledger(connection, 1, TODAY), period="2024年5月〜2025年6月")
    assert "- 1年前から: +1,200円（+200.0%）" in answer.text
    assert answer.notes[1] == "資産推移にない月: 2024年07月"
    assert [one.difference for one in answer.months][:4] == [None, 100, None, 100]
    with pytest.raises(NoAssets, match="2024年05月〜2025年06月 にあります"):
        net_worth(Ledger(connection, 1, TODAY), period="2020年")


def test_without_a_history_the_answer_says_what_to_import(connection):
    with pytest.raises(NoAssets, match=r"資産推移月次\.csv"):
        net_worth(Ledger(connection, 1, TODAY))


def test_daily_files_keep_each_months_last_day_and_bad_lines_are_counted():
    days = "2025/06/01,1,1,\n2025/06/30,3,3,\n2025/06/15,2,2,\n"
    text = f"{HEADER}\n{days}\nいつか,1,1,1\n2025/07/01,,,\n"
    (june,), bad = read_asset_months(text)
    assert (str(june.month), dict(june.amounts), bad) == (
        "2025-06", {"合計": 3, "預金・現金・暗号資産": 3}, 2,
    )  # fmt: skip
    assert read_asset_months("合計（円）\n1\n") == ([], 0)
