"""The key of the local page: a private file beside the database, and one-time codes made with it.

Whoever can read the key can read the database too, so the key adds no weakness.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mdvec.errors import MdvecError

CODE_SECONDS = 120
"""How long a one-time address can be opened."""
_KEY_BYTES = 32
_PRIVATE = 0o600


class PageKeyUnusable(MdvecError):
    """The file of the key cannot be read or written; the message says which."""


@dataclass(frozen=True, slots=True)
class PageKey:
    """The key with which codes, cookies and tokens of the page are signed."""

    secret: bytes

    @property
    def id(self) -> str:
        """Tells keys apart, and so databases; it reveals nothing about the key."""
        return hashlib.sha256(b"id" + self.secret).hexdigest()[:16]

    def sign(self, purpose: str, text: str) -> str:
        """The signature of a text for a purpose, as hex digits."""
        return hmac.new(self.secret, f"{purpose}\0{text}".encode(), "sha256").hexdigest()

    def is_signed(self, purpose: str, text: str, signature: str) -> bool:
        """Whether the signature is that of the text for this purpose."""
        expected = self.sign(purpose, text).encode()
        return hmac.compare_digest(expected, signature.encode(errors="replace"))

    def one_time_code(self) -> str:
        """A new code, which the server accepts once within ``CODE_SECONDS``."""
        text = f"{secrets.token_hex(16)}.{time.time_ns()}"
        return f"{text}.{self.sign('code', text)}"

    def made_at(self, code: str) -> int | None:
        """When a code was made, in nanoseconds since 1970; None if it was not made with this key.

        The caller checks that it is new and was not used before.
        """
        text, _, signature = code.rpartition(".")
        if not self.is_signed("code", text, signature):
            return None
        return int(text.rpartition(".")[2])


def page_key(database: Path) -> PageKey:
    """The key of a database's page; it is made when it is first needed.

    Raises:
        PageKeyUnusable: its file cannot be read or written.
    """
    file = Path(f"{database}-page.key")
    try:
        with suppress(FileExistsError):
            _make(file)
        secret = bytes.fromhex(file.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise PageKeyUnusable(
            f"the key of the page, {file}, cannot be used ({error}); delete it, and check that its "
            "folder can be written"
        ) from error
    if len(secret) < _KEY_BYTES:
        raise PageKeyUnusable(f"the key of the page, {file}, is damaged; delete it")
    return PageKey(secret)


def _make(file: Path) -> None:
    """Write a new key; as the file appears whole, another process never reads half of it."""
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w") as written:  # noqa: PTH123
        written.write(secrets.token_hex(_KEY_BYTES))
    try:
        os.link(new, file)
    finally:
        new.unlink()
