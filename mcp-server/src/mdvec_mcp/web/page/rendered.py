"""Renders a stored document as HTML that cannot do anything: no script, no remote image, no HTML.

Markdown's own HTML is shown as text, images as their description, links lead only to the web (in a
new window) or to documents of the same tool.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape
from mdvec.documents import DocumentText
from mdvec.text import front_matter

_WEB = ("http", "https", "mailto")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where links of a document begin."""

    tool: str
    folder: str


def rendered_document(document: DocumentText, passage: range, *, as_markdown: bool) -> Markup:
    """A document, or a part of one, as HTML; the lines of the passage are marked.

    The first marked element has the id ``hit``.
    """
    if not as_markdown:
        return _plain(document, passage)
    is_start = document.start_position == 0
    matter = front_matter(document.content).end if is_start else 0
    head = document.content[:matter]
    above = Markup('<pre class="matter">{}</pre>').format(head.strip()) if head.strip() else ""
    first = document.start_line + head.count("\n")
    # A page break has a line of its own, so the lines count as before.
    tokens = _markdown().parse(document.with_pages[matter:])
    _mark(tokens, passage, first)
    base = _Place(document.tool, posixpath.dirname(document.file_path))
    html = _markdown().renderer.render(tokens, _markdown().options, {"place": base})
    return Markup("{}{}").format(above, Markup(html))  # noqa: S704 - escaped by its renderer


def _plain(document: DocumentText, passage: range) -> Markup:
    lines, is_first = [], True
    for number, line in enumerate(document.content.split("\n"), document.start_line):
        if number not in passage:
            lines.append(escape(line))
            continue
        opening = Markup('<mark id="hit">') if is_first else Markup("<mark>")
        lines.append(opening + escape(line) + Markup("</mark>"))
        is_first = False
    return Markup('<pre class="plain">{}</pre>').format(Markup("\n").join(lines))


def _mark(tokens: Sequence[Token], passage: range, first: int) -> None:
    """Mark the innermost blocks within the passage; list items and rows rather than whole lists."""
    is_first = True
    for token in tokens:
        if token.map is None or token.type in _WHOLE:
            continue
        start, end = token.map[0] + first, token.map[1] + first
        if token.nesting >= 0 and start < passage.stop and passage.start < end:
            token.attrJoin("class", "hit")
            if is_first:
                token.attrSet("id", "hit")
                is_first = False


_WHOLE = (
    "inline", "bullet_list_open", "ordered_list_open", "table_open", "tbody_open", "thead_open",
    "blockquote_open",
)  # fmt: skip


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    return parser.enable(["table", "strikethrough"])


class _Renderer(RendererHTML):
    """Shows images as text, and restricts links."""

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ANN401
        """The description of an image, which is not loaded."""
        words = self.renderInlineAsText(tokens[idx].children or [], options, env)
        return str(Markup('<span class="image">🖼 {}</span>').format(words))

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ANN401
        """The start of a link to the web or to another document; others lead nowhere."""
        attributes = _link(str(tokens[idx].attrGet("href") or ""), env["place"])
        tokens[idx].attrs = dict(attributes)
        return self.renderToken(tokens, idx, options, env)


def _link(target: str, base: _Place) -> dict[str, str]:
    try:
        parts = urlsplit(target)
    except ValueError:
        return {}
    if parts.scheme in _WEB and (parts.netloc or parts.scheme == "mailto"):
        return {"href": target, "rel": "noreferrer noopener", "target": "_blank"}
    if parts.scheme or parts.netloc or not parts.path:
        return {}
    path = posixpath.normpath(posixpath.join(base.folder, unquote(parts.path)))
    if path.startswith(("/", "..")):
        return {}
    return {"href": f"/document?{urlencode({'tool': base.tool, 'path': path}, errors='replace')}"}
