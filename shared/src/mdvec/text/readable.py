"""Renders Markdown as readers see it, and builds the text to embed for a chunk."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from mdvec.text.chunking import Chunk, chunk_document, fence_around
from mdvec.text.markdown import Outline, is_markdown
from mdvec.text.matter import LINE_BREAK
from mdvec.text.org import is_org, org_text
from mdvec.text.tokens import ChunkingOptions, Tokenizer, is_blank

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
_SETTING = re.compile(
    r"\s*(?:%%|(?:classDef|class|style|linkStyle|click|direction|end|autonumber|dateFormat"
    r"|axisFormat)\b|---\s*$).*"
)
_KEYWORD = re.compile(
    r"\s*(?:(?:flowchart|graph)(?:\s+(?:TB|TD|BT|RL|LR))?|sequenceDiagram|classDiagram(?:-v2)?"
    r"|stateDiagram(?:-v2)?|erDiagram|gantt|pie|journey|mindmap|timeline|gitGraph|quadrantChart"
    r"|participant|actor|subgraph|section|title|loop|alt|opt|else|par|showData"
    r"|note\s+(?:over|(?:left|right)\s+of))\b",
    re.IGNORECASE,
)
_ARROW = re.compile(r"[<ox]?(?:-[-.]+|=={1,}|~~~|\.{2,})[->=.)ox|]*|->>?|<br\s*/?>", re.IGNORECASE)
_SIGN = re.compile(r"[|(){}\[\]<>\"';]+|:::\w+|:(?=\s)")
_FENCE = re.compile(
    r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)"
)
_LANGUAGE = re.compile(r"[^\s{}]+")
_COMMENT = re.compile(r"<!--(?:[^<]|<(?!!--))*?-->|%%(?:[^%]|%(?!%))*%%")
_NOT_SHOWN = re.compile(
    rf"{_COMMENT.pattern}"
    r"|<(script|style)\b[^<>]*>(?:[^<]|<(?!/?\1))*</\1>"
    r"|data:[\w.+-]+/[\w.+-]+(?:;[\w=.-]+)*,[^\s\"'<>)]{32,}",
    re.IGNORECASE,
)
_MARKS = re.compile(r"<!--|-->|%%")
_MAYBE_UNSEEN = re.compile(r"[\s#>*=:|-]*(?:<|%%|\{/\*|!?\[|\Z|import\b|export\b|`)")
"""The beginning of a text that may have no visible content."""
_UNSEEN = re.compile(r"<!--|%%|!\[")
_MODULE_LINE = re.compile(
    r"(?m)^(?:(?:import|export)\s[^\n;]*\sfrom\s*|import\s*)(?:'[^'\n]*'|\"[^\"\n]*\");?[ \t]*$"
    r"|^export\s+(?:const|let|var|default|function)\b.*(?:\n(?!\n).*)*$"
)
_ANCHOR = re.compile(
    r"(?m)^([ \t>]*#{1,6}[ \t].*?)[ \t]*(?:\{/\*((?:[^*{}]|\*(?!/))*)\*/\}|\{#([^{}\n]*)\})[ \t]*$"
)
_CODE_COMMENT = re.compile(r"\{/\*(?:[^*]|\*(?!/))*\*/\}")
_PREFIX = re.compile(r"[ \t]*(?:>[ \t]?)*")
_CALLOUT = re.compile(r"\[!([\w-]+)(?:\|[^\]]*)?\][+-]?[ \t]*(.*)")
_CONTAINER = re.compile(r":{3,}[ \t]*([\w-]*)(?:\[([^\]]*)\])?[ \t]*([^{]*).*")
_MESSAGE_KINDS = frozenset({"alert", "info", "warn", "warning", "danger", "success"})
_RULE = re.compile(r"[|:=-][|:=\- \t]*|(?:[-*_][ \t]*){3,}")
_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_TASK = re.compile(r"([-*+]|\d{1,9}[.)])[ \t]+\[[ xX/-]\][ \t]+")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")
_MAX_CONTEXT = 200


def readable_inline(text: str) -> str:
    """``text`` as a reader sees it: the words of links, images and wikilinks, without markup.

    Code spans lose only their backticks. A link to another site keeps its address, because people
    search for it.
    """
    spans: list[str] = []

    def keep(match: re.Match[str]) -> str:
        spans.append(match[2])
        return f"\ue000{len(spans) - 1}\ue001"

    shown = _CODE_SPAN.sub(keep, text)
    shown = _WIKILINK.sub(_wikilink, shown)
    shown = _FOOTNOTE.sub("", _IMAGE.sub(_image, shown))
    shown = _LINK.sub(_link, _DEFINITION.sub(_link, shown))
    shown = _TAG.sub(_tag, _AUTOLINK.sub(r"\1", shown))
    shown = html.unescape(_ESCAPE.sub(r"\1", _EMPHASIS.sub(r"\2", shown)))
    return _KEPT.sub(lambda match: _span(spans, match), shown)


def _span(spans: list[str], match: re.Match[str]) -> str:
    number = int(match[1])
    return spans[number] if number < len(spans) else match[0]


def _wikilink(match: re.Match[str]) -> str:
    target = " ".join(_WIKI_TAIL.sub("", match[1]).replace("#", " ").split())
    alias = (match[2] or "").strip()
    if not alias or alias == target or _WIKI_SIZE.fullmatch(alias):
        return target
    return f"{alias} ({target})" if target else alias


def _image(match: re.Match[str]) -> str:
    alt = match[1].strip() or (match[3] or "").strip()
    return alt or _name_of(match[2] or "")


def _name_of(address: str) -> str:
    """The file name of an image without its suffix."""
    name = address.rpartition("/")[2].partition("?")[0]
    return name.rpartition(".")[0] or name


def _link(match: re.Match[str]) -> str:
    words, title = match[1], match[3]
    address = _ADDRESS.match(match[2] or "")
    shown = f"{words} {title}" if title else words
    return f"{shown} ({address[1]})" if address and address[1] not in words else shown


def _tag(match: re.Match[str]) -> str:
    shown = _SHOWN_ATTRIBUTE.findall(match[1] or "")
    return " ".join(double or single for double, single in shown)


def diagram_words(line: str) -> str:
    """The names and labels in a line of a diagram; "" for a line of styles or settings."""
    if _SETTING.fullmatch(line):
        return ""
    return " ".join(_SIGN.sub(" ", _ARROW.sub(" ", _KEYWORD.sub("", line, count=1))).split())


def readable_chunk(file_path: str, text: str) -> str:
    """A chunk's text as a reader sees it; unchanged if the file is not Markdown."""
    return readable(text) if is_markdown(file_path) else text


