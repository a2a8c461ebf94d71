"""A folder whose files are converted by one database, as those of an import."""

import pytest

from mdvec.datasets.interfaces.connection import shared_databases


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
