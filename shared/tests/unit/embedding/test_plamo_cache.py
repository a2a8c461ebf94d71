"""Whether PLaMo's files are in the local model cache, and what a failed download says."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import platformdirs
import pytest
from table_of_cases import each

import mdvec
from mdvec.embedding import catalog
from mdvec.embedding.backends import plamo_cache
from mdvec.embedding.backends.hub import download_failure
from mdvec.embedding.cards import INSTALL_PLAMO
from mdvec.embedding.embedder import ModelUnavailable

SOURCES = Path(mdvec.__file__).parents[1]
REPOSITORY_FOLDER = Path("models--pfnet--plamo-embedding-1b")
NOT_THERE = "its weights are not in the local model cache"
VARIABLES = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME")
FILES = {
    "config.json": {"auto_map": {"AutoModel": "modeling_plamo.Model"}},
    "tokenizer_config.json": {"auto_map": {"AutoTokenizer": ["tokenization_plamo.Words", None]}},
    "modeling_plamo.py": "",
    "tokenization_plamo.py": "",
    "tokenizer.model": "",
    "model.safetensors": "",
}


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Empty packages with the required names; none is imported."""
    for name in ("torch", "transformers", "huggingface_hub"):
        (tmp_path / "packages" / name).mkdir(parents=True)
        (tmp_path / "packages" / name / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "packages")


@pytest.fixture
def cache(tmp_path, monkeypatch, packages):
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fill(cache, files=FILES):
    """A cache as huggingface_hub lays it out: files in a store, and links to them."""
    repository = cache / REPOSITORY_FOLDER
    snapshot = repository / "snapshots" / plamo_cache.REVISION
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    for name, content in files.items():
        (repository / "blobs" / name).write_text(json.dumps(content), encoding="utf-8")
        (snapshot / name).symlink_to(repository / "blobs" / name)
    return snapshot


def test_an_empty_cache_lacks_the_weights(cache):
    assert plamo_cache.missing() == NOT_THERE
    with pytest.raises(ModelUnavailable, match=r"not here \(its weights .*mdvec model pull plamo"):
        catalog.load("plamo")


def test_a_whole_snapshot_is_ready(cache):
    snapshot = fill(cache)
    assert plamo_cache.missing() is None
    assert plamo_cache.snapshot() == snapshot
    assert plamo_cache.pull(lambda _: False) == snapshot


def test_another_revision_does_not_count(cache):
    fill(cache).rename(cache / REPOSITORY_FOLDER / "snapshots" / "2fcf411")
    assert plamo_cache.missing() == NOT_THERE


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("is_link_left", [True, False])
def test_a_file_that_was_not_downloaded_is_missed(cache, name, is_link_left):
    file = fill(cache) / name
    (file.resolve() if is_link_left else file).unlink()
    assert plamo_cache.missing() == NOT_THERE


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", ["", "{", "[]", "\udcff"])
def test_a_broken_configuration_counts_as_missing(cache, name, content):
    (fill(cache) / name).write_text(content, encoding="utf-8", errors="surrogateescape")
    assert plamo_cache.missing() == NOT_THERE


def test_weights_in_parts_need_every_part(cache):
    parts = ["model-1-of-2.safetensors", "model-2-of-2.safetensors"]
    index = {"weight_map": {"a": parts[0], "b": parts[1], "c": parts[0]}}
    files = {**FILES, **dict.fromkeys(parts, ""), "model.safetensors.index.json": index}
    del files["model.safetensors"]
    snapshot = fill(cache, files)
    assert plamo_cache.missing() is None
    (snapshot / parts[1]).unlink()
    assert plamo_cache.missing() == NOT_THERE


def test_code_may_be_named_with_its_repository(cache):
    config = {"auto_map": {"AutoModel": "pfnet/plamo-embedding-1b--modeling_plamo.Model"}}
    fill(cache, {**FILES, "config.json": config})
    assert plamo_cache.missing() is None


def caused(error, cause):
    error.__cause__ = cause
    return error


class RepositoryNotFoundError(OSError):
    """An error with the name that huggingface_hub uses in every version."""


@each(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space left"), "the disk is full; PLaMo has no room in /cache"),
        (RuntimeError("Data: No space left on device"), "the disk is full"),
        (caused(RuntimeError("writer"), OSError(errno.EDQUOT, "quota")), "the disk is full"),
        (PermissionError(errno.EACCES, "no"), "the model cache /cache cannot be written"),
        (
            RepositoryNotFoundError("404\nlong"),
            "the hub http://hub has no pfnet/plamo-embedding-1b",
        ),
        (
            caused(FileNotFoundError("cannot find\nit"), ConnectionRefusedError("refused")),
            "PLaMo could not be downloaded from http://hub (refused); check the network",
        ),
        (TimeoutError(), "could not be downloaded from http://hub (TimeoutError)"),
    ],
)
def test_a_failed_download_says_in_one_sentence_why(error, sentence):
    offered = plamo_cache.REPOSITORY
    said = download_failure(error, "http://hub", Path("/cache"), "PLaMo", offered)
    assert sentence in said
    assert "\n" not in said


def without_packages(script, tmp_path):
    """Run in a Python that has numpy and platformdirs alone: no torch, no transformers."""
    numpy = Path(np.__file__).parent
    (tmp_path / "site").mkdir()
    for folder in (numpy, numpy.with_name("numpy.libs"), Path(platformdirs.__file__).parent):
        (tmp_path / "site" / folder.name).symlink_to(folder)
    path = os.pathsep.join([str(SOURCES), str(tmp_path / "site")])
    environment = {"PYTHONPATH": path, "HF_HUB_CACHE": str(tmp_path / "cache")}
    return subprocess.run(
        [sys.executable, "-S", "-c", script],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_weights_without_torch_count_as_missing(tmp_path):
    snapshot = fill(tmp_path / "cache")
    script = f"""
from pathlib import Path
from mdvec.embedding.backends import plamo_cache
from mdvec.embedding.embedder import ModelUnavailable
from mdvec.embedding.backends.plamo import PlamoBackend
print(plamo_cache.missing())
load = lambda: PlamoBackend(Path({str(snapshot)!r}))
for use in (lambda: plamo_cache.pull(None), load):
    try:
        use()
    except ModelUnavailable as error:
        print(error)
"""
    done = without_packages(script, tmp_path)
    missing, pull, backend = done.stdout.splitlines()
    assert missing == "torch is not installed"
    assert pull == f"torch is not installed; get it with: {INSTALL_PLAMO}"
    assert "No module named 'torch'" in backend
    assert INSTALL_PLAMO in backend
    assert (done.stderr, done.returncode) == ("", 0)
