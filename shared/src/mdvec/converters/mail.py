"""Reads mail: one message with its subject, sender and date, or a mailbox of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from email import message_from_bytes, policy
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import EmailMessage, MIMEPart

from mdvec.converters.formats import Converted, NotConverted, Part, bundle, part_name, with_matter
from mdvec.converters.html import markdown_of_page
from mdvec.text import UnknownEncoding, counted, decoded

_FIRST_LINE = re.compile(rb"^From [^\r\n]*\r?\n", re.MULTILINE)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_FOLD = re.compile(r"\r?\n(?=[ \t])")
_JIS_PAIRS = re.compile(rb"\x1b\$[@B]([\x21-\x7e]*)")
_JIS_END = re.compile(rb"\x1b\([BJ]")
_MAX_MESSAGES = 50_000
_KEY_CHARS = 8
_MAX_HEAD = 10_000
"""How much of a header line is read: decoding takes quadratic time."""
_READ = ("text/plain", "text/html")
_MAX_DEPTH = 5
"""The deepest level of forwarded messages that is read."""


def convert(
    data: bytes, file_name: str, on_page: Callable[[int, int], None] = lambda _, __: None
) -> Converted:
    """A message with properties, or a bundle of messages; ``on_page`` gets each one's number."""
    if file_name.lower().endswith(".mbox"):
        firsts = list(_FIRST_LINE.finditer(data))
        count = min(len(firsts), _MAX_MESSAGES)
        if not count:
            raise NotConverted("it is not a mailbox: no line of it begins with 'From '")
        note = f"{counted(len(firsts) - count, 'message')} after the first {count:,} left out"
        return bundle(
            file_name, _messages(data, firsts, count, on_page), (note,) * (len(firsts) > count)
        )
    message = _parse(data)
    if not message.keys():
        raise NotConverted("it is not a message: it has no head")
    return Converted(_text_of(message))


def _messages(
    data: bytes, firsts: list[re.Match[bytes]], count: int, on_page: Callable[[int, int], None]
) -> Iterator[Part]:
    """The first messages of a mailbox, each after its line that begins with "From "."""
    ends = [*(first.start() for first in firsts[1:]), len(data)]
    for number, (first, end) in enumerate(zip(firsts[:count], ends, strict=False), 1):
        yield _part(_QUOTED_FROM.sub(rb"\1", data[first.end() : end]))
        on_page(number, count)


def _part(data: bytes) -> Part:
    message = _parse(data)
    key = hashlib.sha256(_header(message, "message-id").encode() or data).hexdigest()[:_KEY_CHARS]
    return Part(part_name(_header(message, "subject"), key), _text_of(message))


def _text_of(message: EmailMessage) -> str:
    sent = message["date"]
    about = {
        "title": _header(message, "subject"),
        "from": _header(message, "from"),
        "to": _header(message, "to"),
        "date": "" if sent is None or sent.datetime is None else f"{sent.datetime:%Y-%m-%d}",
    }
    return with_matter(_body(message) + "\n", about)


def _parse(data: bytes) -> EmailMessage:
    return message_from_bytes(data, policy=policy.default)


def _header(message: EmailMessage, name: str) -> str:
    """A header, decoded like the body; "" if it is missing."""
    source = next((value for key, value in message.raw_items() if key.lower() == name), "")
    line = _FOLD.sub("", str(source)[:_MAX_HEAD])
    try:
        parts = decode_header(line)
    except HeaderParseError:
        return line
    return "".join(
        _decode(
            part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape"),
            charset or "ascii",
        )
        for part, charset in parts
    )


def _body(message: EmailMessage, depth: int = 0) -> str:
    """The text of a message and of those that it forwards, with the names of attachments."""
    texts: list[str] = []
    attached: list[str] = []
    _read(message, texts, attached, depth)
    names = f"Attached: {', '.join(attached)}" if attached else ""
    return "\n\n".join(text for text in (*texts, names) if text)


def _read(part: MIMEPart, texts: list[str], attached: list[str], depth: int) -> None:
    """Add the texts of a part and the names of what cannot be read, in the order of the message."""
    kind = part.get_content_type()
    if kind == "message/rfc822" and depth < _MAX_DEPTH:
        inner = part.get_content()
        texts.append(f"## {_header(inner, 'subject')}\n\n{_body(inner, depth + 1)}")
    elif part.is_multipart() and kind != "message/rfc822":
        inside = list(part.iter_parts())
        if kind == "multipart/alternative":
            inside = [_best_version(inside)] if inside else []
        for inner in inside:
            _read(inner, texts, attached, depth)
    elif kind in _READ and not part.is_attachment():
        texts.append(_text(part))
    elif not (part["content-id"] and part.get_filename() is None):  # a picture within the text
        attached.append(part.get_filename() or kind)


def _best_version(versions: list[MIMEPart]) -> MIMEPart:
    """The best of several versions of a text: plain unless it is empty, else the last with text."""
    plain = [each for each in versions if each.get_content_type() == "text/plain" and _text(each)]
    readable = [
        each for each in versions if any(part.get_content_type() in _READ for part in each.walk())
    ]
    return plain[0] if plain else (readable or versions)[-1]


def _text(part: MIMEPart) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    text = _decode(data, part.get_content_charset() or "ascii").replace("\r\n", "\n")
    return markdown_of_page(text) if part.get_content_subtype() == "html" else text.strip()


def _decode(data: bytes, charset: str) -> str:
    """Decode with the stated charset if that is valid, else with a detected one."""
    if _JIS_PAIRS.search(data):
        return _JIS_END.sub(b"", _JIS_PAIRS.sub(_in_cp932, data)).decode("cp932", "replace")
    try:
        return data.decode(charset)
    except (LookupError, ValueError):
        with suppress(UnknownEncoding):
            return decoded(data)
    return data.decode("utf-8", "replace")


def _in_cp932(pairs: re.Match[bytes]) -> bytes:
    """Convert pairs of ISO-2022-JP to Windows' code page, which has signs like ①.

    Mail programs do the same. The arithmetic is from JIS X 0208:1997, appendix 1.
    """
    shifted = bytearray()
    for first, second in zip(pairs[1][::2], pairs[1][1::2], strict=False):
        lead = (first - 0x21) // 2 + 0x81
        trail = second + 0x7E if first % 2 == 0 else second + 0x1F + (second >= 0x60)
        shifted += bytes((lead + 0x40 * (lead > 0x9F), trail))
    return bytes(shifted)
