"""The backend of ``st:<model or folder>``: models for sentence-transformers (an extra).

Models are loaded from local files, as safetensors or ONNX, and without code of their own.
"""

from __future__ import annotations

import importlib.util
import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mdvec.embedding.backends import hub
from mdvec.embedding.backends.model_files import BLOCK_CHARS, prefixes_known_of, revision_of
from mdvec.embedding.backends.use import ApproximateTokens
from mdvec.embedding.cards import ModelCard, model_of
from mdvec.embedding.embedder import ModelError, ModelUnavailable
from mdvec.embedding.options import StOptions
from mdvec.installation import this_installation
from mdvec.text import TokenSpan, blocks

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

INSTALL_ST = this_installation().adding_extra("st")

_NEEDED = ["*.json", "*.model", "*.safetensors", "*.txt"]
_ONNX = ["onnx/*"]
_OTHER_FORMATS = ["onnx/*", "openvino/*"]
_SPECIAL_TOKENS = 8


def missing(model: str) -> str | None:
    """Why a model cannot be loaded, in a few words, or None if it can."""
    if importlib.util.find_spec("sentence_transformers") is None:
        how = (
            f": {INSTALL_ST}" if hub.is_folder(model) else ""
        )  # otherwise its card names the command
        return f"sentence-transformers is not installed{how}"
    if hub.is_folder(model):
        folder = Path(model)
        if not folder.is_dir():
            return "there is no such folder"
        if _complete(folder):
            return None
        if any(folder.glob("*.bin")):
            return "its weights are not safetensors, and others may run code when they are loaded"
        return "that folder has no model in it"
    return None if located(model) else "it is not in the local model cache"


def located(model: str) -> Path | None:
    """The local folder with a model's files; None if there is none."""
    folder = Path(model) if hub.is_folder(model) else hub.snapshot(model)
    return folder if folder is not None and _complete(folder) else None


def pull(model: str, backend: str, may_download: hub.MayDownload) -> Path:
    """Download a model into the cache unless it is there; returns its folder.

    Raises:
        ModelUnavailable: a package, the hub, the model or disk space is missing, or the user does
            not allow it.
    """
    if hub.is_folder(model):
        if lack := missing(model):
            raise ModelUnavailable(f"the model 'st:{model}' cannot be used: {lack}")
        return Path(model)
    allowed = _NEEDED + (_ONNX if backend == "onnx" else [])
    ignored = _OTHER_FORMATS if backend == "torch" else []
    needed = hub.Repository(model, lambda names: hub.matching(names, allowed, ignored), INSTALL_ST)
    hub.fetch(needed, may_download)
    folder = located(model)
    if folder is None:
        raise ModelUnavailable(
            f"{model} has no model.safetensors or no config.json, so it cannot be used"
        )
    return folder


def _complete(folder: Path) -> bool:
    """Whether there are a configuration and weights; links into the cache may be dangling."""
    weights = [*folder.glob("*.safetensors"), *folder.glob("onnx/*.onnx")]
    return (folder / "config.json").is_file() and any(file.is_file() for file in weights)


def prefixes_of(model: str, options: StOptions) -> tuple[str | None, str | None]:
    """The prefixes of questions and passages: configured, else known by the model's name.

    None means the model's own prompts.
    """
    known = prefixes_known_of(model) or (None, None)
    query, document = options.query_prefix, options.document_prefix
    return (known[0] if query is None else query, known[1] if document is None else document)


def device_here(requested: str | None) -> str:
    """The requested device, or else the fastest on this machine, as torch names it."""
    try:
        import sentence_transformers  # noqa: F401 - it may fail to load
        import torch
    except (ImportError, OSError) as error:
        raise ModelUnavailable(
            f"sentence-transformers cannot be loaded ({hub.first_line(error)})"
        ) from error
    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    return device_for(requested, cuda=cuda, mps=mps)


