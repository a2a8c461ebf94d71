"""Two accounts at one bank: told apart by evidence, or counted apart until the user says."""

import random
from datetime import date, timedelta

import pytest
from collection import Collection
from ledger_rows import list_transactions

from mdvec.database.connection import open_database
from mdvec.household import list_notes, monthly_household, note_row
from mdvec.manage import registering
from mdvec.manage.household_mapping import map_statement

MUFG = "日付,摘要,摘要内容,支払い金額,預かり金額,差引残高,メモ"
HIS = [
    "2025/7/25,給料,架空商事,,300000,400000,",
    "2025/7/28,カード,,10000,,390000,",
    "2025/7/28,手数料,,110,,389890,",
]
HERS = [
    "2025/7/24,給料,架空病院,,200000,250000,",
    "2025/7/28,カード,,10000,,240000,",
    "2025/7/28,手数料,,110,,239890,",
]


class Household(Collection):
    def __post_init__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        registering.add_tool(self.database, self.name, "家計簿", self.folder, "household")

    def put(self, name, *lines):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes("\r\n".join([*lines, ""]).encode("cp932"))

    def counted(self):
        with open_database(self.database, "read") as connection:
            return [row for row in list_transactions(connection, 1) if row.counts]

    def by_account(self):
        sums: dict[str, int] = {}
        for row in self.counted():
            sums[row.account] = sums.get(row.account, 0) + row.amount
        return sums

    def month(self):
        with open_database(self.database, "read") as connection:
            return monthly_household(connection, 1, year=2025, month=7, today=date(2025, 8, 1))

    def note(self, row_id, text):
        with open_database(self.database, "write") as connection:
            note_row(connection, 1, transaction_id=row_id, note=text, tags=None)

    def noted(self):
        with open_database(self.database, "read") as connection:
            rows = list_notes(connection, 1, tag=None).rows
        return [(each.row.id, each.row.account, each.note) for each in rows]


@pytest.fixture
def household(tmp_path):
    return Household(tmp_path / "csv", tmp_path / "vectors.sqlite", name="kakeibo")


def test_the_number_in_a_files_name_tells_two_accounts_apart(household):
    household.put("1111111_20250731.csv", MUFG, *HIS)
    household.import_("new")
    assert household.by_account() == {"三菱UFJ銀行": 289890}
    household.put("2222222_20250731.csv", MUFG, *HERS)
    report = household.import_("update").details.ledger
    assert (report.imported, report.questions) == (3, ())
    assert household.by_account() == {"三菱UFJ銀行 1111111": 289890, "三菱UFJ銀行 2222222": 189890}
    assert household.import_("update").unchanged == 6


def test_the_number_above_the_rows_tells_them_apart_too(household):
    household.put("a.csv", "口座番号,普通 1111111", MUFG, *HIS)
    household.put("b.csv", "口座番号,普通 2222222", MUFG, *HERS)
    household.import_("new")
    assert household.by_account() == {"三菱UFJ銀行 1111111": 289890, "三菱UFJ銀行 2222222": 189890}


def test_a_decision_follows_its_row_when_its_account_is_told_apart(household):
    household.put("1111111_20250731.csv", MUFG, *HIS)
    household.import_("new")
    ids = {row.description: row.id for row in household.counted()}
    household.note(ids["カード"], "会社の分")
    household.put("2222222_20250731.csv", MUFG, *HERS)
    household.import_("update")
    assert household.noted() == [(ids["カード"], "三菱UFJ銀行 1111111", "会社の分")]


def test_rows_of_a_deleted_file_keep_their_account_and_are_not_counted_twice(household):
    household.put("1111111_07.csv", MUFG, *HIS)
    household.import_("new")
    (household.folder / "1111111_07.csv").unlink()
    household.put("1111111_08.csv", MUFG, *HIS[1:], "2025/8/1,電気,,90,,389800,")
    household.put("2222222_07.csv", MUFG, *HERS)
    household.import_("update")
    assert household.by_account() == {"三菱UFJ銀行 1111111": 289800, "三菱UFJ銀行 2222222": 189890}
    (household.folder / "2222222_07.csv").unlink()
    household.import_("update")
    assert household.by_account() == {"三菱UFJ銀行 1111111": 289800, "三菱UFJ銀行 2222222": 189890}


def test_the_folder_tells_accounts_apart_whose_balances_contradict_each_other(household):
    household.put("夫/meisai.csv", MUFG, *HIS)
    household.put("妻/meisai.csv", MUFG, *HERS)
    assert household.import_("new").details.ledger.questions == ()
    assert household.by_account() == {"三菱UFJ銀行 夫": 289890, "三菱UFJ銀行 妻": 189890}


