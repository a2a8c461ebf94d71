"""Money Forward's files and an account's own files of the same purchases."""

from datetime import date

import pytest
from ledger_folder import JULY, LedgerFolder, line

from mdvec.household import deciding
from mdvec.household import review as duplicate_review
from mdvec.household.core.mapping import mapping_of
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.core.statement_kinds import Mappings
from mdvec.household.deciding import ReviewDecision
from mdvec.household.interfaces.duplicate_checks import open_pairs
from mdvec.household.interfaces.plans import all_notes
from mdvec.household.notes import note_row

CARD = "利用日,利用先,金額"
EARLY, LATE = date(2025, 8, 2), date(2025, 8, 20)
SHARED = [(day, f"店{day}", 100 * day) for day in range(1, 9)]
"""Purchases (day of July, shop, yen) that both list."""


def mapping(**keys):
    """The mapping of the card's own files."""
    columns = {"date": "利用日", "description": "利用先", "amount": "金額"}
    kind = {"name": "架空", "header": CARD.split(","), "positive": "spending", "account": "財布"}
    return mapping_of({**kind, **columns, **keys})


@pytest.fixture
def folder():
    return LedgerFolder(mappings=Mappings((mapping(),), ()))


def put_card(folder, *purchases, path="card.csv", saved=EARLY):
    lines = [f"2025/07/{day:02},{shop},{yen}" for day, shop, yen in purchases]
    folder.put(path, "\r\n".join([CARD, *lines, ""]), saved=saved)


def put_app(folder, *purchases, path=f"{JULY}.csv", saved=LATE, account="財布"):
    lines = [line(f"{day}{shop}", -yen, f"2025/07/{day:02}", shop.partition("#")[0], account)
             for day, shop, yen in purchases]  # fmt: skip
    folder.write(path, *lines, saved=saved)


def total(folder):
    return -sum(row.amount for row in folder.rows() if row.counts)


@pytest.mark.parametrize("saved", [date(2025, 7, 31), EARLY, LATE])
def test_a_purchase_that_money_forward_never_had_counts(folder, saved):
    hospital = (4, "病院", 54_000)
    put_app(folder, *SHARED)
    put_card(folder, *SHARED, hospital, saved=saved)
    for mode in ("update", "replace"):
        report = folder.import_(mode)
        assert (report.removed, report.asked) == ((), ())
        assert total(folder) == 3600 + 54_000


def test_a_family_cards_file_beside_the_cards_own_makes_no_purchase_count_twice(folder):
    family = [(day, f"家族{day}", 70 * day + 1) for day in range(1, 9)]
    put_app(folder, *SHARED)
    put_card(folder, *((day, f"ミセ{day}", yen) for day, _, yen in SHARED))
    put_card(folder, *family, path="family.csv")
    for mode in ("update", "replace"):
        folder.import_(mode)
        assert total(folder) == 3600 + sum(yen for *_, yen in family)


@pytest.mark.parametrize("saved", [date(2025, 7, 31), EARLY, LATE, date(2025, 8, 30)])
def test_a_row_deleted_in_money_forward_leaves_the_sums_whenever_the_card_was_saved(folder, saved):
    put_app(folder, *SHARED, saved=date(2025, 8, 1))
    put_card(folder, *SHARED, saved=saved)
    folder.import_()
    put_app(folder, *SHARED[1:], path=f"{JULY} (1).csv", saved=date(2025, 8, 10))
    assert [row.path for row in folder.import_().removed] == [f"{JULY}.csv"]
    for mode in ("update", "replace", "replace"):
        folder.import_(mode)
        assert total(folder) == 3500
    folder.import_(keep=(next(row.id for row in folder.rows() if row.description == "店1"),))
    for mode in ("update", "replace", "replace"):
        folder.import_(mode)
        assert total(folder) == 3600


def test_a_later_file_of_one_mapping_still_shows_rows_gone(folder):
    name = "明細_2025-07-01_2025-07-31"
    put_card(folder, *SHARED, path=f"{name}.csv")
    folder.import_()
    put_card(folder, *SHARED[1:], path=f"{name} (1).csv", saved=LATE)
    assert len(folder.import_().removed) == 1


