"""Renders a stored document as safe HTML: no scripts, no remote images, no HTML of its own.

HTML in Markdown is shown as text. Links lead only to the web (in a new window), to headings, or to
documents of the same tool; pictures outside of its folder are replaced by their descriptions.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup, escape
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin
from mdvec.documents import DocumentText
from mdvec.text import is_markdown, matter_of, nesting_parser

PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
"""The types of pictures that are shown; not SVG, which can contain scripts."""
_WEB = ("http", "https", "mailto")
_ANCHOR = "s-"
"""The prefix of heading ids, so that none clashes with an id of the page."""
_OWN_ANCHOR = re.compile(r"[ \t]*\{(?:#|/\*)[ \t]*([\w-]+)[ \t]*(?:\*/)?\}[ \t]*$")
"""An explicit anchor of a heading: {#name}, or {/*name*/} in MDX."""
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:|//")
_WIKI = re.compile(r"!?\[\[([^\[\]|\n]{1,400}?)(?:\\?\|([^\[\]\n]*))?\]\]")
_WHOLE = (
    "inline", "bullet_list_open", "ordered_list_open", "table_open", "tbody_open", "thead_open",
    "blockquote_open",
)  # fmt: skip
_LINE_COMMENTS = {
    "#": "python py bash sh shell zsh fish console yaml yml toml ruby rb r perl make makefile "
    "dockerfile docker ini conf elixir powershell nix",
    "//": "javascript js jsx mjs typescript ts tsx java c h cpp c++ cc csharp cs go rust rs kotlin "
    "kt swift scala dart php json5 jsonc proto zig scss less",
    "--": "sql lua haskell hs elm ada",
    "": "css json html xml svg vue svelte astro",
}
_LANGUAGES = {name: sign for sign, names in _LINE_COMMENTS.items() for name in names.split()}
_BLOCKS = {"//": r"/\*.*?(?:\*/|\Z)", "": r"/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)"}
_TEXT = (
    r'"""(?:\\.|[^\\])*?(?:"""|\\?\Z)|"(?:\\.|[^"\\\n]){0,300}"'
    r"|'(?:\\.|[^'\\\n]){0,300}'|`(?:\\.|[^`\\])*(?:`|\\?\Z)"
)
"""String literals; their length is bounded, which keeps the time linear."""
_MAX_CHARS = 50_000
_MAX_NESTING = 50
"""The parser drops blocks nested more deeply, and all after them; a nested list counts 2."""
_KEYWORDS = (
    "abstract and as assert async await begin break case catch class const continue def default "
    "defer del delete do elif else end enum except export extends false False finally fn for from "
    "func function global go if impl implements import in interface is lambda let match mod module "
    "mut namespace new nil None not null or package pass private protected pub public raise return "
    "self static struct super switch then this throw trait true True try type typeof undefined use "
    "using var void where while with yield"
)
_SQL = (
    "select from where group by order having join left right inner outer on as and or not in is "
    "null pragma insert into values update set delete create table view index drop alter distinct "
    "limit union all case when then else end with over partition between like exists"
)


@dataclass(frozen=True, slots=True)
class _Place:
    """The tool and folder that links of a document are relative to."""

    tool: str
    folder: str


@dataclass(frozen=True, slots=True)
class RenderedHeading:
    """A heading of a document: its level from 1, its text, and its id in the page."""

    level: int
    words: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A document, or a part of one, as HTML, and its headings in order."""

    html: Markup
    headings: tuple[RenderedHeading, ...] = ()


def rendered_document(document: DocumentText, passage: range, *, as_markdown: bool) -> Rendered:
    """Render a document or a part of one; the lines of the passage are marked.

    The first marked element has the id ``hit``. A document nested too deeply is shown as it is.
    """
    if not as_markdown:
        return Rendered(_plain_document(document, passage))
    is_start = document.start_position == 0
    matter = matter_of(document.content, document.file_path).end if is_start else 0
    head = document.content[:matter]
    above = Markup('<pre class="matter">{}</pre>').format(head.strip()) if head.strip() else ""
    first = document.start_line + head.count("\n")
    base = _Place(document.tool, posixpath.dirname(document.file_path))
    # A page break is on a line of its own, so replacing it keeps the line numbers.
    env: dict[str, Any] = {"place": base}
    tokens = _markdown().parse(document.with_pages[matter:], env)
    if "is_cut" in env:
        return Rendered(_plain_document(document, passage))
    _mark(tokens, passage, first)
    headings = tuple(_headings(tokens))
    html = _markdown().renderer.render(tokens, _markdown().options, env)
    whole = Markup("{}{}").format(above, Markup(html))  # noqa: S704 - escaped by its renderer
    return Rendered(whole, headings)


def _headings(tokens: Sequence[Token]) -> Iterator[RenderedHeading]:
    """The headings; each gets a unique anchor."""
    known: Counter[str] = Counter()
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        texts = [child.content for child in inline.children or () if child.type != "image"]
        words = "".join(texts).strip()
        name = anchor_of(opening.meta.get("stated", words))
        known[name] += 1
        anchor = name if known[name] == 1 else f"{name}-{known[name] - 1}"
        opening.meta["anchor"] = anchor
        yield RenderedHeading(int(opening.tag[1:]), words, anchor)


def anchor_of(words: str) -> str:
    """The id of a heading, from its text or a link's fragment, as on GitHub."""
    folded = unicodedata.normalize("NFC", words).strip().lower()
    return _ANCHOR + re.sub(r"[^\w\- ]", "", folded).replace(" ", "-")


def _plain_document(document: DocumentText, passage: range) -> Markup:
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
    """Mark the innermost blocks within the passage: items and rows instead of whole lists."""
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


@cache
def _markdown() -> MarkdownIt:
    options = {"html": False, "highlight": colored}
    parser = nesting_parser(_MAX_NESTING, options_update=options, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"])
    parser.use(footnote_plugin).use(tasklists_plugin, label=True)
    parser.inline.ruler.before("link", "wiki_link", _wiki_link)
    parser.core.ruler.after("block", "depth", _notice_depth)
    parser.core.ruler.before("inline", "stated_anchors", _take_stated_anchors)
    return parser


def _notice_depth(state: StateCore) -> None:
    """Set ``is_cut`` if a block may lack contents, since it is as deep as the parser goes."""
    if any(token.nesting == 1 and token.level >= _MAX_NESTING - 1 for token in state.tokens):
        state.env["is_cut"] = True


def _take_stated_anchors(state: StateCore) -> None:
    """Move explicit anchors out of the text of headings before it is parsed."""
    for opening, inline in pairwise(state.tokens):
        stated = _OWN_ANCHOR.search(inline.content) if opening.type == "heading_open" else None
        if stated is not None:
            opening.meta["stated"] = stated[1]
            inline.content = inline.content[: stated.start()]


def _wiki_link(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - called by position
    """Parse ``[[note#heading|words]]``, and ``![[picture.png]]``."""
    match = _WIKI.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        target, words = match[1].strip(), (match[2] or match[1]).strip()
        if match[0].startswith("!") and _type_of(target):
            picture = state.push("image", "img", 0)
            picture.attrs = {"src": target}
            picture.children = [Token("text", "", 0, content=words)]
        else:
            opening = state.push("link_open", "a", 1)
            opening.attrs, opening.meta["is_wiki"] = {"href": target}, True
            state.push("text", "", 0).content = words
            state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


class _Renderer(RendererHTML):
    """Shows only the folder's pictures, restricts links, and gives headings ids."""

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ANN401
        """A picture of the folder; for others, which are not loaded, their description."""
        token = tokens[idx]
        words = self.renderInlineAsText(token.children or [], options, env)
        path = _path(str(token.attrGet("src") or ""), env["place"])[0]
        if not _type_of(path):
            return str(Markup('<span class="image">🖼 {}</span>').format(words))
        address = _address("/document/picture", env["place"], path)
        return str(Markup('<img src="{}" alt="{}" loading="lazy">').format(address, words))

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ANN401
        """A heading with its id on an extra element, as it may already have the id ``hit``."""
        opening = self.renderToken(tokens, idx, options, env)
        return opening + str(Markup('<span id="{}"></span>').format(tokens[idx].meta["anchor"]))

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ANN401
        """The start of a link to the web, a heading or a document; other links have no target."""
        token = tokens[idx]
        target, is_wiki = str(token.attrGet("href") or ""), token.meta.get("is_wiki", False)
        token.attrs = dict(_link(target, env["place"], is_wiki=is_wiki))
        return self.renderToken(tokens, idx, options, env)


def _type_of(path: str) -> str:
    return PICTURES.get(posixpath.splitext(path)[1].lower(), "")


def _link(target: str, base: _Place, *, is_wiki: bool) -> dict[str, str]:
    try:
        parts = urlsplit(target)
    except ValueError:
        return {}
    if not is_wiki:
        if parts.scheme in _WEB and (parts.netloc or parts.scheme == "mailto"):
            return {"href": target, "rel": "noreferrer noopener", "target": "_blank"}
        if parts.scheme or parts.netloc:
            return {}
    path, fragment = _path(target, base, is_wiki=is_wiki)
    anchor = f"#{anchor_of(fragment)}" if fragment else ""
    if not path:
        return {"href": anchor} if anchor else {}
    may_be_name = is_wiki or (is_markdown(path) and not target.startswith((".", "/")))
    folder = {"beside": base.folder} if may_be_name and base.folder else {}
    return {"href": _address("/document", base, path, **folder) + anchor}


def _path(written: str, base: _Place, *, is_wiki: bool = False) -> tuple[str, str]:
    """A link's path within the tool's folder ("" if outside of it), and its fragment."""
    if is_wiki:  # a name to look up in all folders, unless it starts like a path
        path, _, fragment = written.partition("#")
        path, fragment = path.strip(), fragment.rpartition("#")[2].strip()
        folder = base.folder if path.startswith(".") else ""
    else:
        path, _, fragment = unquote(written).partition("#")
        path, folder = path.partition("?")[0], base.folder
        path = "" if _SCHEME.match(path) else path
    whole = posixpath.normpath(posixpath.join(folder, path) if path[:1] != "/" else path[1:])
    is_inside = path and whole != "." and not whole.startswith(("/", ".."))
    return whole if is_inside else "", fragment


def _address(view: str, base: _Place, path: str, **more: str) -> str:
    return f"{view}?{urlencode({'tool': base.tool, 'path': path, **more}, errors='replace')}"


def colored(code: str, language: str, _attributes: str = "") -> str:
    """Code as HTML with syntax colours; "" if its language is unknown, or it is long.

    It marks comments, strings, numbers and common keywords in one pass, without a grammar.
    """
    sign = _LANGUAGES.get(language.lower())
    if sign is None or len(code) > _MAX_CHARS:
        return ""
    pieces, end = [], 0
    for match in _tokens(sign).finditer(code):
        pieces.append(escape(code[end : match.start()]))
        piece = Markup('<span class="code-{}">{}</span>')
        pieces.append(piece.format(match.lastgroup, match[0]))
        end = match.end()
    return str(Markup("").join(chain(pieces, (escape(code[end:]),))))


@cache
def _tokens(sign: str) -> re.Pattern[str]:
    """A pattern of the tokens to colour in languages whose comments begin with ``sign``."""
    comments = [_BLOCKS[sign]] if sign in _BLOCKS else []
    if sign:  # not within a word or a URL (https://…), and not $# in a shell
        comments.append(rf"(?<![:/&\w$]){re.escape(sign)}[^\n]*")
    sql = "(?i:" + "|".join(_SQL.split()) + ")"
    words = sql if sign == "--" else "|".join(_KEYWORDS.split())
    return re.compile(
        rf"(?P<comment>{'|'.join(comments)})|(?P<string>{_TEXT})"
        rf"|(?P<number>(?<![\w.])\d[\d_.]*(?:e[+-]?\d+)?\b)|(?P<keyword>(?<![\w.$-])(?:{words})\b)",
        re.DOTALL,
    )
