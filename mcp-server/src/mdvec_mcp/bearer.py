"""The token that clients of a shared server show."""

from __future__ import annotations

from pathlib import Path

from mdvec.errors import MdvecError

MIN_TOKEN_CHARS = 16


class TokenUnusable(MdvecError):
    """There is no usable token; the message says how to make one, and never what it is."""


def read_token(value: str | None, file: Path | None) -> str | None:
    """The token that was given as such or in a file; None if neither was.

    Raises:
        TokenUnusable: the file cannot be read, or what was given cannot be sent in a header.
    """
    if value is None and file is not None:
        try:
            value = file.expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise TokenUnusable(f"the token's file {file} cannot be read ({error})") from error
    if value is None:
        return None
    if len(value) < MIN_TOKEN_CHARS or not all("!" <= char <= "~" for char in value):
        raise TokenUnusable(
            f"a token has at least {MIN_TOKEN_CHARS} characters, of ASCII and without spaces; "
            "make one with: openssl rand -hex 32"
        )
    return value