def indexed_chunk(file_path: str, text: str) -> str:
    """A chunk's text for the index of words: as a reader sees it, then its invisible text.

    The invisible text consists of comments and of the file names of images that have a caption.
    """
    if not is_markdown(file_path) or not _UNSEEN.search(text):
        return readable_chunk(file_path, text)
    unseen = [_MARKS.sub(" ", comment[0]) for comment in _COMMENT.finditer(text)]
    unseen += [_name_of(image[2] or "") for image in _IMAGE.finditer(text) if image[1]]
    return "\n".join([readable(text), *unseen])


@lru_cache(maxsize=1024)
def readable(text: str) -> str:
    """Markdown without markup; ``text`` unchanged if nothing would be left.

    Code stays unchanged after its language; only the names and labels of a Mermaid diagram stay.
    The last texts are cached: a file's chunks share its title, and are both embedded and indexed.
    """
    shown = _BLANK_LINES.sub("\n\n", "\n".join(_shown_parts(text))).strip("\n")
    return text if is_blank(shown) else shown


def prose_of(content: str, *, is_whole: bool = False) -> str:
    """Markdown without its code: neither fenced blocks nor code spans; markup stays.

    A passage may begin within a fence, unlike a whole document (``is_whole``).
    """
    return _CODE_SPAN.sub(" ", _outside_fences(content, is_whole=is_whole))


def shown_lines(content: str, file_name: str) -> str:
    """A whole document, Markdown or Org, where each line in a code block or a comment is blank."""
    if is_org(file_name):
        return org_text(content)
    outside = _outside_fences(content, is_whole=True)
    return _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), outside)


def _outside_fences(content: str, *, is_whole: bool) -> str:
    lines: list[str] = []
    for is_code, block in _blocks(content, is_whole=is_whole):
        lines += [""] * (len(block) + 1) if is_code else block  # one more for the closing fence
    return "\n".join(lines)


def _blocks(text: str, *, is_whole: bool = False) -> Iterator[tuple[bool, list[str]]]:
    """Alternating blocks of prose and code; a fence's opening line belongs to its code."""
    lines = LINE_BREAK.split(text)
    fences = [match for line in lines if (match := _FENCE.fullmatch(line))]
    # If the first fence line can only close a fence, the chunk begins inside one.
    begins_inside = not is_whole and len(fences) % 2 and not fences[0]["info"].strip()
    mark = fences[0]["mark"] if begins_inside else ""
    block: list[str] = []
    for line in lines:
        match = _FENCE.fullmatch(line)
        if match is None or (mark and not _closes(match, mark)):
            block.append(line)
            continue
        yield bool(mark), block
        block, mark = ([], "") if mark else ([line], match["mark"])
    yield bool(mark), block


