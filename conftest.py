"""Fixtures that every test may use."""

from pathlib import Path

import pytest
from collection import Collection
from hypothesis import HealthCheck, settings

# A busy machine must not fail a test that is right.
settings.register_profile("mdvec", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mdvec")


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    """A registered tool over an empty folder."""
    return Collection(tmp_path / "notes", tmp_path / "data" / "vectors.sqlite")
