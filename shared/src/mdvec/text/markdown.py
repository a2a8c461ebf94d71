"""Parses a document's outline: front matter, title, headings, code fences, pages, start of body.

In a document that was converted to Markdown, a form feed separates pages, including those without
text, so that page numbers are those of the original.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from mdvec.text.matter import LINE_BREAK, NO_FRONT_MATTER, FrontMatter, front_matter
from mdvec.text.org import is_org, org_blocks, org_headlines, org_matter
from mdvec.text.underlined import adoc_headings, rst_headings

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock

PAGE_BREAK = "\f"
_UNITS = {".pdf": "page", ".pptx": "slide", ".epub": "chapter", ".ipynb": "cell"}
_BUNDLES = ("conversations.json", "conversations-000.json", ".mbox", ".zip")
_DAY_OF_MESSAGES = "0000-00-00.json"
_DIGIT = re.compile(r"\d")
_FOR_OWN_COMMANDS = (
    ".doc", ".rtf", ".odt", ".ppt", ".odp", ".pages", ".key", ".djvu", ".png", ".jpg", ".jpeg",
    ".tif", ".tiff", ".webp", ".heic", ".mp3", ".m4a", ".wav", ".mp4",
)  # fmt: skip
CONVERTED_ENDINGS = (
    *_UNITS, *_BUNDLES, ".docx", ".html", ".htm", ".xhtml", ".eml", ".jsonl", *_FOR_OWN_COMMANDS
)  # fmt: skip
"""The endings of files that are converted to Markdown, by a converter or the user's command."""
MARKUP_ENDINGS = (".org", ".rst", ".adoc", ".tex")
_TEX = ("part", "chapter", "section", "subsection", "subsubsection")
_TEX_HEADING = re.compile(
    rf"^[ \t]*\\(?P<level>{'|'.join(_TEX)})\*?\{{(?P<words>.*)\}}", re.MULTILINE
)
_PYTHON = r"(?:async def|def|class)\b"
_SCRIPT = (
    r"(?:export (?:default )?)?(?:declare )?(?:abstract )?"
    r"(?:async function|function|class|interface|enum|namespace|type)\b"
    r"|(?:export )?const \w+ = (?:async )?(?:\(|function\b)"
)
_RUST = (
    r"(?:pub(?:\([^)]*\))? )?(?:unsafe |async |const )*"
    r"(?:fn|struct|enum|trait|impl|mod|macro_rules!)"
)
_JAVA = (
    r"(?:(?:public|protected|private|internal|static|final|abstract|override|sealed|data) )*"
    r"(?:class|interface|enum|record|object|fun)\b"
    r"|(?:public|protected|private|static) [^=;\n]*\([^;\n]*$"
)
_C = r"(?:struct|union|enum|class|namespace)\b[^;\n]*$|#define\b|[A-Za-z_][\w *&:<>,~]*\([^;\n]*$"
_CODE = {
    ".py": _PYTHON, ".rb": r"(?:def|class|module)\b", ".go": r"(?:func|type)\b", ".rs": _RUST,
    **dict.fromkeys((".ts", ".tsx", ".js", ".jsx", ".mjs"), _SCRIPT),
    **dict.fromkeys((".java", ".kt", ".cs", ".scala", ".swift"), _JAVA),
    **dict.fromkeys((".c", ".h", ".cpp", ".cc", ".hpp"), _C),
    ".sh": r"(?:function \w+|[\w-]+ ?\(\))", ".sql": r"(?i:create|alter)\b",
    **dict.fromkeys((".yaml", ".yml"), r"(?<![ \t])[^\s#-][^#\n]*:[ \t\r]*(?:$|#)"),
    ".toml": r"\[+[^\]\n]+\]+[ \t\r]*(?:$|#)",
}  # fmt: skip
CODE_ENDINGS = tuple(_CODE)
_ABOVE = re.compile(r"[ \t]*(?:@|#\[|//|/\*|\*|--|#(?!!|define|include))")
_NO_DEFINITION = re.compile(r"[ \t]*(?:if|for|while|switch|return|else|catch|do)\b")
_MAX_INDENT = 8
_ANCHOR = re.compile(r"(?:\{/\*(?:(?!\{/\*).)*?\*/\}|\{#[^{}]*\})$")
_MAX_NESTING = 100
_MAX_HEADING = 200
"""Maximum characters of a heading or title. A rule directly under a paragraph turns the whole
paragraph into a heading, which every chunk of the section would repeat."""
_WITH_TITLE = (".rst", ".adoc")
_MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdx")
_CLOSING_FENCE = re.compile(r"[\s>]*(?:`{3,}|~{3,})")
_LANGUAGE = re.compile(r"[^\s{}]{1,40}")


def is_converted(file_name: str) -> bool:
    """Whether a file, by its name, is converted to Markdown."""
    return file_name.lower().endswith(CONVERTED_ENDINGS) or has_long_ending(
        file_name, (*_BUNDLES, _DAY_OF_MESSAGES)
    )


