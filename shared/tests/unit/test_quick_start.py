"""Modules load without garbage collection, which goes on once they are loaded."""

import gc
import os

import pytest

from mdvec.quick_start import load_quickly, loaded

PLUGINS = "PYDANTIC_DISABLE_PLUGINS"


@pytest.fixture(autouse=True)
def as_before():
    thresholds = gc.get_threshold()
    yield
    gc.enable()
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def test_garbage_is_collected_again_once_all_is_loaded(monkeypatch):
    monkeypatch.setenv(PLUGINS, "1")
    load_quickly()
    assert not gc.isenabled()
    loaded()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold()[0] > 10_000


def test_plugins_of_pydantic_are_searched_if_the_environment_says_so(monkeypatch):
    monkeypatch.setenv(PLUGINS, "0")
    load_quickly()
    assert os.environ[PLUGINS] == "0"
    monkeypatch.delenv(PLUGINS)
    load_quickly()
    assert os.environ[PLUGINS] == "__all__"
