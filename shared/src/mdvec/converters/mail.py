"""Reads mail: one message with its subject, sender and date, or a mailbox of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart

from mdvec.converters.formats import (
    Converted,
    NotConverted,
    Part,
    bundle,
    part_name,
    with_matter,
)
from mdvec.converters.html import markdown_of_page

_FIRST_LINE = re.compile(rb"^From [^\r\n]*\r?\n", re.MULTILINE)
_MAX_MESSAGES = 50_000
_KEY_CHARS = 8


def convert(data: bytes, file_name: str) -> Converted:
    """A message with properties, or a bundle of them."""
    if file_name.lower().endswith(".mbox"):
        starts = [match.end() for match in _FIRST_LINE.finditer(data)][:_MAX_MESSAGES]
        ends = [*(match.start() for match in _FIRST_LINE.finditer(data)), len(data)][1:]
        messages = [data[start:end] for start, end in zip(starts, ends, strict=False)]
        if not messages:
            raise NotConverted("it is not a mailbox: no line of it begins with 'From '")
        return bundle(file_name, map(_part, messages))
    message = _parsed(data)
    if not message.keys():
        raise NotConverted("it is not a message: it has no head")
    return Converted(_text_of(message))


def _part(data: bytes) -> Part:
    message = _parsed(data)
    key = hashlib.sha256(_said(message, "message-id").encode() or data).hexdigest()[:_KEY_CHARS]
    return Part(part_name(_said(message, "subject"), key), _text_of(message))


def _text_of(message: EmailMessage) -> str:
    sent = message["date"]
    about = {
        "title": _said(message, "subject"),
        "from": _said(message, "from"),
        "to": _said(message, "to"),
        "date": "" if sent is None or sent.datetime is None else f"{sent.datetime:%Y-%m-%d}",
    }
    return with_matter(_body(message) + "\n", about)


def _parsed(data: bytes) -> EmailMessage:
    return message_from_bytes(data, policy=policy.default)


def _said(message: EmailMessage, name: str) -> str:
    return str(message[name] or "")


def _body(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    parts = [] if part is None else [_text(part)]
    return "\n\n".join([*parts, *_attachments(message)])


def _text(part: MIMEPart) -> str:
    try:
        content = part.get_content()
    except (LookupError, ValueError):  # an encoding that does not exist
        payload = part.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    text = str(content).replace("\r\n", "\n")
    return markdown_of_page(text) if part.get_content_subtype() == "html" else text.strip()


def _attachments(message: EmailMessage) -> Iterator[str]:
    names = [name for part in message.iter_attachments() if (name := part.get_filename())]
    if names:
        yield f"Attached: {', '.join(names)}"