@pytest.mark.parametrize("saved", [date(2025, 7, 31), LATE, date(2025, 8, 30)])
@pytest.mark.parametrize(
    ("keys", "app", "counts"),
    [
        ({"transfers": {"利用先": ["店"]}}, ("1", "0"), False),
        ({"not_counted": {"利用先": ["店"]}}, ("1", "0"), False),
        ({"counted": {"利用先": ["店"]}}, ("1", "1"), False),
        ({"counted": {"利用先": ["店"]}}, ("0", "0"), False),
        ({"transfers": {"利用先": ["他"]}}, ("1", "0"), True),
    ],
)
def test_a_mark_of_a_mapping_or_of_money_forward_holds_whichever_is_newer(saved, keys, app, counts):
    folder = LedgerFolder(mappings=Mappings((mapping(**keys),), ()))
    is_target, is_transfer = app
    row = f"{is_target},2025/07/01,店,-100,財布,食費,食料品,,{is_transfer},a"
    folder.write(f"{JULY}.csv", row, saved=LATE)
    put_card(folder, (1, "店", 100), saved=saved)
    for mode in ("update", "replace", "update"):
        folder.import_(mode)
        assert [row.counts for row in folder.rows()] == [counts]
    folder.write(f"{JULY}.csv", row.replace("食料品", "外食"), saved=date(2025, 9, 1))
    folder.import_()
    assert [(row.counts, row.category_minor) for row in folder.rows()] == [(counts, "外食")]


def test_a_mark_taken_back_in_money_forward_is_gone():
    folder = LedgerFolder(mappings=Mappings((mapping(),), ()))
    put_card(folder, (1, "店", 100))
    for number, mark in enumerate("101"):
        row = f"1,2025/07/01,店,-100,財布,食費,食料品,,{mark},a"
        folder.write(f"{JULY} ({number}).csv", row, saved=date(2025, 8, 10 + number))
        folder.import_()
        assert [row.is_transfer for row in folder.rows()] == [mark == "1"]


OWN = [(day, f"ﾐｾ-{day}", 100 * day) for day in range(1, 9)]
"""What the card calls the purchases of ``SHARED``, of which Money Forward has other spellings."""
NEW = [(9, "花屋", 700), (9, "本屋", 700), (10, "駅", 300)]


@pytest.mark.parametrize("saved", [date(2025, 7, 31), LATE, date(2025, 8, 30)])
@pytest.mark.parametrize(
    ("card", "app", "wanted"),
    [
        (OWN, SHARED, 3600),
        ([*OWN, *NEW], [*SHARED, (9, "ハナ", 700)], 3600 + 1700),  # as many as both have
        ([*OWN, (9, "花屋", 700)], [*SHARED, (9, "ハナ", 700), (9, "ホン", 700)], 5000),
        ([*OWN, (9, "花屋", 700)], [*SHARED, (10, "ハナ", 700)], 5000),  # of two days
        ([*OWN, *NEW[:2]], [*SHARED, (9, "ハナ", 700), (9, "駅", 300)], 3600 + 2400),  # each lacks
        ([*OWN, (9, "返品", -700)], [*SHARED, (9, "ヘンピン", -700)], 2900),
        ([*SHARED, *NEW[:1]], [*SHARED, (9, "ハナ", 700), (1, "ア", 7)], 4307),
        (OWN[:4], SHARED[:4], 2000),  # too few to prove anything
        ([*OWN[:5], *NEW], [*SHARED[:5], (1, "ア", 7), (2, "イ", 8)], 1500 * 2 + 1700 + 15),
        ([*OWN, (1, "花屋", 7)], [*SHARED, *SHARED[5:]], 3607),
        ([*SHARED, (1, "店2", 50)], [*SHARED, (1, "店3", 50)], 3700),  # both lists use both names
        ([*OWN[:6], *SHARED[6:], (1, "店7", 50)], [*SHARED, (1, "ミセ", 50)], 3700),  # or one
    ],
)
def test_two_lists_of_one_account_count_each_purchase_once(folder, saved, card, app, wanted):
    put_app(folder, *app)
    put_card(folder, *card, saved=saved)
    for mode in ("update", "replace", "update"):
        folder.import_(mode)
        assert total(folder) == wanted


