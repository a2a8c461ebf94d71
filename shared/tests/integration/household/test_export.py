"""The ledger for other programs: Beancount's own reader finds no fault, and the sums are ours."""

from collections import Counter
from datetime import date

from beancount import loader
from beancount.core.data import Transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_ledger import FLAGS, Row, SmallLedger

from mdvec.household import Ledger
from mdvec.household.export import export_ledger

TODAY = date(2025, 8, 31)
ROWS = (
    Row("2025-07-01", -3_200, "食費/食料品"),
    Row("2025-07-02", 1_200, "食費/食料品"),
    Row("2025-07-03", -80_000, "住宅/家賃・地代"),
    Row("2025-07-04", -80, "住宅/家賃 地代"),
    Row("2025-07-05", -50_000, "現金・カード/振替", "振替"),
    Row("2025-07-06", -9_000, "食費/外食", "計算対象外"),
    Row("2025-07-07", -700, "食費/外食", "重複"),
    Row("2025-07-08", None, "食費/外食"),
    Row("2025-07-09", -90, ""),
    Row("2025-07-25", 300_000, "収入/給与"),
)


def exported(ledger, format_, *days):
    return "".join(export_ledger(Ledger.undated(ledger.connection, ledger.tool_id), format_, *days))


def entries(text):
    """The transactions of a Beancount file that its reader accepts."""
    found, errors, _ = loader.load_string(text)
    assert [error.message for error in errors] == []
    return [entry for entry in found if isinstance(entry, Transaction)]


def sums(ledger, format_="beancount"):
    """What the other program's accounts hold: {account: yen}."""
    totals: Counter[str] = Counter()
    if format_ == "beancount":
        for entry in entries(exported(ledger, "beancount")):
            for posting in entry.postings:
                totals[posting.account] += int(posting.units.number)
        return totals
    for line in exported(ledger, "hledger").splitlines():
        if line.startswith("    "):
            account, _, amount = line.strip().rpartition("  ")
            totals[account] += int(amount.removesuffix(" JPY"))
    return totals


def test_categories_have_our_sums_and_what_does_not_count_is_in_none(connection):
    ledger = SmallLedger(connection, ROWS)
    assert sums(ledger) == {
        "Expenses:X-食費:X-食料品": 2_000,
        "Expenses:X-住宅:X-家賃-地代": 80_000,
        "Expenses:X-住宅:X-家賃-地代-2": 80,
        "Equity:X-振替": 50_000,
        "Equity:X-計算対象外": 9_000,
        "Equity:X-カテゴリなし": 90,
        "Income:X-給与": -300_000,
        "Assets:X-現金": 300_000 - 2_000 - 80_080 - 50_000 - 9_000 - 90,
    }
    assert sums(ledger, "hledger") == {
        "expenses:食費:食料品": 2_000,
        "expenses:住宅:家賃・地代": 80_000,
        "expenses:住宅:家賃 地代": 80,
        "equity:振替": 50_000,
        "equity:計算対象外": 9_000,
        "equity:カテゴリなし": 90,
        "income:給与": -300_000,
        "assets:現金": 300_000 - 2_000 - 80_080 - 50_000 - 9_000 - 90,
    }


def test_csv_has_every_row_and_why_it_does_not_count(connection):
    lines = exported(SmallLedger(connection, ROWS), "csv").splitlines()
    assert len(lines) == 1 + len(ROWS)
    assert lines[0].startswith("id,date,amount,description,")
    assert [line.rsplit(",", 1)[1] for line in lines[1:]] == [
        "", "", "", "", "transfer", "not_target", "duplicate", "no_amount", "no_category", "",
    ]  # fmt: skip


def test_both_days_are_included(connection):
    ledger = SmallLedger(connection, ROWS)
    days = date(2025, 7, 2), date(2025, 7, 3)
    found = [entry.date for entry in entries(exported(ledger, "beancount", *days))]
    assert found == [date(2025, 7, 2), date(2025, 7, 3)]


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    st.lists(
        st.builds(
            lambda day, amount, major, minor, flag, text: (
                Row(f"2025-07-{day:02}", amount, f"{major}/{minor}", flag), text
            ),
            st.integers(1, 31), st.integers(-99_999, 99_999),
            names.filter(lambda name: "/" not in name),
            names.filter(lambda name: "/" not in name) | st.just(""),
            st.sampled_from((None, None, *FLAGS)), names,
        ),
        max_size=8,
    )
)  # fmt: skip
def test_any_names_are_read_and_each_category_keeps_its_own_sum(connection, rows):
    ledger = SmallLedger(connection, [row for row, _ in rows])
    for number, (_, text) in enumerate(rows, 1):
        connection.execute(
            "UPDATE transactions SET description = ?1, account = ?1, memo = ?1 "
            "WHERE tool_id = ?2 AND row_number = ?3",
            (text, ledger.tool_id, number),
        )
    ours: Counter[str] = Counter()
    for row, _ in rows:
        if row.counts and row.major != "収入":
            ours[row.category] -= row.amount
    for format_ in ("beancount", "hledger"):
        theirs = [
            yen
            for name, yen in sums(ledger, format_).items()
            if name.lower().startswith("expenses:")
        ]
        assert sorted(theirs) == sorted(ours.values())
