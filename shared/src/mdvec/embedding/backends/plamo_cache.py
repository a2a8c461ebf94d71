"""PLaMo's files in the Hugging Face cache: finding, checking and downloading them.

The command line checks at every start, so torch, transformers and huggingface_hub are imported
only for a download.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from mdvec.embedding.backends import hub
from mdvec.embedding.cards import INSTALL_PLAMO, PLAMO
from mdvec.embedding.embedder import ModelUnavailable

REPOSITORY = "pfnet/plamo-embedding-1b"
REVISION = "f47268047fb3df74113675700c1e9dacdc68cb47"

_NEEDED = ["*.json", "*.jsonl", "*.model", "*.py", "*.safetensors", "*.txt"]
_REPOSITORY = hub.Repository(
    REPOSITORY,
    lambda names: hub.matching(names, _NEEDED, ()),
    INSTALL_PLAMO,
    PLAMO.licence,
    REVISION,
    "PLaMo",
)
_VOCABULARIES = ("*.model", "tokenizer.json*", "vocab*")


def missing() -> str | None:
    """Why PLaMo cannot be used on this machine, in a few words, or None if it can."""
    for module in ("torch", "transformers"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    return None if _complete(snapshot()) else "its weights are not in the local model cache"


def pull(may_download: hub.MayDownload) -> Path:
    """Download the pinned revision into the cache unless it is complete; returns its folder.

    Raises:
        ModelUnavailable: a package, the hub, the repository or disk space is missing, or the user
            does not allow it.
    """
    for module in ("torch", "transformers"):
        if importlib.util.find_spec(module) is None:
            raise ModelUnavailable(f"{module} is not installed; get it with: {INSTALL_PLAMO}")
    if not _complete(snapshot()):
        hub.fetch(_REPOSITORY, may_download)
    if not _complete(snapshot()):
        raise ModelUnavailable("the download of PLaMo is not complete; run it again to go on")
    return snapshot()


def snapshot() -> Path:
    """The folder with PLaMo's weights, code and tokenizer."""
    return hub.cache_folder() / f"models--{REPOSITORY.replace('/', '--')}" / "snapshots" / REVISION


def _complete(folder: Path) -> bool:
    """Whether the folder has all files; after an interrupted download some are missing.

    The files are links into the cache's store, so an existing one may still be dangling.
    """
    config = hub.read_object(folder / "config.json")
    tokenizer = hub.read_object(folder / "tokenizer_config.json")
    code = _code_files(config)
    vocabularies = [file for pattern in _VOCABULARIES for file in folder.glob(pattern)]
    files = [*code, *_code_files(tokenizer), *_weight_files(folder)]
    return (
        bool(code and tokenizer)
        and any(file.is_file() for file in vocabularies)
        and all((folder / name).is_file() for name in files)
    )


def _code_files(config: dict[str, object]) -> set[str]:
    """The Python files that a configuration names, as in ``{"AutoModel": "modeling_x.Model"}``."""
    auto_map = config.get("auto_map")
    entries = auto_map.values() if isinstance(auto_map, dict) else []
    names = [name for entry in entries for name in (entry if isinstance(entry, list) else [entry])]
    modules = {name.rpartition("--")[2].partition(".")[0] for name in names if name}
    return {f"{module}.py" for module in modules}


def _weight_files(folder: Path) -> set[str]:
    """The weight files: the shards that the index lists, or else the only file."""
    shards = hub.read_object(folder / "model.safetensors.index.json").get("weight_map")
    return set(shards.values()) if isinstance(shards, dict) else {"model.safetensors"}
