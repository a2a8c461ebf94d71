"""Reads a model's limit, prefixes, pooling and version from its files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mdvec.embedding.backends.hub import read_list, read_object
from mdvec.embedding.cards import E5_PREFIXES, RURI_PREFIXES

BLOCK_CHARS = 50_000
"""The number of characters of a long text that a tokenizer gets at once."""
_WEIGHTS = (".safetensors", ".onnx", ".onnx_data", ".data")
_EDGE = 65_536
_NO_LIMIT = 1_000_000_000
"""In files of tokenizers, a larger number means that there is no limit."""
_PREFIXES = (
    (re.compile(r"\bruri-v3-", re.IGNORECASE), RURI_PREFIXES),
    (re.compile(r"\bruri-(?:small|base|large)", re.IGNORECASE), ("クエリ: ", "文章: ")),
    (re.compile(r"\be5-(?:small|base|large)(?!.*instruct)", re.IGNORECASE), E5_PREFIXES),
)
_QUERY_PROMPTS = ("query",)
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
POOLING_MODES = ("cls", "lasttoken", "max", "mean", "weightedmean")
_OLD_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
STATIC = "StaticEmbedding"
"""The module of a model that averages vectors of words."""
_SIMPLE_MODULES = ("Transformer", "Pooling", "Normalize", STATIC)


def prefixes_known_of(model: str) -> tuple[str, str] | None:
    """The prefixes of questions and passages for models known by name; None for others."""
    name = Path(model).name.lower()
    return next((pair for pattern, pair in _PREFIXES if pattern.search(name)), None)


def prompts_of(folder: Path) -> tuple[str, str]:
    """The prefixes of questions and passages according to a model's own files."""
    settings = read_object(folder / "config_sentence_transformers.json")
    prompts = settings.get("prompts")
    if not isinstance(prompts, dict):
        return "", ""
    default = prompts.get(settings.get("default_prompt_name")) or ""

    def prompt(names: Iterable[str]) -> str:
        return str(next((prompts[name] for name in names if prompts.get(name)), default))

    return prompt(_QUERY_PROMPTS), prompt(_DOCUMENT_PROMPTS)


def max_tokens_of(folder: Path) -> int | None:
    """The maximum number of tokens that a model takes, according to its files."""
    own = _number(folder, "sentence_bert_config.json", "max_seq_length")
    if own is not None:
        return own
    limits = (
        _number(folder, "config.json", "max_position_embeddings"),
        _number(folder, "tokenizer_config.json", "model_max_length"),
    )
    return min((limit for limit in limits if limit is not None), default=None)


def _number(folder: Path, name: str, key: str) -> int | None:
    value = read_object(folder / name).get(key)
    return value if isinstance(value, int) and 0 < value < _NO_LIMIT else None


@dataclass(frozen=True, slots=True)
class Pooling:
    """How vectors of tokens become one vector; ``problem`` says why that cannot be done here."""

    mode: str | None
    problem: str = ""


def pooling_of(folder: Path) -> Pooling:
    """The pooling according to a model's files; its mode is None if they do not say."""
    for kind in modules_of(folder):
        if kind not in _SIMPLE_MODULES:
            return Pooling(None, f"it has a layer {kind} that its ONNX file leaves out")
    settings = read_object(folder / "1_Pooling" / "config.json")
    if settings.get("include_prompt") is False:
        return Pooling(None, "it leaves the prefix out when it makes one vector of all tokens")
    written = settings.get("pooling_mode")
    modes = written if isinstance(written, list) else [written] if written else []
    modes = modes or [mode for key, mode in _OLD_MODES.items() if settings.get(key)]
    # Dividing by a root changes no direction, and vectors are normalised anyway.
    named = [str(mode).replace("mean_sqrt_len_tokens", "mean") for mode in modes]
    if len(named) > 1 or not set(named) <= set(POOLING_MODES):
        return Pooling(None, f"its pooling {' + '.join(named)} is not known here")
    return Pooling(named[0] if named else None)


def modules_of(folder: Path) -> list[str]:
    """The class names of a model's modules, without their packages."""
    listed = read_list(folder / "modules.json")
    kinds = [entry.get("type", "") for entry in listed if isinstance(entry, dict)]
    return [str(kind).rpartition(".")[2] for kind in kinds]


def revision_of(folder: Path, files: Iterable[Path]) -> str:
    """A hash of a model's files: their names, sizes and beginnings, and the ends of weights."""
    digest = hashlib.sha256()
    for file in sorted(files):
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
