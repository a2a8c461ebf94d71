"""The sample household, and a server over it."""

from pathlib import Path

import pytest
from client_here import asking
from imported import imported

SAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "household"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("household") / "vectors.sqlite"
    imported(path, "kakeibo", SAMPLES, "household")
    return path


@pytest.fixture(scope="module")
def ask(database):
    """Asks one server over it."""
    with asking(database) as ask:
        yield ask
