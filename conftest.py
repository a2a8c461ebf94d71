"""Fixtures that every test may use."""

from pathlib import Path

import pytest
from collection import Collection


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    """A registered tool over an empty folder."""
    return Collection(tmp_path / "notes", tmp_path / "data" / "vectors.sqlite")