@pytest.mark.parametrize("saved", [date(2025, 7, 31), LATE, date(2025, 8, 30)])
def test_a_purchase_split_in_money_forward_is_the_one_row_of_the_card(folder, saved):
    parts = [line("s", -yen, "2025/07/09", "マルミ") for yen in (300, 400)]
    lines = [line(f"{day}", -yen, f"2025/07/{day:02}", shop) for day, shop, yen in SHARED]
    folder.write(f"{JULY}.csv", *lines, *parts, saved=LATE)
    put_card(folder, *OWN, (9, "ﾏﾙﾐ", 700), (9, "駅", 20), saved=saved)
    for mode in ("update", "replace", "update"):
        folder.import_(mode)
        assert total(folder) == 3600 + 700 + 20
        assert sorted(row.amount for row in folder.rows())[:3] == [-800, -700, -600]
    del folder.files[f"{JULY}.csv"]
    folder.import_()
    assert total(folder) == 4320
    folder.import_("replace")
    assert total(folder) == 4320


@pytest.mark.parametrize("first", ["card", "app", "few"])
def test_rows_that_are_in_the_ledger_become_one_and_keep_what_was_said_of_them(folder, first):
    if first != "card":
        put_app(folder, *SHARED[: 4 if first == "few" else None])
    if first != "app":
        put_card(folder, *OWN[: 4 if first == "few" else None])
    folder.import_()
    noted = folder.rows()[-1]
    note_row(folder.ledger, transaction_id=noted.id, note="昼")
    put_app(folder, *SHARED)
    put_card(folder, *OWN)
    folder.import_()
    assert (total(folder), len(folder.rows())) == (3600, 8)
    (kept,) = all_notes(folder.ledger).values()
    assert kept.note == "昼"


@pytest.mark.parametrize("decision", ["not_duplicate", "duplicate"])
def test_what_the_user_decided_about_two_rows_stays(folder, decision):
    put_app(folder, *SHARED[:4])
    put_card(folder, *OWN[:4])
    folder.import_()
    duplicate_review.detect(folder.ledger, DetectionOptions())
    pair = next(
        pair
        for pair in open_pairs(folder.ledger)
        if {row.amount for row in folder.rows() if row.id in pair.rows} == {-400}
    )
    deciding.confirm(folder.ledger, pair.id, ReviewDecision(decision))
    put_app(folder, *SHARED)
    put_card(folder, *OWN)
    for mode in ("update", "replace"):
        folder.import_(mode)
        assert total(folder) == 3600 + 400 * (decision == "not_duplicate")


def test_the_card_of_another_person_is_not_that_of_money_forward(folder):
    put_app(folder, *SHARED, (4, "薬局", 950), path=f"夫/{JULY}.csv")
    put_card(folder, *OWN, path="夫/card.csv")
    hers = [(day, f"彼女の店{day}", 50 + 100 * day) for day in range(1, 12)]
    put_card(folder, *hers, (4, "花屋", 950), path="妻/card.csv")
    folder.import_()
    assert total(folder) == 3600 + 950 * 2 + sum(yen for *_, yen in hers)


def test_the_report_says_what_both_lists_have_and_which_row_one_lacks(folder):
    put_app(folder, *SHARED)
    put_card(folder, *OWN[:-1], SHARED[-1], (4, "病院", 54_000))
    (both,) = folder.import_().listed_twice
    assert (both.account, both.own, both.listed, both.rows) == (
        "財布", "card.csv", f"{JULY}.csv", 8,
    )  # fmt: skip
    assert [(row.date, row.amount, row.path) for row in both.only] == [
        ("2025-07-04", -54_000, "card.csv")
    ]