def test_without_evidence_both_count_and_the_answers_say_so_until_it_is_said(household):
    household.put("meisai1.csv", MUFG, *HIS)
    household.put("meisai2.csv", MUFG, *HERS)
    question = household.import_("new").details.ledger.questions[0]
    assert (question.path, question.other, question.shared) == ("meisai2.csv", "meisai1.csv", 2)
    assert sum(household.by_account().values()) == 289890 + 189890
    assert any("同じ三菱UFJ銀行の口座か未確認" in note for note in household.month().notes)
    assert household.import_("update").details.ledger.questions == (question,)
    ids = {(row.source_file, row.description): row.id for row in household.counted()}
    map_statement(
        household.database, household.folder / "meisai2.csv", None, account="妻", save=True
    )
    assert household.import_("update").details.ledger.questions == ()
    assert household.by_account() == {"三菱UFJ銀行": 289890, "妻": 189890}
    assert {(row.source_file, row.description): row.id for row in household.counted()} == ids
    assert not any("未確認" in note for note in household.month().notes)


def test_two_files_that_are_said_to_be_one_account_are_merged(household):
    household.put("meisai1.csv", MUFG, *HIS)
    household.put("meisai2.csv", MUFG, *HERS)
    household.import_("new")
    for name in ("meisai1.csv", "meisai2.csv"):
        map_statement(household.database, household.folder / name, None, account="共有", save=True)
    household.import_("update")
    assert household.by_account() == {"共有": 289890 + 200000}


def test_files_of_one_account_are_still_merged_whatever_their_names(household):
    household.put("1111111.csv", MUFG, *HIS)
    household.put("7654321.csv", MUFG, *HIS, "2025/7/29,電気,,90,,389800,")
    household.put("old/x.csv", MUFG, *HIS[:2])
    household.import_("new")
    assert household.by_account() == {"三菱UFJ銀行": 289800}


def test_a_card_file_that_was_downloaded_again_with_late_rows_is_the_same_card(household):
    card = "利用日,利用店名・商品名,利用者,支払方法,利用金額,支払手数料,支払総額"
    old = [
        f"2025/7/{day:02},架空店{day},本人,1回払い,{day * 10},0,{day * 10}" for day in range(1, 9)
    ]
    household.put("enavi202508(1).csv", card, *old)
    household.put(
        "enavi202508(2).csv", card, *old[:3], "2025/7/3,後から,本人,1回払い,5,0,5", *old[3:]
    )
    assert household.import_("new").details.ledger.questions == ()
    assert sum(household.by_account().values()) == -365


def account_of(chance, opening):
    """The rows of an account over four months, with few texts and amounts: many are alike."""
    day, balance, rows = date(2025, 3, 1), opening, []
    while day < date(2025, 7, 1):
        text, amount = chance.choice([("カード", -10000), ("手数料", -110), ("給料", 200000)])
        balance += amount
        rows.append((day, text, amount, balance))
        day += timedelta(days=chance.choice([0, 1, 1, 2]))
    return rows


def lines_of(rows):
    for day, text, amount, balance in rows:
        out, paid_in = (-amount, "") if amount < 0 else ("", amount)
        yield f"{day:%Y/%m/%d},{text},,{out},{paid_in},{balance},"


PLACES = {
    "number in the name": "{number}_{part}.csv",
    "folder": "{who}/{part}.csv",
    "nothing": "{part}-{who}.csv",
    "number above the rows": "{part}-{who}.csv",
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("place", PLACES)
def test_every_row_of_two_people_counts_once_in_overlapping_files(household, place, seed):
    chance = random.Random(seed)
    right = 0
    files = {}
    for who, number in (("a", "1111111"), ("b", "2222222")):
        rows = account_of(chance, chance.randrange(10**6, 10**7))
        right += sum(amount for _, _, amount, _ in rows)
        for part in range(4):
            first = date(2025, 3 + part, 1)
            last = first + timedelta(days=chance.randrange(31, 45))
            within = [row for row in rows if first <= row[0] <= last]
            above = [f"口座番号 {number}"] if place == "number above the rows" else []
            name = PLACES[place].format(number=number, part=part, who=who)
            files[name] = [*above, MUFG, *lines_of(within)]
    half = chance.sample(sorted(files), 4)
    for name in half:
        household.put(name, *files[name])
    household.import_("new")
    for name in files:
        household.put(name, *files[name])
    household.import_("update")
    assert sum(row.amount for row in household.counted()) == right
    assert household.import_("update").added == 0
    household.import_("replace")
    assert sum(row.amount for row in household.counted()) == right
