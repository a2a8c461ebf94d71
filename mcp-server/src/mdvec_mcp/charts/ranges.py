"""Byte ranges of a resource, as an HTTP request asks for them (RFC 9110, section 14)."""

from __future__ import annotations

import re

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})", re.IGNORECASE)


def part_of(header: str, length: int) -> range | None:
    """The bytes that a Range header asks for, of ``length``; an empty range if there are none.

    None is the whole: of several ranges, of other units, and of what is not a range. The standard
    allows that, and no reader of pictures asks for several.
    """
    asked = _RANGE.fullmatch(header.strip())
    if asked is None or asked[1] == asked[2] == "":
        return None
    if not asked[1]:
        return range(max(length - int(asked[2]), 0), length)
    first, last = int(asked[1]), int(asked[2] or length)
    if asked[2] and last < first:
        return None
    return range(first, min(last + 1, length)) if first < length else range(0)