def device_for(requested: str | None, *, cuda: bool, mps: bool) -> str:
    """The requested device, or else the fastest available."""
    here = {"cuda": cuda, "mps": mps, "cpu": True}
    if requested is None:
        return next(name for name, is_here in here.items() if is_here)
    if not here.get(requested):
        raise ModelUnavailable(
            f"there is no {requested!r} on this machine; choose 'cpu' in [model.st] device"
        )
    return requested


class SentenceTransformersBackend:
    """The model and its tokenizer, loaded from a local folder; nothing is downloaded."""

    def __init__(self, card: ModelCard, folder: Path, options: StOptions) -> None:
        self.batch = options.batch
        self._name = card.name
        self._prefixes = prefixes_of(model_of(card.name), options)
        with hub.loading(f"the model {card.name!r}", folder):
            self._model = _load(folder, options)
        self._limit = self._model.max_seq_length or card.max_tokens
        self._approximate = ApproximateTokens(self._limit)
        self.dimension = int(self.encode_query("東京").shape[-1])
        self.card = replace(card, dimension=self.dimension)
        self.revision = f"{revision_of(folder, folder.rglob('*'))}-{self._mark_of_prefixes()}"

    def token_spans(self, text: str) -> list[TokenSpan]:
        """The tokens of ``text`` as character ranges; approximate if its tokenizer reports none."""
        tokenizer = self._model.tokenizer
        if not getattr(tokenizer, "is_fast", False):
            return self._approximate.token_spans(text)
        spans = []
        for start, end in blocks(text, BLOCK_CHARS):
            tokens = tokenizer(
                text[start:end], add_special_tokens=False, return_offsets_mapping=True,
                truncation=False, verbose=False,
            )  # fmt: skip
            offsets = tokens["offset_mapping"]
            spans += [(start + first, start + last) for first, last in offsets if last > first]
        return spans

    def oversized(self, text: str) -> bool:
        """Whether ``text``, with prefix and special tokens, exceeds the model's limit."""
        prefixed = (self._prefixes[1] or "") + text
        room = self._limit - _SPECIAL_TOKENS
        return len(prefixed) > room // 2 and len(self.token_spans(prefixed)) > room

    def refusal(self, text: str) -> str | None:
        """Refuses text in which the model sees no token."""
        return None if self.token_spans(text[:200]) or self.token_spans(text) else "it is blank"

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, with the document prefix or prompt."""
        return self._run(self._model.encode_document, list(texts), self._prefixes[1])

    def encode_query(self, text: str) -> Vectors:
        """The vector of a question, with the query prefix or prompt."""
        return self._run(self._model.encode_query, [text], self._prefixes[0])

    def _run(self, encode: Any, texts: list[str], prompt: str | None) -> Vectors:  # noqa: ANN401
        try:
            rows = encode(
                texts, prompt=prompt, batch_size=self.batch, show_progress_bar=False,
                convert_to_numpy=True,
            )  # fmt: skip
        except (RuntimeError, MemoryError) as error:
            raise ModelError(
                f"the model {self._name!r} failed while embedding: {hub.first_line(error)}"
            ) from error
        return np.asarray(rows, dtype=np.float32)

    def _mark_of_prefixes(self) -> str:
        prompts = self._model.prompts if None in self._prefixes else {}
        serialised = json.dumps([self._prefixes, prompts], ensure_ascii=False, sort_keys=True)
        return f"{zlib.crc32(serialised.encode()):08x}"


def _load(folder: Path, options: StOptions) -> Any:  # noqa: ANN401
    device = device_here(options.device)
    if options.backend == "onnx":
        _check_onnx()
    with hub.quiet_transformers():
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(
            str(folder),
            device=device,
            trust_remote_code=False,
            local_files_only=True,
            truncate_dim=options.truncate_dim,
            backend=options.backend,
            model_kwargs={"use_safetensors": True} if options.backend == "torch" else None,
        )


def _check_onnx() -> None:
    for module in ("onnxruntime", "optimum"):
        if importlib.util.find_spec(module) is None:
            raise ModelUnavailable(
                f"[model.st] backend = 'onnx' needs {module}; get it with: "
                f"{this_installation().adding('sentence-transformers[onnx]')}, or choose 'torch'"
            )