def is_bundle(file_name: str) -> bool:
    """Whether a file, by its name, is stored as several documents."""
    return has_long_ending(file_name, _BUNDLES)


def has_long_ending(file_name: str, endings: tuple[str, ...]) -> bool:
    """Whether a name has this ending; a 0 matches any digit, as in ``0000-00-00.json``."""
    return _DIGIT.sub("0", file_name.lower()).endswith(endings)


def bundle_of(path: str) -> str | None:
    """The path of the file, such as an export, that holds a document among others; else None.

    A document's path begins with that of its bundle, as if it were a folder; a folder may also
    have such a name.
    """
    folders = (path[: end.start()] for end in re.finditer("/", path))
    return next(filter(is_bundle, folders), None)


def page_unit(file_name: str) -> str:
    """The word for a page of the file, such as "slide"; "" if it has no pages."""
    name = file_name.lower()
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")


def page_label(file_name: str, first: int, last: int) -> str:
    """A citation of pages: "page 12" or "slides 3-4"; "" if the file has no pages."""
    unit = page_unit(file_name)
    if not unit:
        return ""
    return f"{unit} {first}" if first == last else f"{unit}s {first}-{last}"


def page_starts(content: str) -> list[int]:
    """Where each page begins."""
    return [0, *(page_break.end() for page_break in re.finditer(PAGE_BREAK, content))]


def pages_between(content: str, start: int, end: int) -> tuple[int, int]:
    """The first and the last page of ``content[start:end]``, from 1."""
    starts = page_starts(content)
    return bisect_right(starts, start), bisect_right(starts, max(end - 1, start))


def with_page_lines(content: str, file_name: str, first: int = 1) -> str:
    """The text with a line such as "[page 13]" for each break; it begins on page ``first``."""
    unit = page_unit(file_name)
    if not unit or PAGE_BREAK not in content:
        return content
    before, *pages = content.split(PAGE_BREAK)
    return before + "".join(f"[{unit} {number}]{p}" for number, p in enumerate(pages, first + 1))


def landmarks(content: str, file_name: str) -> Iterator[tuple[int, str, int]]:
    """The level, the words and the start of each heading."""
    ending = f".{file_name.rpartition('.')[2].lower()}"
    marks: Iterator[tuple[int, str, int]] = iter(())
    if is_org(ending):
        marks = ((line.level, line.words, line.start) for line in org_headlines(content))
    elif ending == ".rst":
        marks = rst_headings(content)
    elif ending == ".adoc":
        marks = adoc_headings(content)
    elif ending == ".tex":
        marks = _sections(content)
    elif ending in _CODE:
        marks = _definitions(content, _CODE[ending])
    for level, words, start in marks:
        yield min(level, 6), words, start


def _sections(content: str) -> Iterator[tuple[int, str, int]]:
    for match in _TEX_HEADING.finditer(content):
        yield max(_TEX.index(match["level"]) - 1, 1), match["words"].strip(), match.start()


def _definitions(content: str, pattern: str) -> Iterator[tuple[int, str, int]]:
    definition = re.compile(rf"^(?P<indent>[ \t]{{0,{_MAX_INDENT}}})(?:{pattern}).*$", re.MULTILINE)
    for match in definition.finditer(content):
        if _NO_DEFINITION.match(match[0]) is None:
            words = match[0].strip().rstrip("{:").rstrip()
            yield (2 if match["indent"] else 1), words, _with_comments(content, match.start())


def _with_comments(content: str, start: int) -> int:
    """Where the comments and decorators directly above a line begin."""
    while start > 0:
        above = content.rfind("\n", 0, start - 1) + 1
        if _ABOVE.match(content, above, start) is None:
            break
        start = above
    return start


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: level (1-6), words, and the position of its line."""

    level: int
    words: str
    start: int


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block.

    ``start`` is where its opening line begins, ``end`` where its closing line ends (without the
    line break), ``close`` where its closing line begins, or ``end`` if the fence is not closed.
    """

    start: int
    close: int
    end: int
    language: str


@dataclass(frozen=True, slots=True)
class Outline:
    """A document's structure.

    ``body`` is where the text to be searched begins, mostly after the front matter. ``headings``
    excludes those inside a list, a block quote or a code fence; ``fences`` includes all.
    """

    title: str
    body: int
    headings: tuple[Heading, ...]
    is_markdown: bool
    fences: tuple[Fence, ...] = ()
    matter: FrontMatter = field(default=NO_FRONT_MATTER, compare=False)


