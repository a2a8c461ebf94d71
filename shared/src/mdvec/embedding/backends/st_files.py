"""Files of sentence-transformers models: in a folder, or in the Hugging Face cache.

Commands look here at every start, so nothing heavy is imported but for a download.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from mdvec.embedding.backends.hub_cache import cache_folder, download_failure, read_object
from mdvec.embedding.embedder import ModelUnavailable

INSTALL_ST = "pip install -c constraints.txt -e './shared[st]' (in mdvec's own folder)"

_NEEDED = ["*.json", "*.model", "*.safetensors", "*.txt"]
_ONNX = ["onnx/*"]
_OTHER_FORMATS = ["onnx/*", "openvino/*"]
_WEIGHTS = (".safetensors", ".onnx")
_EDGE = 65_536


def missing(model: str) -> str | None:
    """Why a model cannot be loaded, in a few words, or None if it can."""
    if importlib.util.find_spec("sentence_transformers") is None:
        return f"sentence-transformers is not installed: {INSTALL_ST}"
    if is_folder(model):
        folder = Path(model)
        if not folder.is_dir():
            return "there is no such folder"
        if _complete(folder):
            return None
        if any(folder.glob("*.bin")):
            return "its weights are not safetensors, and others may run code when they are loaded"
        return "that folder has no model in it"
    return None if located(model) else "it is not in the local model cache"


def is_folder(model: str) -> bool:
    """Whether a model is a folder, not a name on the hub."""
    return model.startswith("/")


def located(model: str) -> Path | None:
    """The folder with a model's files; None if it is not here."""
    if is_folder(model):
        return Path(model) if _complete(Path(model)) else None
    repository = cache_folder() / f"models--{model.replace('/', '--')}"
    try:
        commit = (repository / "refs" / "main").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    folder = repository / "snapshots" / commit
    return folder if commit and _complete(folder) else None


def pull(model: str, backend: str) -> Path:
    """Download a model into the cache unless it is there; returns its folder.

    Raises:
        ModelUnavailable: a package, the hub, the model or disk space is missing.
    """
    if is_folder(model):
        if lack := missing(model):
            raise ModelUnavailable(f"the model 'st:{model}' cannot be used: {lack}")
        return Path(model)
    if importlib.util.find_spec("huggingface_hub") is None:
        raise ModelUnavailable(f"huggingface_hub is not installed; get it with: {INSTALL_ST}")
    from huggingface_hub import constants, model_info, snapshot_download

    cache = cache_folder()
    allowed = _NEEDED + (_ONNX if backend == "onnx" else [])
    ignored = _OTHER_FORMATS if backend == "torch" else None
    try:
        cache.mkdir(parents=True, exist_ok=True)
        model_info(model, timeout=10)
        snapshot_download(model, cache_dir=cache, allow_patterns=allowed, ignore_patterns=ignored)
    # The hub's client raises errors of several libraries; all mean that the download failed.
    except Exception as error:
        raise ModelUnavailable(download_failure(error, constants.ENDPOINT, cache, model)) from error
    found = located(model)
    if found is None:
        raise ModelUnavailable(
            f"{model} has no model.safetensors or no config.json, so it cannot be used"
        )
    return found


def revision_of(folder: Path) -> str:
    """A mark of a model's files: its configuration, and the sizes and edges of its weights."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.name.startswith(".") or file.suffix in (".md", ".py"):
            continue
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder)}:{size}".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(_EDGE))
            if file.suffix in _WEIGHTS and size > _EDGE:
                stream.seek(-_EDGE, 2)
                digest.update(stream.read(_EDGE))
    return digest.hexdigest()[:12]


def max_tokens_of(folder: Path) -> int | None:
    """The maximum number of tokens that a model takes, according to its files."""
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("config.json", "max_position_embeddings"),
    ):
        value = read_object(folder / name).get(key)
        if isinstance(value, int) and value > 0:
            return value
    return None


def _complete(folder: Path) -> bool:
    """Whether there is a configuration, and weights; a link into the cache may be dangling."""
    weights = [*folder.glob("*.safetensors"), *folder.glob("onnx/*.onnx")]
    return (folder / "config.json").is_file() and any(file.is_file() for file in weights)
