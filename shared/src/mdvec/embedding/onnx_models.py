"""Models for onnxruntime: the files they need, where these are, and how to load them.

Nothing heavy is imported, since lists of models call this for every model.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mdvec.embedding import backends
from mdvec.embedding.backends.hub import MayDownload, Repository, fetch, is_folder, snapshot
from mdvec.embedding.backends.model_files import Pooling, pooling_of, prefixes_known_of, prompts_of
from mdvec.embedding.cards import CARDS, INSTALL_ONNX, ModelCard, OnnxSource, model_of
from mdvec.embedding.embedder import Embedder, ModelUnavailable
from mdvec.embedding.options import DEFAULT_OPTIONS, BackendOptions, OnnxOptions

_RERANKERS = {"hotchpotch/japanese-reranker-xsmall-v2": ("onnx/model_qint8_avx2.onnx",)}
"""The 8-bit files of rerankers that have several, from their pages on the hub (MIT)."""
_USUAL = ("model.onnx", "onnx/model.onnx")
_TOKENIZER = "tokenizer.json"
_MODULE_FOLDERS = ("", "onnx", "0_StaticEmbedding", "1_Pooling")
_PACKAGES = ("onnxruntime", "tokenizers")
_SETTINGS = {
    "config.json", "config_sentence_transformers.json", "modules.json",
    "sentence_bert_config.json", "tokenizer_config.json",
}  # fmt: skip


def place_of(name: str, options: BackendOptions) -> OnnxPlace:
    """Where a model is, or would be downloaded to."""
    model, chosen, source = model_of(name), _options_for(name, options), known_source(name)
    known = _RERANKERS.get(model, ()) if source is None else source.files
    files = (chosen.file,) if chosen.file else known
    where = model if source is None else source.repository
    return OnnxPlace(where, files, must_be=bool(chosen.file))


def load(card: ModelCard, options: BackendOptions) -> Embedder:
    """Load a model.

    Raises:
        ModelUnavailable: a package or the model is missing, or its files are of an unsupported
            kind.
    """
    files = place_of(card.name, options).located()
    chosen = _options_for(card.name, options)
    pooling = Pooling(chosen.pooling) if chosen.pooling else pooling_of(files.folder)
    prefixes = _prefixes(card.name, files.folder, chosen)
    return Embedder(backends.OnnxBackend(card, files, prefixes, pooling, chosen.truncate_dim))


def known_source(name: str) -> OnnxSource | None:
    """The catalogue's entry for a model, found by its name or that of its repository."""
    return next(
        (
            card.onnx
            for card in CARDS.values()
            if card.onnx is not None
            and (card.name == name or card.onnx.repository == model_of(name))
        ),
        None,
    )


def _options_for(name: str, options: BackendOptions) -> OnnxOptions:
    """The settings in ``[model.onnx]``, which apply only to models outside the catalogue."""
    return DEFAULT_OPTIONS.onnx if name in CARDS else options.onnx


def _prefixes(name: str, folder: Path, chosen: OnnxOptions) -> tuple[str, str]:
    """The prefixes of questions and passages: configured, in the catalogue, or the model's own."""
    source = known_source(name)
    known = source.prefixes if source is not None else prefixes_known_of(model_of(name))
    query, document = prompts_of(folder) if known is None else known
    return (
        query if chosen.query_prefix is None else chosen.query_prefix,
        document if chosen.document_prefix is None else chosen.document_prefix,
    )


class Lacking(ModelUnavailable):
    """A model lacks something; the message says what, in a few words."""


@dataclass(frozen=True, slots=True)
class OnnxFiles:
    """A model's folder, its ONNX file and its tokenizer."""

    folder: Path
    model: Path
    tokenizer: Path

    @property
    def used(self) -> list[Path]:
        """The files that determine a text's vector."""
        model = PurePosixPath(self.model.relative_to(self.folder).as_posix())
        data_files = [
            file
            for file in self.model.parent.iterdir()
            if _is_part_of(model.with_name(file.name), model)
        ]
        settings = [
            file
            for name in _MODULE_FOLDERS
            for file in (self.folder / name).glob("*.json")
            if file.name in _SETTINGS
        ]
        return [self.model, self.tokenizer, *data_files, *settings]


