"""Detects the encoding of Japanese text from its bytes, and refuses text if it is not certain.

UTF-8 and ISO-2022-JP have a recognisable byte structure. Shift_JIS (cp932) and EUC-JP do not: many
byte sequences are valid in both, so the plausibility of the decoded text decides. Text that is
plausible in both, or in neither, is refused: its owner can save it as UTF-8, while text stored with
the wrong encoding could not be found.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from itertools import chain, islice

Blocks = Callable[[], Iterable[bytes]]
"""Each call yields a file's bytes from the beginning."""

UTF_8 = "utf-8-sig"
UTF_16 = "utf-16"
CP932 = "cp932"
EUC_JP = "euc_jp"
ISO_2022_JP = "iso2022_jp_ext"
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, UTF_8), (codecs.BOM_UTF16_LE, UTF_16), (codecs.BOM_UTF16_BE, UTF_16),
)  # fmt: skip
HAS_NUL = (
    "it contains NUL bytes, so it is not text; if it is UTF-16 without a BOM, save it as UTF-8"
)
_NONE_OF_THEM = "neither UTF-8 nor cp932 (Shift_JIS)"
_AMBIGUOUS = "in an encoding that cannot be determined (Shift_JIS, EUC-JP or another)"

_JIS_ESCAPE = re.compile(rb"\x1b(?:\$[@AB]|\$[()*+][@-Q]|\([IJ])")
"""Also matches the escapes of Korean and Chinese character sets: such text is refused."""
_NOT_EUC = re.compile(rb"[\x80-\x8d\x90-\xa0\xff]")
"""Bytes that Shift_JIS uses for hiragana, katakana and most kanji, and EUC-JP never uses."""
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_NOT_HALF_WIDTH = re.compile(rb"[\x80-\xa0\xe0-\xff]")
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_NOT_IN_CP932 = re.compile("[\x80\uf8f0-\uf8f3]")
"""Python's characters for the bytes 80, A0 and FD to FF, which cp932 does not define."""

_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_WELL_FORMED = re.compile(
    "[ｦｰ-ﾝ]|(?<=[ｳｶ-ﾄﾊ-ﾎ])ﾞ|(?<=[ﾊ-ﾎ])ﾟ|(?<=[ｦ-ﾟ])ｯ|(?<=[ｷｼﾁﾆﾋﾐﾘﾞﾟ])[ｬｭｮ]|(?<=[ｳｸﾂﾌﾃﾄｼﾁｲﾞ])[ｧｨｩｪｫ]"
)
"""Half-width katakana in a plausible order: small letters and voicing marks follow only letters
that take them."""
_KATAKANA_WORD = re.compile("(?<![A-Za-z])[ｦ-ﾟ]{4,}(?![A-Za-z])")
_KATAKANA_RUN = re.compile("[ｦ-ﾟ]{3,}|(?<![A-Za-zｦ-ﾟ])[ｦ-ﾟ]{2}(?![A-Za-zｦ-ﾟ])")
"""Not one alone, nor two beside a letter: Ørsted would be ﾘrsted, and Zoë in UTF-8 Zoﾃｫ."""

