"""Fixtures that every test may use."""

import atexit
import functools
import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chroma_process import ChromaProcess
from collection import Collection
from filelock import FileLock
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from mdvec.embedding.backends import use as use_model
from mdvec.embedding.backends.use import UseBackend
from mdvec.quick_start import load_quickly, loaded
from sample_server import sample_database

# As both programs do; the processes that tests start inherit a part of it.
load_quickly()
# The extra packages of the tests bring better and slower models, which `auto` would take.
os.environ.setdefault("MDVEC_MODEL_NAME", "use")
# Its vocabulary never changes, and to read it takes a fifth of a second: once for each process.
use_model.UseTokenizer = functools.cache(use_model.UseTokenizer)
# Whose locale is Japanese reads the commands in Japanese.
os.environ["MDVEC_DISPLAY_LANGUAGE"] = "en"

# A busy machine must not fail a test that is right, nor a draw one that was green before. New
# examples are drawn by `make soak`.
settings.register_profile(
    "mdvec",
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
settings.register_profile("soak", settings.get_profile("mdvec"), derandomize=False)
settings.load_profile("mdvec")
TIMES_THE_EXAMPLES_IN_MEMORY = 100
TIMES_THE_EXAMPLES_ON_DISK = 10


@pytest.hookimpl(trylast=True)  # after those that are not asked for were left out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deal the tests out among workers; multiply the examples of a long run's property tests.

    A long test may take an hour, whoever runs it: its work is counted, not its time.
    """
    for item in items:
        if item.get_closest_marker("soak") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(3_600))
    if workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
        items[:] = dealt(items, workers)
    if config.getoption("--hypothesis-profile") == "soak":
        multiply_examples(items)


def dealt(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """A part for each worker, of all kinds of tests in equal shares, the dearest kind first.

    The workers take tests from each other's ends, and a file of which two have tests sets up twice
    what these share: unit tests share nothing.
    """
    kinds = ("e2e", "integration", "", "unit")
    by_kind: dict[str, list[pytest.Item]] = {kind: [] for kind in kinds}
    for item in items:
        by_kind[next((kind for kind in kinds if kind in item.path.parts), "")].append(item)
    parts: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for of_kind in by_kind.values():
        begun: dict[Path, int] = {}  # in which part a file's first test is, and so all of them
        for number, item in enumerate(of_kind):
            parts[begun.setdefault(item.path, number * workers // len(of_kind))].append(item)
    return [item for part in parts for item in part]


def multiply_examples(items: list[pytest.Item]) -> None:
    """Multiply the examples of every property test, whatever number it asks for itself."""
    used = "_hypothesis_internal_use_settings"  # Hypothesis has no public way to change them
    tests = {getattr(item, "function", None): item.path for item in items}  # each function once
    for test, path in tests.items():
        if hasattr(test, used):
            asked = getattr(test, used)
            in_memory = "unit" in path.parts
            times = TIMES_THE_EXAMPLES_IN_MEMORY if in_memory else TIMES_THE_EXAMPLES_ON_DISK
            setattr(test, used, settings(asked, max_examples=times * asked.max_examples))


def pytest_collection_finish() -> None:
    """Leave the thousands of collected tests out of every later search for garbage."""
    loaded()


def pytest_configure(config: pytest.Config) -> None:
    """Free them at the very end, as libraries expect, and not before pytest's own collections.

    Only a long run draws constants of our modules, too: of those that are loaded by then, which
    differ from worker to worker, and which Hypothesis parses.
    """
    atexit.register(gc.unfreeze)
    if config.getoption("--hypothesis-profile") != "soak":
        # Hypothesis has no public way to leave them out.
        providers._get_local_constants = lambda: providers._local_constants  # noqa: SLF001


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    """A registered tool over an empty folder."""
    return Collection(tmp_path / "notes", tmp_path / "data" / "vectors.sqlite")


@pytest.fixture(scope="session")
def for_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def samples(for_all_workers: Path) -> Callable[[Path], Path]:
    """Copies the database of the samples into a new folder; one worker imports it for all."""
    made = for_all_workers / "samples"
    with FileLock(f"{made}.lock"):
        if not made.exists():
            sample_database(made)

    def copy(folder: Path) -> Path:
        shutil.copytree(made, folder, dirs_exist_ok=True)
        return folder / "vectors.sqlite"

    return copy


@pytest.fixture(scope="session")
def kept_caches(for_all_workers: Path) -> Callable[[Path], None]:
    """Puts into a folder for caches what a user's has after the first import and the first chart.

    Those are the unpacked weights of `use` and the list of fonts. Without them, each process of a
    test would unpack 65 MB for its own folder.
    """
    kept = for_all_workers / "caches"
    models = kept / "mdvec" / "models"
    with FileLock(f"{kept}.lock"):  # one worker unpacks them for all
        UseBackend(models).encode_documents(["水"])
    fonts = kept / "matplotlib"
    fonts.mkdir(exist_ok=True)

    def put(caches: Path) -> None:
        for folder in (models, fonts):
            link = caches / folder.relative_to(kept)
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.exists():
                link.symlink_to(folder, target_is_directory=True)

    return put


@pytest.fixture
def importing() -> Callable[..., subprocess.Popen[str]]:
    """Starts an import with the tiny model in a process of its own: its collection, its mode.

    Coverage does not watch it: a process that is killed writes nothing.
    """
    child = Path(__file__).parent / "tests" / "importing_child.py"
    environment = {key: value for key, value in os.environ.items() if "COVERAGE" not in key}

    def start(collection: Collection, mode: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(child), str(collection.database), collection.name, mode]
        command.append(",".join(collection.rules.extensions))
        if collection.engine is not None:
            command.append(collection.engine.url)
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, env=environment, stdout=pipe, stderr=pipe, encoding="utf-8"
        )

    return start


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaProcess]:
    """A running Chroma server over a folder of its own; a test that kills it starts it again."""
    with ChromaProcess(tmp_path_factory.mktemp("chroma")).running() as server:
        yield server
