"""Reads mail: one message with its subject, sender and date, or a mailbox of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart

from mdvec.converters.formats import Converted, NotConverted, joined_pages
from mdvec.converters.html import markdown_of_page, with_matter

_FIRST_LINE = re.compile(rb"^From [^\r\n]*\r?\n", re.MULTILINE)
_MAX_MESSAGES = 50_000


def convert(data: bytes, file_name: str) -> Converted:
    """A message with properties, or the messages of a mailbox, each on a page."""
    if file_name.lower().endswith(".mbox"):
        starts = [match.end() for match in _FIRST_LINE.finditer(data)][:_MAX_MESSAGES]
        ends = [*(match.start() for match in _FIRST_LINE.finditer(data)), len(data)][1:]
        messages = [_parsed(data[start:end]) for start, end in zip(starts, ends, strict=False)]
        if not messages:
            raise NotConverted("it is not a mailbox: no line of it begins with 'From '")
        return Converted(joined_pages([_as_page(message) for message in messages]))
    message = _parsed(data)
    if not message.keys():
        raise NotConverted("it is not a message: it has no head")
    sent = message["date"]
    about = {
        "title": _said(message, "subject"),
        "from": _said(message, "from"),
        "to": _said(message, "to"),
        "date": "" if sent is None or sent.datetime is None else f"{sent.datetime:%Y-%m-%d}",
    }
    return Converted(with_matter(_body(message) + "\n", about))


def _parsed(data: bytes) -> EmailMessage:
    return message_from_bytes(data, policy=policy.default)


def _said(message: EmailMessage, name: str) -> str:
    return str(message[name] or "")


def _as_page(message: EmailMessage) -> str:
    head = ", ".join(filter(None, (_said(message, "from"), _said(message, "date"))))
    return f"# {' '.join(_said(message, 'subject').split()) or 'No subject'}\n\n{head}\n\n" + (
        _body(message)
    )


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