_ASCII = bytes(range(0x80))
_NOT_LONG_LEADS = bytes(each for each in range(0x100) if not 0xE0 <= each <= 0xF4)
"""Bytes that cannot begin a three- or four-byte character in UTF-8."""
_MIN_KANA_SHARE = 1 / 20
_MAX_ODDNESS = 1 / 8
_CLEARLY_ODD = 1 / 3
_MIN_CERTAIN_BYTES = 32
CP1252 = "cp1252"
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_NON_ASCII = re.compile("[^\x00-\x7f]")
_RUN = re.compile("[^\x00-\x7f]{3,}")
_UPPER = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝŒŠŸŽ"
_LOWER = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœšžß"
_PLAUSIBLE = (
    # A letter in a word, and no capital after a small letter.
    f"(?<![a-z{_LOWER}])[{_UPPER}](?=[A-Za-z{_UPPER}{_LOWER}])|(?<=[A-Z{_UPPER}])[{_UPPER}]"
    f"|(?<=[A-Za-z{_UPPER}{_LOWER}'’])[{_LOWER}]|[{_LOWER}](?=[A-Za-z{_LOWER}])"
    # A letter that is a word by itself.
    f"|(?<![^\\W_])[àáâèéêîôöüåæøñ](?![^\\W_])"
    # A sign, which is never within a word.
    "|(?<![^\\W\\d_])[€£¥§°²³ªº«»„“”‚‘–—…•©®™µ¼½¾±×÷¿¡·\xa0](?![€£¥])"
    f"|(?<=[A-Za-z{_UPPER}{_LOWER}])’(?=[A-Za-z{_UPPER}{_LOWER}\\s])|[“„«‘¿¡](?=\\w)"
    "|(?<=[\\w.,!?])[ªº²³](?![^\\W\\d_])|(?<=[\\w.,!?])[”“»°®™…–—\xa0]"
)
"""Compiled where it is first needed: most programs load this module, few need it."""
_LETTER_OR_MONEY = re.compile(f"[{_UPPER}{_LOWER}€£]")


class UnknownEncoding(ValueError):
    """The bytes cannot be decoded.

    The message completes the phrase "it is …"; ``line``, from 1, is where decoding failed.
    """

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line


def marked_encoding(start: bytes) -> str | None:
    """The encoding that a byte order mark at the start of a file declares, or None."""
    return next((name for mark, name in _BYTE_ORDER_MARKS if start.startswith(mark)), None)


def decoded(data: bytes) -> str:
    """Decode bytes in any encoding that ``encoding_of`` detects.

    Raises:
        UnknownEncoding: no encoding fits, or several do.
    """
    return data.decode(encoding_of(lambda: (data,)))


def encoding_of(blocks: Blocks) -> str:
    """The encoding of the bytes, by Python's name: UTF-8, cp932, EUC-JP or ISO-2022-JP.

    The caller must rule out UTF-16 first.

    Raises:
        UnknownEncoding: no encoding fits, or several do.
    """
    if _damaged_line(blocks, UTF_8) is None:
        return _of_seven_bits(blocks) or _of_eight_bits(blocks)
    if _is_damaged_utf8(blocks):
        raise UnknownEncoding(_NONE_OF_THEM, _damaged_line(blocks, UTF_8) or 1)
    damaged = _damaged_line(blocks, CP932)
    if any(_NOT_EUC.search(block) for block in blocks()):
        if damaged is not None:
            raise UnknownEncoding(_NONE_OF_THEM, damaged)
        return CP932
    return _by_sense(blocks, damaged)


def _of_seven_bits(blocks: Blocks) -> str | None:
    """UTF-8 if all bytes are ASCII, or ISO-2022-JP if they have its escapes; else None."""
    if not all(block.isascii() for block in blocks()):
        return None
    if not _has_jis_escape(blocks):
        return UTF_8
    damaged = _damaged_line(blocks, ISO_2022_JP)
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


def _of_eight_bits(blocks: Blocks) -> str:
    """UTF-8, if the bytes are not just as plausible as half-width katakana in Shift_JIS (ý: ﾃｽ).

    Raises:
        UnknownEncoding: both are plausible.
    """
    if any(_NOT_HALF_WIDTH.search(block) for block in blocks()):
        return UTF_8
    if _damaged_line(blocks, CP932) is None:
        has_words = any(_KATAKANA_WORD.search(text) for text in codecs.iterdecode(blocks(), CP932))
        if has_words and _oddness(codecs.iterdecode(blocks(), CP932)) <= _MAX_ODDNESS:
            raise UnknownEncoding(_AMBIGUOUS, 1)
    return UTF_8


