"""Two households in one view, against plain counting of the rows."""

from datetime import date

import pytest
from plan_ledger import Bought, fill

from mdvec.database.connection import open_database
from mdvec.household.combined import combined_households
from mdvec.household.core.wording import EmptyLedger, InsufficientData

TODAY = date(2025, 6, 20)
HERS = [
    Bought("2025-06-02", "朝市", -3_000),
    Bought("2025-06-25", "給与", 300_000, "収入/給与"),
    Bought("2025-06-09", "振替", -9_999, counts=False),
]
HIS = [
    Bought("2025-05-02", "書店", -700, "教養/本"),
    Bought("2025-06-04", "朝市", -1_000),
    Bought("2025-06-05", "書店", -500, "教養/本"),
]


@pytest.fixture
def connection(tmp_path):
    with open_database(tmp_path / "ledger.sqlite", "create") as connection:
        yield connection


def test_both_households_and_their_sum(connection):
    tools = {"hers": fill(connection, HERS, "hers"), "his": fill(connection, HIS, "his")}
    answer = combined_households(connection, tools, today=TODAY)
    assert answer.text.splitlines() == [
        "2025年06月の 2つの家計簿です。",
        "- hers: 支出 3,000円、収入 300,000円、収支 +297,000円",
        "- his: 支出 1,500円、収入 0円、収支 -1,500円",
        "- 合計: 支出 4,500円、収入 300,000円、収支 +295,500円",
        "合わせたカテゴリ別の支出:",
        "- 食費: 4,000円（88.9%）",
        "- 教養: 500円（11.1%）",
        "※ 両方の家計簿にある同じ買い物は、二度数えています。",
    ]
    rows = [row for row in (*HERS, *HIS) if row.day.startswith("2025-06")]
    assert answer.spending == sum(row.yen for row in rows if row.major != "収入")
    assert answer.income == sum(row.yen for row in rows if row.major == "収入")


def test_a_household_without_rows_is_named(connection):
    tools = {"hers": fill(connection, HERS, "hers"), "his": fill(connection, HIS, "his")}
    answer = combined_households(connection, tools, period="2025年5月", today=TODAY)
    assert answer.notes[0] == "hers にはこの期間の明細がありません"
    assert (answer.spending, answer.income) == (700, 0)
    with pytest.raises(InsufficientData):
        combined_households(connection, tools, period="2020年5月", today=TODAY)
    with pytest.raises(EmptyLedger):
        combined_households(connection, {"new": fill(connection, [], "new")}, today=TODAY)
