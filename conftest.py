"""Fixtures that every test may use."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from collection import Collection
from hypothesis import HealthCheck, settings
from warm_start import WarmStart

# A busy machine must not fail a test that is right, nor a draw one that was green before. New
# examples are drawn by `make soak`.
settings.register_profile(
    "mdvec", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("soak", settings.get_profile("mdvec"), derandomize=False)
settings.load_profile("mdvec")
TIMES_THE_EXAMPLES = 20


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Multiply the examples of every property test, whatever number it asks for itself."""
    if config.getoption("--hypothesis-profile") != "soak":
        return
    used = "_hypothesis_internal_use_settings"  # Hypothesis has no public way to change them
    tests = {getattr(item, "function", None) for item in items}  # a parametrized one only once
    for test in tests:
        if hasattr(test, used):
            asked = getattr(test, used)
            more = TIMES_THE_EXAMPLES * asked.max_examples
            setattr(test, used, settings(asked, max_examples=more))


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
