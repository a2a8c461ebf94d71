"""In which encoding a file's text is, found without holding the file in memory."""

from __future__ import annotations

import codecs
from pathlib import Path

from mdvec.interfaces.filesystem.scan import NO_CP932, UnreadableFile, why

_BLOCK = 2**20


def encoding_of(file: Path) -> str:
    """The encoding of a whole file: UTF-8 with or without BOM, UTF-16 with BOM, else strict cp932.

    Raises:
        UnreadableFile: it cannot be read, or is no text in these encodings.
    """
    try:
        with file.open("rb") as stream:
            start = stream.read(2)
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            tried = ["utf-16"]
        else:
            tried = ["utf-8-sig", "cp932"]
        fitting = next((encoding for encoding in tried if _fits(file, encoding)), None)
    except OSError as error:
        raise UnreadableFile(f"it cannot be read ({why(error)})") from error
    if fitting is None:
        raise UnreadableFile("it is neither UTF-8 nor cp932 (Shift_JIS); save it as UTF-8")
    return fitting


def _fits(file: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    with file.open("rb") as stream:
        while True:
            block = stream.read(_BLOCK)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError:
                return False
            if "\0" in text:
                raise UnreadableFile("it holds NUL characters, so it is no text")
            if encoding == "cp932" and NO_CP932.search(text):
                return False
            if not block:
                return True
