"""Times with a zone are shown, cut into days and counted in the time zone that is set."""

import pytest
from query_subject import Subject
from table_of_cases import each

from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.questions import Prepared

HOURS = "SELECT TIMESTAMPTZ '2025-06-01 00:00:00+09' + to_hours(range::INT) AS t FROM range(48)"


@pytest.fixture(scope="module")
def analytics(tmp_path_factory):
    limits = QueryLimits(5.0, 1024, 10**6, "Asia/Tokyo")
    subject = Subject(tmp_path_factory.mktemp("zone"), limits=limits)
    yield subject.analytics()
    subject.process.close()


def test_a_query_shows_and_cuts_local_time(analytics):
    query = f"SELECT min(t), CAST(min(t) AS DATE), today() = now()::DATE FROM ({HOURS})"
    assert analytics.questions.answer(Prepared(query))["rows"] == [
        ["2025-06-01T00:00:00+09", "2025-06-01", True]
    ]


@each(
    ("period", "rows"),
    [
        (("2025-06-01", "2025-06-01"), 24),
        (("2025-06-02T12:00", "2025-06-02T13:00"), 2),
        (("2025-05-31T15:00Z", "2025-05-31T16:00+00:00"), 2),
    ],
)
def test_a_range_of_dates_is_one_of_local_days(analytics, period, rows):
    found = analytics.summaries.profile(HOURS, period, None, None, exact=False)
    assert found["row_count"] == rows


def test_bins_begin_at_local_midnight(analytics):
    bins = analytics.summaries.histogram(HOURS, "t", 2, None, None)["bins"]
    assert [(one["min"], one["count"]) for one in bins] == [
        ("2025-06-01T00:00", 24),
        ("2025-06-02T00:00", 24),
    ]
