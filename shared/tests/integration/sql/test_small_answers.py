"""`query`: a few rows, their exact number, and a handle of all of them."""

import duckdb
import pytest
from query_subject import Subject, parquet

from mdvec.analysis.exports import ExportFolder
from mdvec.sql.core.guard import AnswerGuard, size
from mdvec.sql.core.refusals import QueryRefused
from mdvec.sql.exporting import Exporter
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.questions import Prepared, Questions
from mdvec.text.one_line import literal

MOST = 4_000


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    query = "SELECT i, 'r' || i AS name, md5(i::VARCHAR) AS noise FROM range(5000) AS t(i)"
    limits = QueryLimits(5.0, 1024, 150_000)
    queries = Subject(folder, parquet(folder / "runs.parquet", query), limits=limits).process
    guard = AnswerGuard(MOST, 20)
    exporter = Exporter(queries, ExportFolder(folder / "exports", 3_600, 10**9), guard, 4_000)
    yield Questions(queries, exporter, guard, folder / "none.sqlite")
    queries.close()


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


def test_21_rows_are_20_and_a_handle(answers):
    found = answered(answers, "SELECT i FROM runs WHERE i <= 20 ORDER BY i")
    assert len(found["rows"]) == 20
    assert found["total_rows"] == 21
    assert found["handle"]


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
        else "no row fits"
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


def test_what_is_no_select_is_refused(answers):
    with pytest.raises(QueryRefused):
        answered(answers, "DROP TABLE runs")
