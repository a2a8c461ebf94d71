"""Reads files, and detects the encoding of text."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mdvec.files.problems import UnreadableFile
from mdvec.text import (
    CP1252,
    HAS_NUL,
    UTF_16,
    UnknownEncoding,
    encoding_of,
    is_western,
    marked_encoding,
)

_Blocks = Callable[[], Iterable[bytes]]
_BLOCK = 2**17  # fits the processor's cache together with its text; a megabyte takes twice as long


class UncertainEncoding(UnreadableFile):
    """No encoding, or more than one, fits a file."""


@dataclass(frozen=True, slots=True)
class FileBytes:
    """A file's bytes, and their SHA-256."""

    data: bytes
    content_hash: str


def read_bytes(source: Path, path: str) -> FileBytes:
    """Read a file whole.

    Raises:
        UnreadableFile: the file is gone or cannot be read.
    """
    try:
        data = (source / path).read_bytes()
    except FileNotFoundError as error:
        raise UnreadableFile("it vanished while the import ran", may_pass=True) from error
    except OSError as error:
        raise UnreadableFile.of_error(error) from error
    return FileBytes(data, hashlib.sha256(data).hexdigest())


def decode_text(data: bytes) -> str:
    """The text of a file: UTF-8 with or without BOM, UTF-16 with BOM, cp932, EUC-JP or ISO-2022-JP.

    Line ends are kept; a BOM is not part of the text.

    Raises:
        UnreadableFile: it is not text, or its encoding is uncertain.
    """
    if b"\0" in data and marked_encoding(data) != UTF_16:
        raise UnreadableFile(HAS_NUL)
    return data.decode(_encoding(lambda: (data,)))


def file_encoding(file: Path) -> str:
    """Python's name of a file's encoding, found without holding the file in memory.

    UTF-8 with or without BOM, UTF-16 with BOM, cp932, EUC-JP or ISO-2022-JP.

    Raises:
        UnreadableFile: the file cannot be read, or its encoding is not certain.
    """
    try:
        return _encoding(lambda: _blocks(file))
    except OSError as error:
        raise UnreadableFile.of_error(error) from error


def data_file_encoding(file: Path, chosen: str = "") -> tuple[str, bool]:
    """The encoding of a data file, and whether it is a guess (cp1252, by its letters).

    ``chosen`` is the user's choice, which is returned unchecked.

    Raises:
        UnreadableFile: the file cannot be read, or its encoding is not certain.
    """
    if chosen:
        return chosen, False
    try:
        return file_encoding(file), False
    except UncertainEncoding as error:
        if is_western(lambda: _blocks(file)):
            return CP1252, True
        raise UncertainEncoding(f"{error}, or name its encoding with --encoding") from error


def not_decoded(chosen: str) -> UnreadableFile:
    """The error for undecodable text: the user chose a wrong encoding, or the file changed."""
    if not chosen:
        return UnreadableFile.changed()
    wrong = f"it is not {chosen}, which was chosen for it"
    if chosen in {"utf-16", "utf-32"}:
        wrong += f"; without a mark at its start it may be {chosen}-le or {chosen}-be"
    return UnreadableFile(wrong)


def _encoding(blocks: _Blocks) -> str:
    if marked_encoding(next(iter(blocks()), b"")) == UTF_16:
        _check_utf16(blocks())
        return UTF_16
    try:
        return encoding_of(lambda: _without_nul(blocks()))
    except UnknownEncoding as error:
        raise UncertainEncoding(f"it is {error}; save it as UTF-8") from error


def _check_utf16(blocks: Iterable[bytes]) -> None:
    decoder = codecs.getincrementaldecoder(UTF_16)()
    try:
        for block in blocks:
            if "\0" in decoder.decode(block):
                raise UnreadableFile("it contains NUL characters, so it is not text")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise UnreadableFile("it is damaged UTF-16; save it as UTF-8") from None


def _without_nul(blocks: Iterable[bytes]) -> Iterator[bytes]:
    for block in blocks:
        if b"\0" in block:
            raise UnreadableFile(HAS_NUL)
        yield block


def _blocks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        stream.seek(0)  # a ``/dev/fd`` path shares the position of its descriptor
        while block := stream.read(_BLOCK):
            yield block
