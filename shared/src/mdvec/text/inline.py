"""Renders inline Markdown as plain text: links, HTML tags, emphasis, references."""

from __future__ import annotations

import html
import re

_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:[^`\n]|\n(?!\n))*?[^`])\1(?!`)")
_KEPT = re.compile("\ue000(\\d+)\ue001")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]*?)(?:\\?\|([^\[\]\n]*))?\]\]")
_WIKI_TAIL = re.compile(r"#?\^[\w-]+$|\.mdx?(?=$|#)")
_WIKI_SIZE = re.compile(r"\d+(?:x\d+)?")
_BRACKETED = r"\[((?:[^\[\]\n]|\n(?![ \t]*\n)|\[[^\[\]\n]*\]){0,500})\]"
_URL = r"<?((?:[^()\s<>]|\([^()\s]*\))*)>?"
_TITLE = r"(?:[ \t]+[\"']([^\"'\n]*)[\"'])?[ \t]*"
_IMAGE = re.compile(rf"!{_BRACKETED}(?:\({_URL}{_TITLE}\)|\(\Z)")
_LINK = re.compile(rf"{_BRACKETED}(?:\({_URL}{_TITLE}\)|\[[^\[\]\n]*\])")
_DEFINITION = re.compile(rf"(?m)^[ \t>]*\[([^\[\]^\n]{{1,200}})\]:[ \t]*{_URL}{_TITLE}$")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:?[ \t]?")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]*)>")
_ADDRESS = re.compile(r"https?://([^?#\s]*)")
_TAG = re.compile(
    r"</?(?:[A-Za-z][\w.:-]*((?:\s+[\w:@.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'"
    r"|\{(?:[^{}]|\{[^{}]*\})*\}|[^\s\"'{}<>=]+))?|\s+\{[^{}]*\})*)\s*/?)?>"
)
_SHOWN_ATTRIBUTE = re.compile(
    r"\b(?:alt|title|label|caption|summary|placeholder)\s*=\s*\{?\s*(?:\"([^\"]*)\"|'([^']*)')"
)
_EMPHASIS = re.compile(r"(\*{1,3}|~~|==)(?=[^\s*~=])([^*\n]*?[^\s*])\1")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def readable_inline(text: str) -> str:
    """``text`` as a reader sees it: the words of links, images and wikilinks, without markup.

    Code spans lose only their backticks. A link to another site keeps its address, because people
    search for it.
    """
    spans: list[str] = []

    def keep(found: re.Match[str]) -> str:
        spans.append(found[2])
        return f"\ue000{len(spans) - 1}\ue001"

    shown = _CODE_SPAN.sub(keep, text)
    shown = _WIKILINK.sub(_wikilink, shown)
    shown = _FOOTNOTE.sub("", _IMAGE.sub(_image, shown))
    shown = _LINK.sub(_link, _DEFINITION.sub(_link, shown))
    shown = _TAG.sub(_tag, _AUTOLINK.sub(r"\1", shown))
    shown = html.unescape(_ESCAPE.sub(r"\1", _EMPHASIS.sub(r"\2", shown)))
    return _KEPT.sub(lambda found: _span(spans, found), shown)


def _span(spans: list[str], found: re.Match[str]) -> str:
    number = int(found[1])
    return spans[number] if number < len(spans) else found[0]


def _wikilink(found: re.Match[str]) -> str:
    target = " ".join(_WIKI_TAIL.sub("", found[1]).replace("#", " ").split())
    alias = (found[2] or "").strip()
    if not alias or alias == target or _WIKI_SIZE.fullmatch(alias):
        return target
    return f"{alias} ({target})" if target else alias


def _image(found: re.Match[str]) -> str:
    alt = found[1].strip() or (found[3] or "").strip()
    name = (found[2] or "").rpartition("/")[2].partition("?")[0]
    return alt or name.rpartition(".")[0] or name


def _link(found: re.Match[str]) -> str:
    words, title = found[1], found[3]
    address = _ADDRESS.match(found[2] or "")
    shown = f"{words} {title}" if title else words
    return f"{shown} ({address[1]})" if address and address[1] not in words else shown


def _tag(found: re.Match[str]) -> str:
    shown = _SHOWN_ATTRIBUTE.findall(found[1] or "")
    return " ".join(double or single for double, single in shown)
