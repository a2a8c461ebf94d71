"""A folder of data files with its tool, and one whose files a single database converts."""

import pytest
from source_folder import DataFolder

from mdvec.datasets.interfaces.connection import shared_databases


@pytest.fixture
def files(tmp_path):
    """A folder of data files and its tool ``t``."""
    return DataFolder(tmp_path / "files", tmp_path / "data.sqlite", name="t")


@pytest.fixture(scope="module")
def one_folder(tmp_path_factory):
    """The folder of a module: to make a database takes longer than to convert a small file."""
    folder = tmp_path_factory.mktemp("one")
    with shared_databases(folder):
        yield folder


@pytest.fixture
def folder(one_folder):
    """The module's folder, which is empty again after the test."""
    yield one_folder
    for file in one_folder.iterdir():
        file.unlink()