def outline(content: str, file_name: str) -> Outline:
    """The outline of a document; text of other formats has the headings of its format.

    The title comes from the front matter, else from the first level-1 heading where that is how
    the format writes titles, else from the file name without its suffix.
    """
    matter = matter_of(content, file_name)
    if in_markdown := is_markdown(file_name):
        headings, fences = _blocks(content, matter.end)
    else:
        headings = tuple(
            Heading(level, _plain_words(words), start)
            for level, words, start in landmarks(content, file_name)
        )
        fences = tuple(Fence(*block) for block in org_blocks(content)) if is_org(file_name) else ()
    is_titled = in_markdown or file_name.lower().endswith(_WITH_TITLE)
    first = next((heading.words for heading in headings if is_titled and heading.level == 1), "")
    stem = re.sub(r"\.[^.]+$", "", file_name) or file_name
    title = _shorten(_title_of(matter) or first or stem)
    return Outline(title, matter.body, headings, in_markdown, fences, matter)


def matter_of(content: str, file_name: str) -> FrontMatter:
    """The front matter of a document, if it is Markdown or Org; else ``NO_FRONT_MATTER``."""
    if is_org(file_name):
        return org_matter(content)
    return front_matter(content) if is_markdown(file_name) else NO_FRONT_MATTER


def is_markdown(file_name: str) -> bool:
    """Whether a file, by its name, is Markdown, or of a format that is stored as Markdown."""
    return file_name.lower().endswith(_MARKDOWN_SUFFIXES) or is_converted(file_name)


def line_starts(content: str, start: int = 0, end: int | None = None) -> list[int]:
    """The start of each line in ``content[start:end]``; CRLF, CR and LF all end a line."""
    part = content[start:end]
    if "\r" in part.replace("\r\n", ""):
        return [start, *(start + match.end() for match in LINE_BREAK.finditer(part))]
    lengths = [len(line) + 1 for line in part.split("\n")]
    return list(accumulate(lengths[:-1], initial=start))


@cache
def block_parser() -> MarkdownIt:
    """A parser that finds blocks, such as headings and fences, and leaves their text as it is."""
    parser = nesting_parser(_MAX_NESTING)
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def nesting_parser(levels: int, **more: Any) -> MarkdownIt:  # noqa: ANN401
    """A parser that reads lists as deep as ``levels``, two for each, and quotes as by default.

    By default it leaves out all behind ten lists in one another. Each line of text costs time for
    every quote around it; what stands in a deeper one is read as text with its ">".
    """
    from markdown_it import MarkdownIt, rules_block  # 0.1 s, and most commands do not need it

    parser = MarkdownIt("commonmark", **more)
    deepest = parser.options["maxNesting"]

    def quote(state: StateBlock, first: int, behind: int, silent: bool) -> bool:  # noqa: FBT001
        return state.level < deepest and rules_block.blockquote(state, first, behind, silent)

    others = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.at("blockquote", quote, {"alt": others})
    parser.options["maxNesting"] = levels
    return parser


def _blocks(content: str, body: int) -> tuple[tuple[Heading, ...], tuple[Fence, ...]]:
    """The headings and fences according to CommonMark."""
    tokens = block_parser().parse(content[body:])
    starts = line_starts(content, body)
    headings, fences = [], []
    for number, token in enumerate(tokens):
        if token.type == "fence" and token.map:
            fences.append(_fence(content, starts, token.map, token.info))
        elif token.type == "heading_open" and token.level == 0 and token.map:
            words = _plain_words(tokens[number + 1].content)
            headings.append(Heading(int(token.tag[1]), words, starts[token.map[0]]))
    return tuple(headings), tuple(fences)


def indented_code(content: str, file_name: str) -> list[tuple[int, int]]:
    """The first line (from 1) and the exclusive end of each indented block of code in Markdown."""
    body = matter_of(content, file_name).end
    before = len(line_starts(content, 0, body))
    tokens = block_parser().parse(content[body:])
    blocks = (token.map for token in tokens if token.type == "code_block" and token.map)
    return [(before + first, before + behind) for first, behind in blocks]


def _fence(content: str, starts: list[int], lines: Sequence[int], info: str) -> Fence:
    """The fence on lines ``lines[0]`` to ``lines[1]`` (exclusive)."""
    first, behind = lines
    last = starts[behind - 1]
    end = starts[behind] if behind < len(starts) else len(content)
    closing = content[last:end]
    is_closed = behind - 1 > first and _CLOSING_FENCE.fullmatch(closing.rstrip()) is not None
    language = _LANGUAGE.match(info.strip())
    end = last + len(closing.rstrip("\r\n"))
    return Fence(starts[first], last if is_closed else end, end, language[0] if language else "")


def _plain_words(words: str) -> str:
    return _shorten(_ANCHOR.sub("", " ".join(words.split())).rstrip())


def _shorten(words: str) -> str:
    return words if len(words) <= _MAX_HEADING else words[: _MAX_HEADING - 1] + "…"


def _title_of(matter: FrontMatter) -> str:
    """The last title in a front matter that is text, or ""."""
    for key, title in reversed(matter.entries):
        # Nested YAML aliases can expand to enormous text.
        if key == "title" and not isinstance(title, list | dict) and title not in ("~", "null"):
            # JSON writes an emoji as "\ud83d\ude00"; an unpaired half is replaced.
            words = str(title).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if title := " ".join(words.split()):
                return title
    return ""
