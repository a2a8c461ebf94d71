"""In which encoding Japanese text is: told from its bytes, or refused, never guessed wrong.

UTF-8 and ISO-2022-JP show by their form. Shift_JIS and EUC-JP do not: bytes of the one are often
bytes of the other, and then only what they say can decide. A text that makes sense in both, or in
neither, is refused: somebody can save it anew, but nobody can find what was stored as nonsense.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator

Blocks = Callable[[], Iterable[bytes]]
"""A file's bytes from its beginning, each time it is called; without the mark of UTF-16."""

ISO_2022_JP = "iso2022_jp_ext"
EUC_JP = "euc_jp"
_NEITHER = "neither UTF-8 nor cp932 (Shift_JIS)"
_EITHER = "in an encoding that cannot be told (Shift_JIS, EUC-JP or another)"

_JIS_ESCAPE = re.compile(rb"\x1b(?:\$[@AB]|\$[()*+][@-Q]|\([IJ])")
"""Also those that begin the Korean and Chinese sets of ISO 2022: text with them is refused."""
_NOT_EUC = re.compile(rb"[\x80-\x8d\x90-\xa0\xff]")
"""Bytes that Shift_JIS needs for hiragana, katakana and most kanji; EUC encodings have none."""
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_NOT_HALF_WIDTH = re.compile(rb"[\x80-\xa0\xe0-\xff]")
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_NO_CP932 = re.compile("[\x80\uf8f0-\uf8f3]")
"""What Python makes of the bytes 80, A0 and FD to FF, which cp932 does not have."""

_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_FINE = re.compile(
    "[ｦｰ-ﾝ]|(?<=[ｳｶ-ﾄﾊ-ﾎ])ﾞ|(?<=[ﾊ-ﾎ])ﾟ|(?<=[ｦ-ﾟ])ｯ|(?<=[ｷｼﾁﾆﾋﾐﾘﾞﾟ])[ｬｭｮ]|(?<=[ｳｸﾂﾌﾃﾄｼﾁｲﾞ])[ｧｨｩｪｫ]"
)
"""Half-width katakana as somebody would write it: small letters and marks of voicing stand behind
letters that take them."""
_STANDS_ALONE = re.compile("(?<![A-Za-z])[ｦ-ﾟ]{4,}(?![A-Za-z])")

_LEAST_KANA = 1 / 20
_ASCII = bytes(range(0x80))
_BEGINS_NOTHING_LONG = bytes(each for each in range(0x100) if not 0xE0 <= each <= 0xF4)
"""Bytes that begin no character of three or four bytes in UTF-8."""
_MOST_ODD = 1 / 8
_CLEARLY_ODD = 1 / 3
_LONG = 32


