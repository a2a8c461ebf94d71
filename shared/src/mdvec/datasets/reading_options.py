"""Checks what a user says about reading files: encodings, delimiters, header rows, types."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from mdvec.datasets.core.choices import (
    AUTO,
    COLUMN,
    DELIMITER,
    ENCODING,
    EVERY_FILE,
    HEADER_ROW,
    ReadingChoice,
)
from mdvec.datasets.core.value_types import CHOICES
from mdvec.errors import MdvecError

_TAB = {"tab": "\t", "\\t": "\t"}
_NO_DELIMITERS = "\"'\r\n"


class InvalidReading(MdvecError):
    """A choice of how files are read makes no sense."""

    is_wrong_usage = True


def reading_choices(
    columns: Iterable[str],
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header_row: int | None = None,
    pattern: str | None = None,
) -> tuple[ReadingChoice, ...]:
    """The choices that a user makes; ``columns`` are written as COLUMN=TYPE.

    Raises:
        InvalidReading: a choice makes no sense, or there is none for ``pattern``.
    """
    files = (pattern or EVERY_FILE).strip()
    choices = [ReadingChoice(files, COLUMN, *_column(written)) for written in columns]
    choices += [
        ReadingChoice(files, setting, "", value)
        for setting, value in _others(encoding, delimiter, header_row)
    ]
    if pattern is not None and not choices:
        raise InvalidReading(
            "--for says for which files --read, --encoding, --delimiter and --header-row are; "
            "give one of them"
        )
    return tuple(choices)


def _column(written: str) -> tuple[str, str]:
    name, sign, type_ = written.rpartition("=")
    type_ = type_.strip().lower()
    if not sign or not name.strip() or type_ not in (*CHOICES, AUTO):
        raise InvalidReading(
            f"{written!r} is not COLUMN=TYPE; the types are {', '.join(CHOICES)}, and {AUTO} to "
            "take a choice back"
        )
    return name.strip(), type_


def _others(
    encoding: str | None, delimiter: str | None, header_row: int | None
) -> Iterator[tuple[str, str]]:
    if encoding is not None:
        yield ENCODING, _encoding(encoding)
    if delimiter is not None:
        yield DELIMITER, _delimiter(delimiter)
    if header_row is not None:
        if header_row < 0:
            raise InvalidReading("--header-row is the number of a line, from 1; 0 finds it again")
        yield HEADER_ROW, str(header_row) if header_row else AUTO


def _encoding(name: str) -> str:
    if name.strip().lower() == AUTO:
        return AUTO
    try:
        found = codecs.lookup(name).name
        "a".encode(found)
    except (LookupError, ValueError) as error:
        raise InvalidReading(
            f"{name!r} is not an encoding; name one such as utf-8, cp932, cp1252 or utf-16"
        ) from error
    return "utf-8-sig" if found == "utf-8" else found


def _delimiter(written: str) -> str:
    if written.lower() == AUTO:
        return AUTO
    found = _TAB.get(written.lower(), written)
    if len(found) != 1 or found in _NO_DELIMITERS:
        raise InvalidReading(f"{written!r} is not a delimiter; give one character, or tab")
    return found
