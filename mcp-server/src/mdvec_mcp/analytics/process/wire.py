"""The messages between server and child: JSON objects, each preceded by its length."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from typing import Any

from mdvec.sizes import MEGABYTE

Message = dict[str, Any]
_LENGTH = struct.Struct(">I")
MAX_MESSAGE_BYTES = 64 * MEGABYTE


class WireClosed(Exception):
    """The other side closed the pipe, or sent something that is not a message."""


def encoded(message: Message) -> bytes:
    """The bytes of a message."""
    # Escaped, because a model may write lone surrogates, which UTF-8 cannot encode.
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return _LENGTH.pack(len(body)) + body


def send(descriptor: int, message: Message) -> None:
    """Write a whole message.

    Raises:
        WireClosed: the other side closed the pipe.
    """
    rest = memoryview(encoded(message))
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError as error:
        raise WireClosed from error


def receive(read: Callable[[int], bytes]) -> Message:
    """Read a whole message.

    Args:
        read: returns at most the given number of bytes, and none at the end of the pipe.

    Raises:
        WireClosed: the other side closed the pipe, or sent something that is not a message.
    """
    (length,) = _LENGTH.unpack(_exactly(_LENGTH.size, read))
    if length > MAX_MESSAGE_BYTES:
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
        part = read(min(count - len(parts), MEGABYTE))
        if not part:
            raise WireClosed
        parts += part
    return bytes(parts)
