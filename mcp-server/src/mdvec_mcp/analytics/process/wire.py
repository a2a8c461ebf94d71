"""Messages between the server and its query process: JSON objects behind their length."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
_LENGTH = struct.Struct(">I")
MOST_BYTES = 64 * 2**20


class WireClosed(Exception):
    """The other side has gone, or what it says is no message."""


def encoded(message: Message) -> bytes:
    """A message as it goes over the pipe."""
    # Escaped: what a model writes may hold halves of characters, which are no UTF-8.
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return _LENGTH.pack(len(body)) + body


def send(descriptor: int, message: Message) -> None:
    """Write a message whole.

    Raises:
        WireClosed: nobody reads any more.
    """
    rest = memoryview(encoded(message))
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError as error:
        raise WireClosed from error


def receive(read: Callable[[int], bytes]) -> Message:
    """Read a message whole.

    Args:
        read: returns up to so many bytes, and none when the other side has gone.

    Raises:
        WireClosed: it has gone, or what it says is no message.
    """
    (length,) = _LENGTH.unpack(_exactly(_LENGTH.size, read))
    if length > MOST_BYTES:
        raise WireClosed
    try:
        message = json.loads(_exactly(length, read))
    except ValueError as error:
        raise WireClosed from error
    if not isinstance(message, dict):
        raise WireClosed
    return message


def _exactly(count: int, read: Callable[[int], bytes]) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = read(min(count - len(parts), 1 << 20))
        if not part:
            raise WireClosed
        parts += part
    return bytes(parts)
