"""In which encoding a file's text is, found without holding the file in memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mdvec.files.scan import UnreadableFile, why
from mdvec.text import encoding as encodings

_BLOCK = 2**20


def encoding_of(file: Path) -> str:
    """The encoding of a whole file.

    UTF-8 with or without BOM, UTF-16 with BOM, cp932, EUC-JP or ISO-2022-JP.

    Raises:
        UnreadableFile: it cannot be read, or is no text that is surely in one of these.
    """
    try:
        with _from_begin(file) as stream:
            start = stream.read(2)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return _utf16(file)
        return encodings.encoding_of(lambda: _text_blocks(file))
    except OSError as error:
        raise UnreadableFile(f"it cannot be read ({why(error)})") from error
    except encodings.UnknownEncoding as error:
        raise UnreadableFile(f"it is {error}; save it as UTF-8") from error


def _utf16(file: Path) -> str:
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        for block in _blocks(file):
            if "\0" in decoder.decode(block):
                raise _has_nul()
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise UnreadableFile("it is damaged UTF-16; save it as UTF-8") from None
    return "utf-16"


def _text_blocks(file: Path) -> Iterator[bytes]:
    for block in _blocks(file):
        if b"\0" in block:
            raise _has_nul()
        yield block


def _blocks(file: Path) -> Iterator[bytes]:
    with _from_begin(file) as stream:
        while block := stream.read(_BLOCK):
            yield block


def _from_begin(file: Path) -> BinaryIO:
    """The file's bytes; a path of a descriptor may be somewhere in it."""
    stream = file.open("rb")
    stream.seek(0)
    return stream


def _has_nul() -> UnreadableFile:
    return UnreadableFile("it holds NUL characters, so it is no text")
