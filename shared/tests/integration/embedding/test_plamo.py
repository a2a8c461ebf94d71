"""PLaMo's backend on a tiny stand-in, loaded from disk and pulled from a hub on this machine.

Every folder has a name of its own: in one process, transformers shares the code of two folders
with one name.
"""

import importlib.util
import itertools
import os
import subprocess
import sys
from pathlib import Path

import hub_stand_in
import numpy as np
import pytest

import mdvec
from mdvec.embedding import catalog
from mdvec.embedding.backends import plamo_cache
from mdvec.embedding.backends.plamo import PlamoBackend
from mdvec.embedding.backends.plamo_cache import REPOSITORY, REVISION
from mdvec.embedding.embedder import BadEmbedding, Embedder, ModelError, ModelUnavailable

pytestmark = [
    pytest.mark.skipif(
        not (importlib.util.find_spec("torch") and importlib.util.find_spec("transformers")),
        reason="the extra 'plamo' is not installed",
    ),
    pytest.mark.filterwarnings("ignore:the attention mask API is deprecated:FutureWarning"),
]


def helper(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[2] / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tiny_plamo = helper("tiny_plamo")


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    """transformers copies remote code below HF_HOME, which it reads when it is imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("home")))
        import torch

        # The model is tiny; more threads would only wait for each other on a busy machine.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_plamo.build(tmp_path_factory.mktemp("models") / "tiny_plamo")


@pytest.fixture(scope="module")
def backend(folder):
    return PlamoBackend(folder, device="cpu")


@pytest.fixture(scope="module")
def embedder(backend):
    return Embedder(backend)


NUMBERS = itertools.count(1)


@pytest.fixture
def new_folder(tmp_path):
    return tmp_path / f"tiny_plamo_{next(NUMBERS)}"


# --- vectors ---


def test_it_returns_what_its_code_computes_in_float32(backend, folder):
    import torch
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    # Built by its own constructor, not by from_pretrained: with tables, and not in bfloat16.
    config = AutoConfig.from_pretrained(folder, trust_remote_code=True)
    model = AutoModel.from_config(config, trust_remote_code=True, dtype=torch.float32)
    model.load_state_dict(load_file(folder / "model.safetensors"))
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    texts = ["the cat chases the dog", "東京の天気"]
    with torch.inference_mode():
        documents = model.eval().encode_document(texts, tokenizer).numpy()
        question = model.encode_query(texts[0], tokenizer).numpy()[0]
    np.testing.assert_allclose(backend.encode_documents(texts), documents, atol=1e-5)
    np.testing.assert_allclose(backend.encode_query(texts[0]), question, atol=1e-5)


def test_vectors_are_normalised_and_know_their_model(embedder):
    vectors = embedder.embed_documents(["東京の天気", "the cat 😀", "#"])
    assert vectors.shape == (3, tiny_plamo.HIDDEN)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert embedder.fingerprint == f"plamo@f47268047fb3:{tiny_plamo.HIDDEN}:l2"


def test_each_text_gets_its_own_vector_whatever_it_is_embedded_with(embedder):
    texts = [
        "東京",
        "a",
        "the cat " * 40,
        "#",
        "犬が好き。" * 9,
        "b", "天気です", "dog", "a", "cat",
    ]  # fmt: skip
    together = embedder.embed_documents(texts)
    alone = np.concatenate([embedder.embed_documents([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_nan_is_refused(new_folder):
    embedder = Embedder(PlamoBackend(tiny_plamo.build(new_folder, weights="nan"), device="cpu"))
    with pytest.raises(BadEmbedding, match=r"'plamo' .*NaN"):
        embedder.embed_documents(["東京"])
    with pytest.raises(BadEmbedding, match=r"'plamo' .*NaN"):
        embedder.embed_query("東京")


def test_sharded_weights_are_loaded(new_folder, embedder):
    parts = Embedder(PlamoBackend(tiny_plamo.build(new_folder, shards=2), device="cpu"))
    assert not (new_folder / "model.safetensors").exists()
    np.testing.assert_allclose(parts.embed_query("東京"), embedder.embed_query("東京"), atol=1e-6)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("count", [150, pytest.param(2_000, marks=pytest.mark.soak)])
def test_memory_stays_flat_over_a_long_run(embedder, count):
    texts = [f"{number} " + "the cat chases 東京 " * (number % 37) for number in range(count)]
    for text in texts[:40]:
        embedder.embed_documents([text])
    before = resident()
    for text in texts:
        embedder.embed_documents([text])
        embedder.embed_query(text)
    assert resident() - before < min(count * 32_000, 16_000_000)


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# --- tokens ---


def read(backend, text):
    return [text[start:end] for start, end in backend.token_spans(text)]


def test_a_tokenizer_without_positions_is_replaced_by_that_of_use(backend):
    text = "東京の😀 the cat\r\n  hello world\r\n<s>é"
    spans = backend.token_spans(text)
    assert spans == sorted(spans)
    assert (spans[0][0], spans[-1][1]) == (0, len(text))


def test_a_text_is_oversized_when_the_model_would_be_fed_more_than_its_limit(backend):
    assert not backend.oversized("東京" * 4095)  # and the one that begins every text
    assert backend.oversized("東京" * 4096)
    assert backend.oversized("😀" * 1025)
    assert backend.oversized("東京 " * 200_000)
    assert not backend.oversized("")


def test_positions_come_from_the_tokenizer_if_it_has_them(new_folder):
    backend = PlamoBackend(tiny_plamo.build_fast(new_folder), device="cpu")
    assert read(backend, "東京 cat \r\n 😀😀 the") == ["東京", "cat", "😀😀", "the"]


def test_any_text_is_accepted(backend):
    assert backend.refusal("\0 <s> \x07 😀") is None
    assert backend.encode_documents(["\0 <s> \x07 😀"]).shape == (1, tiny_plamo.HIDDEN)


# --- a model that cannot be used ---


def spoil(folder, file, old, new):
    content = (folder / file).read_bytes()
    assert old in content
    (folder / file).write_bytes(content.replace(old, new))
    return folder


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("config.json", b"{", b"(", "config.json"),
        ("modeling_plamo.py", b"import torch\n", b"import no_such_module\n", "no_such_module"),
        ("modeling_plamo.py", b"class Layer", b"clas Layer", "invalid syntax"),
        ("modeling_plamo.py", b"def encode_query", b"def ask", "encode_query"),
        ("modeling_plamo.py", b".to(self.device)", b".to(self.old_name)", "old_name"),
        ("modeling_plamo.py", b".sum(dim=1) / ", b".sum(dim=2) / ", "of shape"),
        ("tokenization_plamo.py", b"def _tokenize", b"def tokenise", "cannot be used"),
        ("model.safetensors", b"norm.weight", b"nerm.weight", "its weights lack norm.weight"),
        ("model.safetensors", b"{", b"", "cannot be used"),
    ],
)
def test_an_unusable_model_is_one_sentence(new_folder, file, old, new, reason):
    spoil(tiny_plamo.build(new_folder), file, old, new)
    with pytest.raises(ModelUnavailable, match="cannot be used with transformers") as refused:
        PlamoBackend(new_folder, device="cpu")
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_failure_while_embedding_is_an_error_of_the_model(new_folder):
    old = b"        inputs = tokenizer("
    new = b"        if len(texts[0]) > 99:\n            raise MemoryError('cannot allocate')\n"
    folder = spoil(tiny_plamo.build(new_folder), "modeling_plamo.py", old, new + old)
    backend = PlamoBackend(folder, device="cpu")
    with pytest.raises(ModelError, match="failed while embedding: cannot allocate"):
        backend.encode_documents(["a" * 100])
    assert backend.encode_documents(["a"]).shape == (1, tiny_plamo.HIDDEN)


# --- the hub ---


def run(script, home, **environment):
    """Run in a Python of its own: huggingface_hub reads its variables when it is imported.

    Its coverage is not counted: what it runs of ours is little, and counting makes the imports
    of torch and transformers twice as long.
    """
    foreign = ("HF_", "COVERAGE_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    sources = str(Path(mdvec.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-c", script],
        env=kept
        | {"PYTHONPATH": sources, "HOME": str(home), "HF_HOME": str(home), "NO_PROXY": "*"}
        | {"OMP_NUM_THREADS": "1"}
        | environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


PULL = """
from mdvec.embedding.backends import plamo_cache
from mdvec.embedding.embedder import ModelUnavailable
print(plamo_cache.missing())
try:
    print(plamo_cache.pull(lambda _: True))
except ModelUnavailable as error:
    print("refused:", error)
print(plamo_cache.missing())
"""
NOT_THERE = "its weights are not in the local model cache"

OFFLINE: list[str] = []
"""What asked for the network while it was off; a hook cannot be taken away again."""


def refuse(event, _):
    if OFFLINE and event in ("socket.connect", "socket.getaddrinfo"):
        OFFLINE.append(event)
        raise OSError("the network is off")


def test_a_pulled_model_embeds_with_the_hub_turned_off(tmp_path, monkeypatch, folder, embedder):
    with hub_stand_in.serving(folder, REPOSITORY, REVISION) as hub:
        pulled = run(PULL, tmp_path, HF_ENDPOINT=hub.endpoint)
        files = {file.name for file in folder.iterdir()}
        assert set(hub.served) == files - {"README.md"}
    snapshot = tmp_path / "hub" / "models--pfnet--plamo-embedding-1b" / "snapshots" / REVISION
    assert pulled.stdout.splitlines() == [NOT_THERE, str(snapshot), "None"]
    assert pulled.returncode == 0

    sys.addaudithook(refuse)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    OFFLINE.append("off")
    try:
        assert plamo_cache.pull(lambda _: False) == snapshot
        vector = catalog.load("plamo").embed_query("東京")
    finally:
        asked = OFFLINE[1:]
        OFFLINE.clear()
    assert asked == []
    np.testing.assert_allclose(vector, embedder.embed_query("東京"), atol=1e-5)


@pytest.fixture
def refusal(tmp_path, monkeypatch, capfd):
    """Why a download from a hub is refused; nothing is here before and after it."""
    monkeypatch.setenv("NO_PROXY", "*")

    def refusal(hub, cache=tmp_path):
        hub_stand_in.asked_here(hub, monkeypatch)
        monkeypatch.setenv("HF_HUB_CACHE", str(cache))
        assert plamo_cache.missing() == NOT_THERE
        with pytest.raises(ModelUnavailable) as refused:
            plamo_cache.pull(lambda _: True)
        assert plamo_cache.missing() == NOT_THERE
        assert "Traceback" not in capfd.readouterr().err
        return str(refused.value)

    return refusal


def test_an_unreachable_hub_is_reported_at_once(refusal, folder):
    with hub_stand_in.serving(folder, REPOSITORY, REVISION) as hub:
        pass
    said = refusal(hub)
    assert said.startswith("PLaMo could not be downloaded from ")
    assert said.endswith("Connection refused); check the network and try again")


def test_a_hub_without_plamo_is_reported(refusal, folder):
    with hub_stand_in.serving(folder, "somebody/else", REVISION) as hub:
        assert refusal(hub) == (
            f"the hub {hub.endpoint} has no {REPOSITORY} at revision {REVISION[:12]}; "
            "check HF_ENDPOINT"
        )


def test_an_incomplete_download_is_not_used(refusal, new_folder):
    tiny_plamo.build(new_folder)
    (new_folder / "model.safetensors").unlink()
    with hub_stand_in.serving(new_folder, REPOSITORY, REVISION) as hub:
        assert refusal(hub) == "the download of PLaMo is not complete; run it again to go on"


def test_an_unwritable_cache_is_reported(refusal, tmp_path, folder):
    (tmp_path / "file").touch()
    with hub_stand_in.serving(folder, REPOSITORY, REVISION) as hub:
        assert refusal(hub, tmp_path / "file" / "hub") == (
            f"the model cache {tmp_path}/file/hub cannot be written; "
            "HF_HUB_CACHE can name another folder"
        )


def test_the_cache_is_the_one_that_huggingface_hub_uses(tmp_path):
    script = """
import importlib, itertools, os
from huggingface_hub import constants
from mdvec.embedding.backends import hub
names = ["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"]
for given in itertools.product([False, True], repeat=4):
    for name, present in zip(names, given):
        os.environ.pop(name, None)
        if present:
            os.environ[name] = f"~/$HERE/{name}"
    theirs, ours = importlib.reload(constants).HF_HUB_CACHE, str(hub.cache_folder())
    assert theirs == ours, (theirs, ours)
print("the same")
"""
    assert run(script, tmp_path, HERE="below").stdout == "the same\n"
