"""Reads the bearer token of a shared server, from a file that only its owner can open."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

from mdvec.errors import MdvecError

MIN_TOKEN_CHARS = 16
_GROUP_AND_OTHERS = 0o077


class TokenUnusable(MdvecError):
    """The token is unusable; the message says how to make one, and never contains it."""


def read_token(value: str | None, file: Path | None) -> str | None:
    """The token, given as a value or in a file; None if neither was given.

    Raises:
        TokenUnusable: the file cannot be read or other users can open it, or the token is too
            short or not printable ASCII.
    """
    if value is None and file is not None:
        value = _content(file)
    if value is None:
        return None
    if len(value) < MIN_TOKEN_CHARS or not all("!" <= char <= "~" for char in value):
        raise TokenUnusable(
            f"a token needs at least {MIN_TOKEN_CHARS} ASCII characters without spaces; "
            "create one with: openssl rand -hex 32"
        )
    return value


def _content(file: Path) -> str:
    try:
        with file.expanduser().open(encoding="utf-8") as stream:
            mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
            if os.name == "posix" and mode & _GROUP_AND_OTHERS:
                raise TokenUnusable(
                    f"other users can open the token file {file} ({mode:04o}); make it yours "
                    f"alone with: chmod 600 {shlex.quote(str(file.expanduser()))}"
                )
            return stream.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise TokenUnusable(f"the token file {file} cannot be read ({error})") from error
