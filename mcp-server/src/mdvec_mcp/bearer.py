"""Reads the bearer token of a shared server."""

from __future__ import annotations

from pathlib import Path

from mdvec.errors import MdvecError

MIN_TOKEN_CHARS = 16


class TokenUnusable(MdvecError):
    """The token is unusable; the message says how to make one, and never contains it."""


def read_token(value: str | None, file: Path | None) -> str | None:
    """The token, given as a value or in a file; None if neither was given.

    Raises:
        TokenUnusable: the file cannot be read, or the token is too short or not printable ASCII.
    """
    if value is None and file is not None:
        try:
            value = file.expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise TokenUnusable(f"the token file {file} cannot be read ({error})") from error
    if value is None:
        return None
    if len(value) < MIN_TOKEN_CHARS or not all("!" <= char <= "~" for char in value):
        raise TokenUnusable(
            f"a token needs at least {MIN_TOKEN_CHARS} ASCII characters without spaces; "
            "create one with: openssl rand -hex 32"
        )
    return value
