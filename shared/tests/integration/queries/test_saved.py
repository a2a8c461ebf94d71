"""Saved questions in the database: saved, replaced, deleted, and their names."""

import pytest
from table_of_cases import each

from mdvec import queries
from mdvec.database.connection import open_database
from mdvec.queries import Parameter, SavedQuery, SavedQueryError

SALES = SavedQuery("月次", "SELECT $since", "売上", (Parameter("since", "date"),))


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "vectors.sqlite"
    with open_database(path, "create"):
        return path


def test_a_question_is_replaced_and_deleted_only_on_purpose(database):
    queries.save(database, SALES, replace=False)
    assert queries.find_saved(database, " 月次 ") == SALES
    other = SavedQuery("月次", "SELECT 2", "")
    with pytest.raises(SavedQueryError, match="mode=replace"):
        queries.save(database, other, replace=False)
    assert queries.saved_queries(database) == [SALES]
    queries.save(database, other, replace=True)
    assert queries.saved_queries(database) == [other]
    assert queries.delete(database, "月次") == "月次"
    with pytest.raises(SavedQueryError, match="no saved question '月次'; there are: trend"):
        queries.find_saved(database, "月次", ["trend"])


@each("name", ["", "a b", "_x", "a'b", "x" * 61, "trend", "ｔｒｅｎｄ", "a/b"])
def test_names_that_no_question_can_have(name):
    with pytest.raises(SavedQueryError):
        queries.checked_name(name, {"trend"})
    assert queries.checked_name("売上_2025", {"trend"}) == "売上_2025"
