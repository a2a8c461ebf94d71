"""Guesses whether bytes are Western European text (cp1252, which holds Latin-1).

Its bytes have no structure, so only the resulting letters can be judged. In Western text, letters
beyond ASCII stand alone among ASCII letters; in the encodings of other scripts they stand in runs.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable

CP1252 = "cp1252"
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")
_RUN = re.compile("[^\x00-\x7f]{3,}")
_UPPER = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝŒŠŸŽ"
_LOWER = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœšžß"
_PLAUSIBLE = re.compile(
    # A letter in a word, and no capital after a small letter.
    f"(?<![a-z{_LOWER}])[{_UPPER}](?=[A-Za-z{_UPPER}{_LOWER}])|(?<=[A-Z{_UPPER}])[{_UPPER}]"
    f"|(?<=[A-Za-z{_UPPER}{_LOWER}'’])[{_LOWER}]|[{_LOWER}](?=[A-Za-z{_LOWER}])"
    # One that is a word.
    f"|(?<![^\\W_])[àáâèéêîôöüåæøñ](?![^\\W_])"
    # A sign, which stands within no word.
    "|(?<![^\\W\\d_])[€£¥§°²³ªº«»„“”‚‘–—…•©®™µ¼½¾±×÷¿¡·\xa0](?![€£¥])"
    f"|(?<=[A-Za-z{_UPPER}{_LOWER}])’(?=[A-Za-z{_UPPER}{_LOWER}\\s])|[“„«‘¿¡](?=\\w)"
    "|(?<=[\\w.,!?])[ªº²³](?![^\\W\\d_])|(?<=[\\w.,!?])[”“»°®™…–—\xa0]"
)
_LETTER_OR_MONEY = re.compile(f"[{_UPPER}{_LOWER}€£]")


def is_western(blocks: Callable[[], Iterable[bytes]]) -> bool:
    """Whether every character beyond ASCII is plausible in cp1252, and one is evidence for it."""
    decoder = codecs.getincrementaldecoder(CP1252)()
    has_evidence = False
    for block in blocks():
        if _UNDEFINED.search(block) or b"\0" in block:
            return False
        text = decoder.decode(block)
        if _RUN.search(text) or len(_PLAUSIBLE.findall(text)) != len(_BEYOND_ASCII.findall(text)):
            return False
        has_evidence = has_evidence or _LETTER_OR_MONEY.search(text) is not None
    return has_evidence
