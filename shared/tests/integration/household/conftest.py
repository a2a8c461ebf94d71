"""An empty ledger in a file, and folders of statements in memory and on disk."""

import pytest
from household_folder import HouseholdFolder
from ledger_folder import LedgerFolder

from mdvec.database.connection import open_database


@pytest.fixture
def connection(tmp_path):
    with open_database(tmp_path / "ledger.sqlite", "create") as connection:
        yield connection


@pytest.fixture
def folder():
    return LedgerFolder()


@pytest.fixture
def household(tmp_path):
    return HouseholdFolder(tmp_path / "csv", tmp_path / "vectors.sqlite")
