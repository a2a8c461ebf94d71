"""Models on the Hugging Face hub: the local cache with its JSON files, and downloads into it.

The user must allow each download, knowing what would be fetched.
"""

from __future__ import annotations

import errno
import glob
import importlib.util
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from mdvec.embedding.embedder import ModelUnavailable

MayDownload = Callable[[str], bool]
"""Called before a download with a sentence on its size, licence and folder; whether to download."""
_SECONDS = 10
_CACHES = (
    ("HF_HUB_CACHE", "."),
    ("HUGGINGFACE_HUB_CACHE", "."),
    ("HF_HOME", "hub"),
    ("XDG_CACHE_HOME", "huggingface/hub"),
)
_NOT_OFFERED = ("RepositoryNotFoundError", "RevisionNotFoundError", "GatedRepoError")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository to download.

    ``files`` chooses among the names of all files; a ``revision`` of None is the newest.
    ``licence`` replaces the licence on the hub; ``install`` is the command that installs the hub's
    client. ``label`` names the model in messages, if it differs from ``name``.
    """

    name: str
    files: Callable[[Sequence[str]], Collection[str]]
    install: str
    licence: str = ""
    revision: str | None = None
    label: str = ""

    @property
    def offered(self) -> str:
        """The repository and revision that the hub should have, in words."""
        return f"{self.name} at revision {self.revision[:12]}" if self.revision else self.name


def is_folder(model: str) -> bool:
    """Whether a model is a folder, not a name on the hub."""
    return Path(model).is_absolute()


def snapshot(model: str) -> Path | None:
    """The folder of a model in the local cache, complete or not; None if there is none."""
    repository = cache_folder() / f"models--{model.replace('/', '--')}"
    try:
        commit = (repository / "refs" / "main").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return repository / "snapshots" / commit if commit else None


def matching(names: Iterable[str], allowed: Iterable[str], ignored: Iterable[str]) -> list[str]:
    """The names that match an allowed pattern and no ignored one."""

    def matches(name: str, patterns: Iterable[str]) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    return [name for name in names if matches(name, allowed) and not matches(name, ignored)]


def fetch(repository: Repository, may_download: MayDownload) -> Path:
    """Download what the cache lacks, if the user allows it; returns the folder.

    An interrupted download is resumed. Progress is shown on stderr.

    Raises:
        ModelUnavailable: it is not allowed, or the hub's client, the hub, the model or disk space
            is missing.
    """
    if importlib.util.find_spec("huggingface_hub") is None:
        raise ModelUnavailable(
            f"huggingface_hub is not installed; get it with: {repository.install}"
        )
    from huggingface_hub import constants, snapshot_download

    cache, name = cache_folder(), repository.name
    try:
        cache.mkdir(parents=True, exist_ok=True)
        files = _asked_for(repository, cache, may_download)
        return Path(
            snapshot_download(
                name,
                revision=repository.revision,
                cache_dir=cache,
                allow_patterns=[glob.escape(file) for file in files],
            )
        )
    except ModelUnavailable:
        raise
    # The hub's client, its HTTP library and its transfer backend raise their own errors, which
    # change with every major version; all of them mean that the download failed.
    except Exception as error:
        label = repository.label or name
        message = download_failure(error, constants.ENDPOINT, cache, label, repository.offered)
        raise ModelUnavailable(message) from error


def _asked_for(repository: Repository, cache: Path, may_download: MayDownload) -> Collection[str]:
    """Ask whether to download, and return the names of the files to download."""
    from huggingface_hub import constants, model_info

    # This request fails at once if the hub is unreachable; a download first retries for half a
    # minute.
    info = model_info(
        repository.name, revision=repository.revision, timeout=_SECONDS, files_metadata=True
    )
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    files = repository.files(sorted(sizes))
    here = cache / f"models--{repository.name.replace('/', '--')}" / "snapshots" / str(info.sha)
    missing = [file for file in files if not (here / file).is_file()]
    count = f"{len(missing)} file{'' if len(missing) == 1 else 's'}"
    licence = repository.licence or getattr(info.card_data, "license", None) or "the hub names none"
    sentence = (
        f"{repository.label or repository.name}: {count}, "
        f"{size_named(sum(sizes[file] for file in missing))}, come from "
        f"{constants.ENDPOINT}/{repository.name} into {cache}. Licence: {licence}. "
        "Nothing of yours is sent."
    )
    if missing and not may_download(sentence):
        raise ModelUnavailable(
            f"nothing was downloaded. {sentence} To allow it, answer yes on a terminal or add --yes"
        )
    return files


def size_named(count: int) -> str:
    """A number of bytes in words."""
    if count < 1_000_000:
        return f"{count / 1_000:,.1f} kB"
    if count < 1_000_000_000:
        return f"{count / 1_000_000:,.1f} MB"
    return f"{count / 1_000_000_000:,.2f} GB"


def cache_folder() -> Path:
    """The folder that huggingface_hub uses, from the same variables in the same order."""
    for variable, below in _CACHES:
        if folder := os.environ.get(variable):
            return Path(os.path.expandvars(folder)).expanduser() / below
    return Path.home() / ".cache" / "huggingface" / "hub"


def read_object(file: Path) -> dict[str, object]:
    """The JSON object in a file; empty if the file is missing or broken."""
    parsed = _parse(file)
    return parsed if isinstance(parsed, dict) else {}


def read_list(file: Path) -> list[object]:
    """The JSON array in a file; empty if the file is missing or broken."""
    parsed = _parse(file)
    return parsed if isinstance(parsed, list) else []


def _parse(file: Path) -> object:
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
    """Let transformers log only errors and show no progress bar."""
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


@contextmanager
def loading(what: str, path: Path) -> Iterator[None]:
    """Translate errors while a library loads a model, called ``what`` in messages."""
    try:
        yield
    except ModelUnavailable:
        raise
    # The libraries raise errors of many kinds for files that they do not understand.
    except Exception as error:
        raise ModelUnavailable(
            f"{what} cannot be loaded from {path} ({first_line(error)})"
        ) from error


def first_line(error: Exception) -> str:
    """The first line of an error's message."""
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
