"""An empty ledger in a file, and a folder of statements in memory."""

import pytest
from ledger_folder import LedgerFolder

from mdvec.database.connection import open_database


@pytest.fixture
def connection(tmp_path):
    with open_database(tmp_path / "ledger.sqlite", "create") as connection:
        yield connection


@pytest.fixture
def folder():
    return LedgerFolder()