class UnknownEncoding(ValueError):
    """What is wrong with the bytes, to stand behind "it is"; ``line`` is where, from 1."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line


def encoding_of(blocks: Blocks) -> str:
    """The encoding of bytes that are not UTF-16, by the name that Python has for it.

    One of utf-8-sig, cp932, EUC-JP and ISO-2022-JP, in which all of the bytes can be decoded.

    Raises:
        UnknownEncoding: they are in none of these, or could be in two.
    """
    if _damage(blocks, "utf-8-sig") is None:
        return _seven_bits(blocks) or _eight_bits(blocks)
    if _is_damaged_utf8(blocks):
        raise UnknownEncoding(_NEITHER, _damage(blocks, "utf-8-sig") or 1)
    damaged = _damage(blocks, "cp932")
    if any(_NOT_EUC.search(block) for block in blocks()):
        if damaged is not None:
            raise UnknownEncoding(_NEITHER, damaged)
        return "cp932"
    return _by_sense(blocks, damaged)


def _seven_bits(blocks: Blocks) -> str | None:
    """What it is if it has no byte beyond ASCII: ISO-2022-JP says so by its escapes."""
    if not all(block.isascii() for block in blocks()):
        return None
    if not _has_jis_escape(blocks):
        return "utf-8-sig"
    damaged = _damage(blocks, ISO_2022_JP)
    if damaged is not None:
        raise UnknownEncoding("in ISO 2022 with characters that ISO-2022-JP does not have", damaged)
    return ISO_2022_JP


def _has_jis_escape(blocks: Blocks) -> bool:
    before = b""
    for block in blocks():
        if _JIS_ESCAPE.search(before + block):
            return True
        before = (before + block)[-3:]
    return False


def _eight_bits(blocks: Blocks) -> str:
    """UTF-8, unless it is as well half-width katakana of Shift_JIS, as ﾃｽ and ý are one."""
    if any(_NOT_HALF_WIDTH.search(block) for block in blocks()):
        return "utf-8-sig"
    if _damage(blocks, "cp932") is None:
        alone = any(_STANDS_ALONE.search(text) for text in _decoded(blocks, "cp932"))
        if alone and _oddness(_decoded(blocks, "cp932")) <= _MOST_ODD:
            raise UnknownEncoding(_EITHER, 1)
    return "utf-8-sig"


def _is_damaged_utf8(blocks: Blocks) -> bool:
    """Whether nearly all is UTF-8; in Shift_JIS it would be garbled."""
    beyond = possible = whole = 0
    for block in blocks():
        beyond += len(block.translate(None, _ASCII))
        possible += len(block.translate(None, _BEGINS_NOTHING_LONG))
    if 4 * 4 * possible < 3 * beyond:  # as in nearly all Shift_JIS: there are not even beginnings
        return False
    for block in blocks():
        whole += sum(len(found) for found in _UTF8.findall(block) if len(found) > 2)
    return 4 * whole >= 3 * beyond


def _by_sense(blocks: Blocks, damaged: int | None) -> str:
    """Shift_JIS or EUC-JP, where the bytes alone do not tell: whichever makes sense alone."""
    odd = 1.0 if damaged is not None else _oddness(_decoded(blocks, "cp932"))
    euc_damaged = _damage(blocks, EUC_JP)
    if euc_damaged is None and odd > _CLEARLY_ODD and _has_kana(_decoded(blocks, EUC_JP)):
        return EUC_JP
    if euc_damaged is not None and odd <= _MOST_ODD:
        return "cp932"
    if odd == 0 and sum(len(_BEYOND_ASCII.findall(block)) for block in blocks()) >= _LONG:
        return "cp932"  # so many kanji are never all half-width katakana in good order as well
    if damaged is not None and euc_damaged is not None:
        raise UnknownEncoding(_NEITHER, damaged)
    raise UnknownEncoding(_EITHER, 1)


def _has_kana(texts: Iterable[str]) -> bool:
    """Whether a text has as much hiragana or katakana as Japanese has, and Chinese has not."""
    beyond = kana = 0
    for text in texts:
        beyond += sum(not char.isascii() for char in text)
        kana += len(_KANA.findall(text))
    return kana >= max(beyond * _LEAST_KANA, 1)


def _oddness(texts: Iterable[str]) -> float:
    """Which share of what is beyond ASCII is not half-width katakana in good order."""
    beyond = fine = 0
    for text in texts:
        beyond += sum(not char.isascii() for char in text)
        fine += len(_FINE.findall(text))
    return 1 - fine / beyond if beyond else 1.0


def _damage(blocks: Blocks, encoding: str) -> int | None:
    """The line at which bytes are not of an encoding; None when all are."""
    line = 1
    decoder = codecs.getincrementaldecoder(encoding)()
    for block, final in _with_end(blocks()):
        try:
            text = decoder.decode(block, final=final)
        except UnicodeDecodeError as error:
            return line + error.object[: error.start].count(b"\n")
        odd = _NO_CP932.search(text) if encoding == "cp932" else None
        if odd is not None:
            return line + text.count("\n", 0, odd.start())
        line += text.count("\n")
    return None


def _decoded(blocks: Blocks, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    return (decoder.decode(block, final=final) for block, final in _with_end(blocks()))


def _with_end(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    for block in blocks:
        yield block, False
    yield b"", True