def _closes(fence: re.Match[str], mark: str) -> bool:
    return fence["mark"].startswith(mark) and not fence["info"].strip()


def _code(lines: list[str]) -> str:
    opening = _FENCE.fullmatch(lines[0]) if lines else None
    if opening is None:
        return "\n".join(lines)
    language = _LANGUAGE.match(opening["info"])
    name = language[0] if language else ""
    code = lines[1:]
    if name == "mermaid":
        return "\n".join(filter(None, map(diagram_words, code)))
    return "\n".join([name, *code] if name else code)


def _prose(lines: list[str]) -> str:
    text = _NOT_SHOWN.sub("", "\n".join(lines))
    text = _ANCHOR.sub(_with_anchor, text)
    text = _MODULE_LINE.sub("", _CODE_COMMENT.sub("", text))
    return "\n".join(map(_line, readable_inline(text).split("\n")))


def _with_anchor(match: re.Match[str]) -> str:
    """A heading followed by the words of its anchor."""
    return f"{match[1]} {(match[2] or match[3] or '').replace('-', ' ')}"


def _line(line: str) -> str:
    prefix = _PREFIX.match(line)
    words = line[prefix.end() :] if prefix else line
    quoted = prefix is not None and ">" in prefix[0]
    if quoted and (callout := _CALLOUT.fullmatch(words)):
        return callout[2] or callout[1]
    if container := _CONTAINER.fullmatch(words):
        return _container_title(container)
    if _RULE.fullmatch(words):
        return ""
    if heading := _HEADING.fullmatch(words):
        return heading[1]
    if words.startswith("|"):
        return " ".join(words.strip("| \t").replace("|", " ").split())
    return ("" if quoted or prefix is None else prefix[0]) + _TASK.sub(r"\1 ", words, count=1)


def _container_title(match: re.Match[str]) -> str:
    title = (match[2] or match[3]).strip()
    return "" if match[1] == "message" and title in _MESSAGE_KINDS else title


def in_context(title: str, heading: str, text: str) -> str:
    """``text`` preceded by a line with ``title > headings``.

    A heading that begins the text is not repeated. The line keeps its last 200 characters, that
    is, the innermost headings.
    """
    path = [title, *heading.split(" > ")] if heading else [title]
    if len(path) > 1 and path[0] == path[1]:
        del path[0]
    first_line = text.lstrip().partition("\n")[0].lstrip("# \t")
    if first_line.startswith(path[-1]):
        del path[-1]
    context = " > ".join(step for step in path if step)[-_MAX_CONTEXT:]
    return f"{context}\n{text}" if context else text


def text_to_embed(file_path: str, title: str, heading: str, text: str) -> str:
    """The text to embed for a chunk of a file: as a reader sees it, in its context."""
    return in_context(
        *(part and readable_chunk(file_path, part) for part in (title, heading, text))
    )


def texts_to_embed(
    file_path: str, title: str, chunks: Sequence[Chunk], tokenizer: Tokenizer
) -> list[str]:
    """The text to embed for each chunk; the bare chunk if the rest exceeds the model's limit."""
    texts = [text_to_embed(file_path, title, chunk.heading, chunk.text) for chunk in chunks]
    return [
        chunk.text if tokenizer.oversized(text) else text
        for chunk, text in zip(chunks, texts, strict=True)
    ]


def searchable_chunks(
    content: str, outline: Outline, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[Chunk]:
    """The chunks of a document that have something visible.

    If the body is blank, the chunks contain the front matter, unless that is empty, too.
    """
    if is_blank(content[outline.body :]):
        if not any(value for _, value in outline.matter.entries):
            return []
        outline = replace(outline, body=0, headings=(), is_markdown=False)
        return chunk_document(content, outline, options, tokenizer)
    chunks = chunk_document(content, outline, options, tokenizer)
    if outline.is_markdown:
        seen = [
            chunk
            for chunk in chunks
            if has_readable_text(chunk.text) or _continues_code(chunk, outline)
        ]
        chunks = [replace(chunk, index=index) for index, chunk in enumerate(seen)]
    return chunks


def _continues_code(chunk: Chunk, outline: Outline) -> bool:
    """Whether a chunk begins with a later part of a block of code, where even tags are visible."""
    fence = fence_around(outline.fences, chunk.start)
    return fence is not None and not is_blank(chunk.text[: max(fence.close - chunk.start, 0)])


def has_readable_text(text: str) -> bool:
    """Whether any part of a Markdown text is visible to a reader, unlike comments."""
    if not _MAYBE_UNSEEN.match(text):
        return True
    return not is_blank("".join(_shown_parts(text)))


def _shown_parts(text: str) -> Iterator[str]:
    return (_code(block) if is_code else _prose(block) for is_code, block in _blocks(text))
