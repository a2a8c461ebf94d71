"""The second sample household: what its generator planted is what the answers find."""

import csv
import importlib.util
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from mdvec.database.connection import open_database
from mdvec.household import Ledger
from mdvec.household.budgeting import budget_status, set_budget
from mdvec.household.comparison import compare_periods
from mdvec.household.habits import find_anomalies, forecast_spending
from mdvec.household.interfaces.ledger_sums import counted_rows
from mdvec.household.ledger_import import import_ledger
from mdvec.household.month import monthly_household
from mdvec.household.reading import LedgerFile
from mdvec.tools.registry import add_tool

FOLDER = Path(__file__).parents[4] / "docs" / "examples" / "household-habits"
END = date(2025, 9, 30)


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("habits_sample", FOLDER / "habits_sample.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    path = tmp_path_factory.mktemp("habits") / "ledger.sqlite"
    with open_database(path, "create") as connection:
        add_tool(connection, "kakeibo", "家計簿", FOLDER, "household")
        files = [
            LedgerFile(file.name, file.stat().st_size, 1_760_000_000 * 10**9, file.read_bytes)
            for file in sorted(FOLDER.glob("*.csv"))
        ]
        report = import_ledger(Ledger.undated(connection, 1), files, "update")
        assert (report.unread, report.failed, report.passed_over) == ((), (), ())
        yield connection


def spent_by_month():
    """Spending by month, read from the files with the csv module alone."""
    months: Counter[str] = Counter()
    for path in FOLDER.glob("収入*.csv"):
        if path.name.endswith("2025-08-31.csv"):  # downloaded again, as "… (1).csv"
            continue
        with path.open(encoding="cp932", newline="") as file:
            for row in csv.DictReader(file):
                if row["大項目"] != "収入":
                    months[row["日付"][:7].replace("/", "-")] -= int(row["金額（円）"])
    return months


def test_the_generator_makes_the_sample_to_the_byte(generator):
    assert generator.sample() == {p.name: p.read_bytes() for p in FOLDER.glob("*.csv")}


def test_every_month_has_the_sum_of_its_file_and_the_deleted_row_is_out(connection, generator):
    expected = spent_by_month()
    assert len(expected) == generator.MONTHS
    for month, yen in expected.items():
        answer = monthly_household(Ledger(connection, 1, END), period=month)
        assert answer.spending == yen, month
    august = monthly_household(Ledger(connection, 1, END), period="2025-08")
    assert august.counts.removed == 1
    assert f"支出 {-generator.DELETED[2]:,}円" in august.text
    compared = compare_periods(
        Ledger(connection, 1, END), period="2025-09", base="2025-08", detail="full"
    )
    assert compared.spending == (expected["2025-08"], expected["2025-09"])
    assert compared.movements[0].added[0].description == generator.UNUSUAL[1]


def test_rows_after_today_are_planned_and_so_in_the_forecast_and_what_a_budget_expects(connection):
    today = date(2025, 8, 10)
    august, *_ = forecast_spending(Ledger(connection, 1, today)).months
    later = counted_rows(Ledger.undated(connection, 1), date(2025, 8, 11), date(2025, 8, 31))
    planned = sum(row.yen for row in later if not row.is_income)
    assert sum(one.amount for one in august.due if one.is_planned) == planned
    assert "予定と定期的な支払い（" in forecast_spending(Ledger(connection, 1, today)).text
    set_budget(Ledger(connection, 1, today), category="支出", amount=1)
    (status,) = budget_status(Ledger(connection, 1, today)).statuses
    assert status.expected == august.amount
    set_budget(Ledger(connection, 1, today), category="支出", amount=0)


def test_the_refrigerator_is_unusual_and_a_budget_that_it_breaks_is_told(connection, generator):
    names = {one.name for one in find_anomalies(Ledger(connection, 1, END)).anomalies}
    assert {"日用品", generator.UNUSUAL[1]} <= names
    set_budget(Ledger(connection, 1, END), category="日用品", amount=20_000)
    (status,) = budget_status(Ledger(connection, 1, END), period="2025-09").statuses
    assert (status.spent, status.warning) == (-generator.UNUSUAL[2], "exceeded")
