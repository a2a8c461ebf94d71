"""The household's rows as the table `transactions`: the same rows, the same sums."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from imported import imported
from ledger_rows import list_transactions

from mdvec.analysis.exports import ExportFolder
from mdvec.database.connection import open_database
from mdvec.household import Ledger
from mdvec.household.month import monthly_household
from mdvec.manage import registering
from mdvec.settings import AnalyticsSettings
from mdvec.sql.core.refusals import QueriesUnavailable, UnknownTable
from mdvec.sql.data import CurrentData
from mdvec.sql.process.messages import Data, QueryLimits
from mdvec.sql.process.query_process import QueryProcess
from mdvec.sql.service import Analytics

SAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "household"
LIMITS = QueryLimits(seconds=10.0, memory_mb=1024, export_bytes=2**24)


@pytest.fixture(scope="module")
def start_process(tmp_path_factory):
    """Makes a process over the households of a database, and ends it."""
    made = []

    def make(database, **more):
        current, spool = CurrentData(database), tmp_path_factory.mktemp("spool")
        made.append(QueryProcess(spool, LIMITS, lambda: replace(current(), **more)))
        return made[-1]

    yield make
    for process in made:
        process.close()


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("household") / "vectors.sqlite"
    imported(path, "kakeibo", SAMPLES, "household")
    with open_database(path, "write") as connection:
        # Of each kind of row that does not count there is one.
        for change in ("is_duplicate = 1", "is_target = 0", "is_transfer = 1", "amount = NULL",
                       "category_major = ''", "is_transfer = 1, is_target = 0"):  # fmt: skip
            connection.execute(
                f"UPDATE transactions SET {change} WHERE id = (SELECT id FROM transactions "
                "WHERE is_target AND NOT is_transfer AND NOT is_duplicate AND amount < 0 "
                "AND category_major <> '' ORDER BY hex(identity) LIMIT 1)"
            )
    return path


@pytest.fixture(scope="module")
def process(sample, start_process):
    return start_process(sample)


@pytest.fixture(scope="module")
def from_the_26th(sample, start_process):
    """The same, of a household whose months start on the 26th."""
    return start_process(sample, month_starts_on=26)


def rows(process, sql, most=100_000):
    return process.rows(sql, max_rows=most, max_bytes=50_000_000).rows


def test_every_row_of_the_ledger_is_in_the_table_unchanged(sample, process):
    with open_database(sample, "read") as connection:
        ledger = list_transactions(connection, 1)
    assert len(ledger) > 100
    found = rows(
        process,
        "SELECT id, date, amount, description, category_major, category_minor, account, memo, "
        "counted, is_duplicate, month, household, file FROM transactions ORDER BY date, id",
    )
    assert found == [
        [
            row.id, row.date.isoformat(), row.amount, row.description, row.category_major,
            row.category_minor, row.account, row.memo, row.counts, row.is_duplicate,
            row.date.isoformat()[:7], "kakeibo", row.source_file,
        ]
        for row in ledger
    ]  # fmt: skip


def test_months_are_those_that_the_household_goes_by(sample, from_the_26th):
    found = rows(
        from_the_26th,
        "SELECT month, -sum(amount) FROM transactions WHERE kind = 'expense' "
        "AND month IN ('2025-06', '2025-07') GROUP BY month ORDER BY month",
    )
    with open_database(sample, "read") as connection:
        months = [
            monthly_household(Ledger(connection, 1, date(2025, 8, 15), 26), year=2025, month=month)
            for month in (6, 7)
        ]
    assert found == [["2025-06", months[0].spending], ["2025-07", months[1].spending]]


def test_a_trend_of_calendar_months_says_so_where_the_household_goes_by_others(
    sample, process, from_the_26th, tmp_path
):
    exports = ExportFolder(tmp_path, 3_600, 10**9)
    asked = {"table": "transactions", "measure": "amount", "date_column": "date"}

    def told(queries, period):
        questions = Analytics(queries, exports, AnalyticsSettings(), database=sample).questions
        answer = questions.answer(questions.prepare_saved("trend", {**asked, "period": period}))
        return sum("group by month" in note for note in answer.get("warnings", ()))

    assert [told(from_the_26th, period) for period in ("month", "year", "day")] == [1, 1, 0]
    assert told(process, "month") == 0


def test_sums_by_kind_are_those_of_the_household_tools(sample, process):
    found = rows(
        process,
        "SELECT month, coalesce(-sum(amount) FILTER (kind = 'expense'), 0), "
        "coalesce(sum(amount) FILTER (kind = 'income'), 0), count(*) FILTER (counted), count(*) "
        "FROM transactions GROUP BY month ORDER BY month",
    )
    with open_database(sample, "read") as connection:
        for month, spending, income, used, total in found:
            year, number = (int(part) for part in month.split("-"))
            answer = monthly_household(
                Ledger(connection, 1, date(2025, 8, 15)), year=year, month=number
            )
            assert (answer.spending, answer.income) == (spending, income)
            assert (answer.counts.used, answer.counts.total) == (used, total)
    assert len(found) > 1


def test_a_ready_made_question_says_which_rows_it_counts_that_the_household_does_not(
    process, sample, tmp_path
):
    exports = ExportFolder(tmp_path, 3_600, 10**9)
    questions = Analytics(process, exports, AnalyticsSettings(), database=sample).questions
    trend = {"measure": "amount", "date_column": "date", "period": "year"}
    everything = questions.prepare_saved("trend", {**trend, "table": "transactions"})
    counts = dict(
        rows(process, "SELECT kind, count(*) FROM transactions WHERE NOT counted GROUP BY 1")
    )
    (note,) = [each for each in everything.notes if "the household's sums leave out" in each]
    assert f"{counts['excluded']} excluded, {counts['transfer']} transfer; without them" in note
    table = note.partition("table=")[2]
    counted = questions.answer(questions.prepare_saved("trend", {**trend, "table": table}))
    assert not [each for each in counted.get("warnings", ()) if "leave out" in each]
    assert [row[2] for row in counted["rows"]] == [
        total for (total,) in rows(
            process, "SELECT sum(amount) FROM transactions WHERE counted GROUP BY year(date) "
            "ORDER BY year(date)"
        )
    ]  # fmt: skip


def test_a_row_that_does_not_count_is_of_kind_transfer_or_excluded(process):
    found = rows(
        process, "SELECT counted, kind, count(*) > 0 FROM transactions GROUP BY ALL ORDER BY ALL"
    )
    assert found == [
        [False, "excluded", True],
        [False, "transfer", True],
        [True, "expense", True],
        [True, "income", True],
    ]


def test_dates_and_amounts_are_dates_and_numbers(process):
    types = {column.name: column.type for column in process.tables()["transactions"]}
    assert types["date"] == "DATE"
    assert types["amount"] == "BIGINT"
    assert types["counted"] == "BOOLEAN"
    assert set(types.values()) == {"VARCHAR", "BIGINT", "DATE", "BOOLEAN"}
    assert rows(process, "SELECT max(date) - min(date) > 30 FROM transactions") == [[True]]


def insert(database, tool, number, description, amount=-100):
    with open_database(database, "write") as connection:
        connection.execute(
            "INSERT INTO transactions (tool_id, identity, mf_id, source_file, row_number, date, "
            "amount, description, category_major, category_minor, account, memo, is_target, "
            "is_transfer) VALUES (?, ?, '', 'a.csv', ?, '2025-06-01', ?, ?, '食費', '', '', '', "
            "1, 0)",
            (tool, str(number), number, amount, description),
        )


def test_any_text_is_unchanged(start_process, tmp_path):
    database = tmp_path / "vectors.sqlite"
    tool = registering.add_tool(database, "odd", "家計簿", SAMPLES, "household")
    texts = ['a "quoted", text', "line\nbreak\r\n\ttab", "\\n \\",
             "🏠👨‍👩‍👧", "", "{'a': 1}", "é\u0301",
             "x" * 3000, "null", "\u2028", "a\x00b"]  # fmt: skip
    for number, text in enumerate(texts):
        insert(database, tool.id, number, text)
    found = rows(
        start_process(database), "SELECT left(description, 20) FROM transactions ORDER BY id"
    )
    assert [text for (text,) in found] == [text[:20] for text in texts]


def test_households_share_a_table_and_changes_of_each_are_seen_at_once(start_process, tmp_path):
    database = tmp_path / "vectors.sqlite"
    ours = registering.add_tool(database, "ours", "家計簿", SAMPLES, "household")
    theirs = registering.add_tool(database, "theirs", "家計簿", SAMPLES, "household")
    process = start_process(database)
    sums = "SELECT household, sum(amount) FROM transactions GROUP BY 1 ORDER BY 1"
    assert rows(process, sums) == []
    insert(database, ours.id, 1, "x", -100)
    insert(database, theirs.id, 1, "x", -7)
    assert rows(process, sums) == [["ours", -100], ["theirs", -7]]
    process.materialize("kept", "SELECT sum(amount) AS total FROM transactions")
    insert(database, theirs.id, 2, "y", -1)
    assert rows(process, sums) == [["ours", -100], ["theirs", -8]]
    assert rows(process, "kept") == [[-107]]  # as it was when it was made


def test_without_a_household_there_is_no_such_table(tmp_path):
    process = QueryProcess(tmp_path, LIMITS, lambda: Data((), tmp_path / "none.sqlite", ()))
    with pytest.raises(UnknownTable, match="there are no tables yet"):
        process.rows("transactions", max_rows=1)
    process.close()


def test_an_unreadable_database_is_reported_without_its_path(tmp_path):
    (tmp_path / "vectors.sqlite").write_bytes(b"no database" * 100)
    data = Data((), tmp_path / "vectors.sqlite", ((1, "kakeibo", 1),))
    process = QueryProcess(tmp_path / "spool", LIMITS, lambda: data)
    with pytest.raises(QueriesUnavailable, match="mdvec status") as error:
        process.rows("SELECT 1", max_rows=1)
    assert str(tmp_path) not in str(error.value)
    process.close()


def test_a_shop_is_found_and_grouped_in_any_spelling(start_process, tmp_path):
    written = {
        "amazon": ["ＡＭＡＺＯＮ", "Amazon"],
        "amazon.co.jp": ["AMAZON.CO.JP"],
        "コンビニ": ["コンビニ－24", "コンビニ−24", "コンビニ-24"],
    }
    folder = tmp_path / "csv"
    folder.mkdir()
    lines = ["計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID"]
    for number, name in enumerate(name for names in written.values() for name in names):
        lines.append(f"1,2025/07/01,{name},-100,カード,食費,食料品,,0,id{number}")
    (folder / "7.csv").write_text("\n".join(lines), encoding="utf-8")
    database = tmp_path / "vectors.sqlite"
    imported(database, "kakeibo", folder, "household")
    process = start_process(database)
    assert rows(process, "SELECT count(*) FROM transactions WHERE shop ILIKE '%amazon%'") == [[3]]
    found = rows(process, "SELECT shop, list(description ORDER BY id) FROM transactions GROUP BY 1")
    assert dict(found) == written
