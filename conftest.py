"""Fixtures that every test may use."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from collection import Collection
from hypothesis import HealthCheck, settings
from warm_start import WarmStart

# A busy machine must not fail a test that is right.
settings.register_profile("mdvec", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mdvec")


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    """A registered tool over an empty folder."""
    return Collection(tmp_path / "notes", tmp_path / "data" / "vectors.sqlite")


@pytest.fixture(scope="session")
def importing() -> Iterator[Callable[..., object]]:
    """Starts an import with the tiny model in a process of its own: its collection, its mode."""
    starts = WarmStart("apsw", "filelock", "markdown_it", "numpy", "pathspec", "pydantic.main")
    child = Path(__file__).parent / "tests" / "importing_child.py"
    code = (
        f"import runpy, sys; sys.path.insert(0, {str(child.parent)!r}); "
        f"runpy.run_path({str(child)!r}, run_name='__main__')"
    )

    def start(collection: Collection, mode: str) -> object:
        arguments = (str(collection.database), collection.name, mode)
        return starts.start(code, arguments, encoding="utf-8")

    yield start
    starts.close()
