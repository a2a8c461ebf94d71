"""The models in memory: one load for many, and none kept that nobody needs."""

import threading

from mdvec.embedding.embedder import ModelUnavailable
from mdvec.embedding.options import BackendOptions
from mdvec.embedding.reranker import Reranker
from tiny_embedder import tiny_embedder

from mdvec_mcp.search.model_pool import ModelPool


def pool(loads, missing=(), **options):
    def load(name):
        loads.append(name)
        if name in missing:
            raise ModelUnavailable("it is not here")
        return tiny_embedder(name=name)

    settings = {"idle_seconds": 600, "memory_threshold": 0.8, "memory_use": lambda: 0.1}
    return ModelPool(load, **{**settings, **options})


def test_many_threads_share_one_load():
    loads: list[str] = []
    models = pool(loads)
    start = threading.Barrier(8)
    seen = []

    def search():
        start.wait()
        with models.embedder("use") as embedder:
            seen.append(embedder)

    threads = [threading.Thread(target=search) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == ["use"]
    assert len({id(embedder) for embedder in seen}) == 1


def test_models_load_early_but_for_one_that_cannot():
    loads: list[str] = []
    models = pool(loads, missing=["plamo"])
    models.load_early(["plamo", "use"])
    assert (loads, models.loaded()) == (["plamo", "use"], ["use"])


def test_a_model_that_was_just_used_stays():
    models = pool([])
    with models.embedder("use"):
        pass
    assert (models.release_idle(), models.loaded()) == ([], ["use"])


def test_a_model_unused_for_long_is_unloaded_and_loads_again():
    loads: list[str] = []
    models = pool(loads, idle_seconds=0)
    with models.embedder("use"):
        assert models.release_idle() == []
    assert (models.release_idle(), models.loaded()) == (["use"], [])
    with models.embedder("use"):
        assert loads == ["use", "use"]


def test_a_full_memory_unloads_an_idle_model_but_not_one_in_use():
    models = pool([], memory_use=lambda: 0.9, grace_seconds=0)
    with models.embedder("use"):
        assert models.release_idle() == []
    assert models.release_idle() == ["use"]


def test_a_full_memory_does_not_count_right_after_a_search():
    models = pool([], memory_use=lambda: 0.9, grace_seconds=30)
    with models.embedder("use"):
        pass
    assert models.release_idle() == []


class UsedReranker(Reranker):
    """One that was used so long ago, and is unloaded once."""

    unused_seconds: float | None = 601

    def unload(self):
        self.unused_seconds = None


def test_the_reranker_is_unloaded_when_it_is_idle():
    models = pool([], reranker=UsedReranker("st:/of/mine", BackendOptions()))
    assert [models.release_idle() for _ in range(2)] == [["st:/of/mine"], []]
    models = pool([], reranker=UsedReranker("st:/of/mine", BackendOptions()), idle_seconds=602)
    assert models.release_idle() == []


def test_a_load_that_fails_is_tried_again():
    calls = []

    def load(name):
        calls.append(name)
        if len(calls) == 1:
            raise OSError("no")
        return tiny_embedder()

    models = ModelPool(load, idle_seconds=1, memory_threshold=1, memory_use=lambda: 0)
    for _ in range(2):
        try:
            with models.embedder("use"):
                pass
        except OSError:
            continue
    assert (len(calls), models.loaded()) == (2, ["use"])