@dataclass(frozen=True, slots=True)
class OnnxPlace:
    """Where a model should be: a folder or repository, and its ONNX files, the preferred first.

    With ``must_be``, the user named the file, and no other file is used.
    """

    model: str
    files: tuple[str, ...] = ()
    must_be: bool = False

    def chosen(self, names: Sequence[str]) -> str:
        """The ONNX file to use among these names.

        Raises:
            Lacking: there is no ONNX file, or there are several without a usual name.
        """
        there = [name for name in names if name.endswith(".onnx")]
        wanted = self.files if self.must_be else (*self.files, *_USUAL)
        for name in wanted:
            if name in there:
                return name
        if self.must_be:
            raise Lacking(f"it has no file {self.files[0]}")
        if len(there) == 1:
            return there[0]
        if there:
            raise Lacking(
                f"it has several ONNX files ({', '.join(there)}); name one in [model.onnx] file"
            )
        raise Lacking("it has no ONNX file")

    def needed(self, names: Sequence[str]) -> list[str]:
        """The files to download: one ONNX file with its data, the tokenizer, and the settings."""
        model = PurePosixPath(self.chosen(names))
        tokenizer = next((name for name in self._tokenizers(model) if name in names), None)
        if tokenizer is None:
            raise Lacking(f"it has no {_TOKENIZER}")
        return [
            name
            for name in names
            for path in [PurePosixPath(name)]
            if name == tokenizer
            or (path.name in _SETTINGS and _folder(path) in _MODULE_FOLDERS)
            or _is_part_of(path, model)
        ]

    def located(self) -> OnnxFiles:
        """The files on this machine.

        Raises:
            Lacking: something is missing; the message says what.
        """
        for package in _PACKAGES:
            if importlib.util.find_spec(package) is None:
                how = (
                    f": {INSTALL_ONNX}" if is_folder(self.model) else ""
                )  # otherwise its card names the command
                raise Lacking(f"{package} is not installed{how}")
        folder = Path(self.model) if is_folder(self.model) else snapshot(self.model)
        if folder is None or not folder.is_dir():
            raise Lacking(
                "there is no such folder"
                if is_folder(self.model)
                else "it is not in the local model cache"
            )
        names = [
            file.relative_to(folder).as_posix()
            for pattern in ("*.onnx", "onnx/*.onnx")
            for file in sorted(folder.glob(pattern))
            if file.is_file()  # a link into the cache may be dangling
        ]
        model = PurePosixPath(self.chosen(names))
        for name in self._tokenizers(model):
            if (folder / name).is_file():
                return OnnxFiles(folder, folder / model, folder / name)
        raise Lacking(f"it has no {_TOKENIZER}")

    def missing(self) -> str | None:
        """Why the model cannot be loaded, in a few words, or None if its files are here."""
        try:
            self.located()
        except Lacking as error:
            return str(error)
        return None

    def pull(self, may_download: MayDownload, label: str, licence: str) -> Path:
        """Download the model's missing files, if the user allows it; returns its folder.

        ``licence`` replaces the one on the hub, unless it is "".

        Raises:
            ModelUnavailable: it is not allowed, or something is missing.
        """
        try:
            if not is_folder(self.model):
                wanted = Repository(self.model, self.needed, INSTALL_ONNX, licence, None, label)
                fetch(wanted, may_download)
            return self.located().folder
        except Lacking as error:
            raise ModelUnavailable(f"the model {label!r} cannot be used: {error}") from error

    def _tokenizers(self, model: PurePosixPath) -> list[str]:
        folders = ("", _folder(model), "0_StaticEmbedding")
        return [(PurePosixPath(folder) / _TOKENIZER).as_posix() for folder in folders]


def _folder(path: PurePosixPath) -> str:
    """The folder of a path; "" for the model's own folder."""
    return "" if path.parent == PurePosixPath() else path.parent.as_posix()


def _is_part_of(path: PurePosixPath, model: PurePosixPath) -> bool:
    """Whether a file is the ONNX file, or holds its external data.

    Files of large constants may have any name; the known ones have no ending.
    """
    if path.parent != model.parent:
        return False
    is_constant = path.parent == PurePosixPath("onnx") and not path.suffix
    return (
        is_constant or path == model or path.name.startswith((f"{model.name}_", f"{model.name}."))
    )
