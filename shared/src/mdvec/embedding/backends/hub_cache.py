"""The Hugging Face cache and its JSON files; its libraries' logs and errors, kept short."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CACHES = (
    ("HF_HUB_CACHE", "."),
    ("HUGGINGFACE_HUB_CACHE", "."),
    ("HF_HOME", "hub"),
    ("XDG_CACHE_HOME", "huggingface/hub"),
)
_NOT_OFFERED = ("RepositoryNotFoundError", "RevisionNotFoundError", "GatedRepoError")


def cache_folder() -> Path:
    """The folder that huggingface_hub uses, from the same variables in the same order."""
    for variable, below in _CACHES:
        if folder := os.environ.get(variable):
            return Path(os.path.expandvars(folder)).expanduser() / below
    return Path.home() / ".cache" / "huggingface" / "hub"


def read_object(file: Path) -> dict[str, object]:
    """The JSON object in a file; empty if the file is missing or broken."""
    parsed = _parsed(file)
    return parsed if isinstance(parsed, dict) else {}


def read_list(file: Path) -> list[object]:
    """The JSON array in a file; empty if the file is missing or broken."""
    parsed = _parsed(file)
    return parsed if isinstance(parsed, list) else []


def _parsed(file: Path) -> object:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def is_classifier(folder: Path) -> bool:
    """Whether a model's configuration names one for sequence classification: a cross-encoder."""
    kinds = read_object(folder / "config.json").get("architectures") or [""]
    return str(kinds[0] if isinstance(kinds, list) else kinds).endswith("ForSequenceClassification")


def download_failure(error: Exception, hub: str, cache: Path, model: str, offered: str) -> str:
    """One sentence on why a download from ``hub`` into ``cache`` failed, and what to do.

    ``offered`` is what the hub should have, with its revision.
    """
    causes = list(_causes(error))
    kinds = {type(cause).__name__ for cause in causes}
    numbers = {getattr(cause, "errno", None) for cause in causes}
    if numbers & {errno.ENOSPC, errno.EDQUOT} or any("No space" in str(c) for c in causes):
        return f"the disk is full; {model} has no room in {cache}"
    if numbers & {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}:
        return f"the model cache {cache} cannot be written; HF_HUB_CACHE can name another folder"
    if kinds.intersection(_NOT_OFFERED):
        return f"the hub {hub} has no {offered}; check HF_ENDPOINT"
    if "OfflineModeIsEnabled" in kinds:
        return f"the hub's client is switched off; unset HF_HUB_OFFLINE to download {model}"
    reason = (str(causes[-1]) or type(causes[-1]).__name__).splitlines()[0]
    return f"{model} could not be downloaded from {hub} ({reason}); check the network and try again"


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Have transformers log only errors, and draw no progress bar."""
    from transformers.utils import logging

    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def first_line(error: Exception) -> str:
    """What a library says of its error, in one line."""
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
