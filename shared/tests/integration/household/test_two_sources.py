"""Money Forward's files and an account's own files of the same purchases."""

from datetime import date

import pytest
from ledger_folder import JULY, LedgerFolder, line

from mdvec.household.core.mapping import mapping_of
from mdvec.household.core.statement_kinds import Mappings

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


def spent(folder):
    return -sum(folder.amounts().values())


@pytest.mark.parametrize("saved", [date(2025, 7, 31), EARLY, LATE])
def test_a_purchase_that_money_forward_never_had_counts(folder, saved):
    hospital = (4, "病院", 54_000)
    put_app(folder, *SHARED)
    put_card(folder, *SHARED, hospital, saved=saved)
    for mode in ("update", "replace"):
        report = folder.import_(mode)
        assert (report.removed, report.asked) == ((), ())
        assert spent(folder) == 3600 + 54_000


@pytest.mark.parametrize("saved", [date(2025, 7, 31), EARLY, LATE, date(2025, 8, 30)])
def test_a_row_deleted_in_money_forward_leaves_the_sums_whenever_the_card_was_saved(folder, saved):
    put_app(folder, *SHARED, saved=date(2025, 8, 1))
    put_card(folder, *SHARED, saved=saved)
    folder.import_()
    put_app(folder, *SHARED[1:], path=f"{JULY} (1).csv", saved=date(2025, 8, 10))
    assert [row.path for row in folder.import_().removed] == [f"{JULY}.csv"]
    for mode in ("update", "replace", "replace"):
        folder.import_(mode)
        assert spent(folder) == 3500
    folder.import_(keep=(next(row.id for row in folder.rows() if row.description == "店1"),))
    for mode in ("update", "replace", "replace"):
        folder.import_(mode)
        assert spent(folder) == 3600


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