def _is_damaged_utf8(blocks: Blocks) -> bool:
    """Whether the bytes are mostly UTF-8, and would be garbled if read as Shift_JIS."""
    beyond = possible = whole = 0
    for block in blocks():
        beyond += len(block.translate(None, _ASCII))
        possible += len(block.translate(None, _NOT_LONG_LEADS))
    if 4 * 4 * possible < 3 * beyond:  # too few lead bytes, as in nearly all Shift_JIS
        return False
    for block in blocks():
        whole += sum(len(sequence) for sequence in _UTF8.findall(block) if len(sequence) > 2)
    return 4 * whole >= 3 * beyond


def _by_sense(blocks: Blocks, damaged: int | None) -> str:
    """Shift_JIS or EUC-JP for bytes that could be either: the one that gives plausible text."""
    odd = 1.0 if damaged is not None else _oddness(codecs.iterdecode(blocks(), CP932))
    euc_damaged = _damaged_line(blocks, EUC_JP)
    is_odd = euc_damaged is None and odd > _CLEARLY_ODD
    if is_odd and _has_kana(codecs.iterdecode(blocks(), EUC_JP)):
        return EUC_JP
    if odd <= _MAX_ODDNESS and not any(
        _KATAKANA_RUN.search(text) for text in codecs.iterdecode(blocks(), CP932)
    ):
        raise UnknownEncoding(_AMBIGUOUS, 1)
    if euc_damaged is not None and odd <= _MAX_ODDNESS:
        return CP932
    beyond_ascii = sum(len(_BEYOND_ASCII.findall(block)) for block in blocks())
    if odd == 0 and beyond_ascii >= _MIN_CERTAIN_BYTES:
        return CP932  # EUC-JP text of this length is never well-formed half-width katakana
    if damaged is not None and euc_damaged is not None:
        raise UnknownEncoding(_NONE_OF_THEM, damaged)
    raise UnknownEncoding(_AMBIGUOUS, 1)


def _has_kana(texts: Iterable[str]) -> bool:
    """Whether a text has enough kana to be Japanese rather than Chinese."""
    beyond, kana = _counts(texts, _KANA)
    return kana >= max(beyond * _MIN_KANA_SHARE, 1)


def _oddness(texts: Iterable[str]) -> float:
    """The share of characters beyond ASCII that are not well-formed half-width katakana."""
    beyond, well_formed = _counts(texts, _WELL_FORMED)
    return 1 - well_formed / beyond if beyond else 1.0


def _counts(texts: Iterable[str], sign: re.Pattern[str]) -> tuple[int, int]:
    """The number of characters beyond ASCII, and of matches of ``sign``."""
    beyond = signs = 0
    for text in texts:
        beyond += sum(not char.isascii() for char in text)
        signs += len(sign.findall(text))
    return beyond, signs


def _damaged_line(blocks: Blocks, encoding: str) -> int | None:
    """The first line that cannot be decoded, or None if all can."""
    decoder = codecs.getincrementaldecoder(encoding)()
    for number, block in enumerate(chain(blocks(), [b""])):
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            return _last_line(blocks, number) - error.object[error.start :].count(b"\n")
        undefined = _NOT_IN_CP932.search(text) if encoding == CP932 else None
        if undefined is not None:
            return _last_line(blocks, number) - text.count("\n", undefined.start())
    # Python does not report an incomplete byte order mark.
    unfinished, _ = decoder.getstate()
    return _last_line(blocks, number) if unfinished else None


def _last_line(blocks: Blocks, number: int) -> int:
    """The line in which a block ends; counted only for damaged texts, as it takes time."""
    return 1 + sum(block.count(b"\n") for block in islice(blocks(), number + 1))


def is_western(blocks: Blocks) -> bool:
    """Whether every character beyond ASCII is plausible in cp1252, and one is evidence for it."""
    decoder = codecs.getincrementaldecoder(CP1252)()
    has_evidence = False
    for block in blocks():
        if _UNDEFINED.search(block) or b"\0" in block:
            return False
        text = decoder.decode(block)
        if _RUN.search(text) or len(re.findall(_PLAUSIBLE, text)) != len(_NON_ASCII.findall(text)):
            return False
        has_evidence = has_evidence or _LETTER_OR_MONEY.search(text) is not None
    return has_evidence
