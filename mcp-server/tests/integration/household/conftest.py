"""The sample household, which each file may change for itself, and a server over it."""

import pytest
from client_here import asking
from imported import imported
from sample_server import EXAMPLES


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("household") / "vectors.sqlite"
    imported(path, "kakeibo", EXAMPLES / "household", "household")
    return path


@pytest.fixture(scope="module")
def ask(database):
    with asking(database) as ask:
        yield ask
