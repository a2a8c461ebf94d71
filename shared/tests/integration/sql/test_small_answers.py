"""What a query answers: a few rows, their exact number, a handle of all; more for people."""

import duckdb
import pytest
from query_subject import Subject, parquet
from table_of_cases import each

from mdvec.analysis.exports import ExportFolder
from mdvec.settings import AnalyticsSettings
from mdvec.sql.core.guard import AnswerGuard, size
from mdvec.sql.exporting import Exporter
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.questions import Prepared, Questions
from mdvec.sql.service import for_people
from mdvec.text.one_line import literal

MOST = 4_000


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    """A process over a long table and a wide one, in Japan's time zone."""
    folder = tmp_path_factory.mktemp("data")
    query = "SELECT i, 'r' || i AS name, md5(i::VARCHAR) AS noise FROM range(5000) AS t(i)"
    columns = ", ".join(f"i + {n} AS column_{n}" for n in range(60))
    subject = Subject(
        folder,
        parquet(folder / "runs.parquet", query),
        parquet(folder / "wide.parquet", f"SELECT {columns} FROM range(3000) AS t(i)", "wide"),
        limits=QueryLimits(5.0, 1024, 150_000, "Asia/Tokyo"),
    )
    yield subject
    subject.process.close()


@pytest.fixture(scope="module")
def answers(subject):
    guard = AnswerGuard(MOST, 20)
    exports = ExportFolder(subject.folder / "small", 3_600, 10**9)
    exporter = Exporter(subject.process, exports, guard, 4_000)
    return Questions(subject.process, exporter, guard, subject.folder / "none.sqlite")


@pytest.fixture(scope="module")
def for_a_person(subject):
    return subject.analytics(for_people(AnalyticsSettings()))


def answered(answers, query):
    return answers.answer(Prepared(query))


def test_a_small_result_is_answered_whole_and_writes_no_file(answers):
    found = answered(answers, "SELECT i, name FROM runs WHERE i < 3 ORDER BY i")
    assert found == {
        "columns": ["i", "name"],
        "rows": [[0, "r0"], [1, "r1"], [2, "r2"]],
        "total_rows": 3,
    }
    assert answered(answers, "SELECT i FROM runs WHERE i < 20")["total_rows"] == 20
    assert answers.exporter.exports.list() == []


def test_of_more_rows_the_first_20_are_answered_with_their_number_and_a_handle(answers):
    found = answered(answers, "SELECT i FROM runs WHERE i % 2 = 0 ORDER BY i DESC")
    assert found["rows"] == [[i] for i in range(4998, 4958, -2)]
    assert found["total_rows"] == 2500
    path = answers.exporter.exports.path_of(found["handle"])
    rows = duckdb.execute(f"SELECT i FROM {literal(str(path))}").fetchall()
    assert rows == [(i,) for i in range(4998, -1, -2)]
    assert "warnings" not in found
    found = answered(answers, "SELECT i FROM runs WHERE i <= 20 ORDER BY i")
    assert (len(found["rows"]), found["total_rows"], bool(found["handle"])) == (20, 21, True)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT repeat('家', 400) AS text, i FROM runs LIMIT 15",
        "SELECT repeat('あ', 480), repeat('い', 480), repeat('う', 480) FROM runs LIMIT 3",
        f"SELECT {', '.join(f'i AS a_column_of_number_{n}' for n in range(300))} FROM runs LIMIT 2",
        'SELECT i AS "' + "家" * 300 + '" FROM runs LIMIT 30',
        "SELECT name FROM runs WHERE name <> NULL OR i < 300",
    ],
    ids=range(5),
)  # fmt: skip
def test_an_answer_stays_within_4_000_bytes_and_tells_of_every_row(answers, query):
    found = answered(answers, query)
    assert size(found) <= MOST
    rest = len(found["rows"]) < found["total_rows"]
    assert rest == ("handle" in found)
    assert not rest or found["more"].startswith(
        f"the first {len(found['rows'])} of {found['total_rows']:,} rows; "
        if found["rows"]
        else "the first row does not fit"
    )


def test_too_many_rows_for_a_file_are_still_counted_exactly(answers):
    found = answered(answers, "SELECT i FROM runs ORDER BY i")
    assert (found["total_rows"], len(found["rows"])) == (5000, 20)
    assert "handle" not in found
    assert found["warnings"] == [
        "5,000 rows are too many for a file (4,000); aggregate or filter in SQL"
    ]


def test_a_file_beyond_its_limit_leaves_the_rows_and_their_number(answers):
    found = answered(answers, "SELECT noise, md5(noise) AS a, md5(name) AS b FROM runs LIMIT 3999")
    assert found["total_rows"] == 3999
    assert found["rows"]
    assert "handle" not in found
    assert "larger than" in found["warnings"][0]


def test_a_person_gets_as_many_rows_as_asked_for_and_a_file_of_all(for_a_person):
    query = Prepared("SELECT column_0 FROM wide")
    assert for_a_person.questions.first_rows(query, 500) == {
        "columns": ["column_0"], "types": ["BIGINT"], "rows": [[i] for i in range(500)],
        "total_rows": 3_000,
    }  # fmt: skip
    file = for_a_person.questions.file(query, "csv", None)
    assert (file.rows, len(file.path.read_text("utf-8").splitlines())) == (3_000, 3_001)
    file.path.unlink()


def test_an_answer_says_once_how_many_of_its_columns_are_left_out(answers):
    found = answered(answers, f"SELECT {', '.join(f'{n} AS col_{n:030}' for n in range(251))}")
    assert 50 < len(found["columns"]) < 251
    assert found["warnings"] == [f"{251 - len(found['columns'])} columns left out"]


def test_every_column_of_a_wide_table_is_profiled_for_a_person(for_a_person):
    profile = for_a_person.summaries.profile("wide", None, None, None, exact=False)
    assert (len(profile["columns"]), profile["columns"]["column_59"]["max"]) == (60, 3_058)
    bins = for_a_person.summaries.histogram("wide", "column_1", 3, None, None)["bins"]
    assert [bin_["count"] for bin_ in bins] == [1000, 1000, 1000]


HOURS = "SELECT TIMESTAMPTZ '2025-06-01 00:00:00+09' + to_hours(range::INT) AS t FROM range(48)"


def test_times_with_a_zone_are_shown_and_cut_in_the_time_zone_that_is_set(answers, for_a_person):
    query = f"SELECT min(t), CAST(min(t) AS DATE), today() = now()::DATE FROM ({HOURS})"
    assert answered(answers, query)["rows"] == [["2025-06-01T00:00:00+09", "2025-06-01", True]]
    bins = for_a_person.summaries.histogram(HOURS, "t", 2, None, None)["bins"]
    assert [(one["min"], one["count"]) for one in bins] == [
        ("2025-06-01T00:00", 24), ("2025-06-02T00:00", 24),
    ]  # fmt: skip


@each(
    ("period", "rows"),
    [
        (("2025-06-01", "2025-06-01"), 24),
        (("2025-06-02T12:00", "2025-06-02T13:00"), 2),
        (("2025-05-31T15:00Z", "2025-05-31T16:00+00:00"), 2),
    ],
)
def test_a_range_of_dates_is_one_of_local_days(for_a_person, period, rows):
    found = for_a_person.summaries.profile(HOURS, period, None, None, exact=False)
    assert found["row_count"] == rows
