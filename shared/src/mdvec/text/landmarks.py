"""Headings of text that is not Markdown: Org, reStructuredText, AsciiDoc, TeX, and code.

In code, the line of a definition is the heading of what follows, with the comments and decorators
directly above it. The text itself stays as it is, so that lines are those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MARKUP_ENDINGS = (".org", ".rst", ".adoc", ".tex")
_TEX = ("part", "chapter", "section", "subsection", "subsubsection")
_MARKUP = {
    ".org": re.compile(r"^(?P<level>\*{1,6}) (?P<words>\S.*)$", re.MULTILINE),
    ".adoc": re.compile(r"^(?P<level>={1,6}) (?P<words>\S.*)$", re.MULTILINE),
    ".tex": re.compile(
        rf"^[ \t]*\\(?P<level>{'|'.join(_TEX)})\*?\{{(?P<words>.*)\}}", re.MULTILINE
    ),
    ".rst": re.compile(
        r"^(?P<words>\S.*)\r?\n(?P<level>=|-|~|\^|\"|'|\*|\+|#)(?P=level){2,}[ \t]*$", re.MULTILINE
    ),
}
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
}  # fmt: skip
CODE_ENDINGS = tuple(_CODE)
_ABOVE = re.compile(r"[ \t]*(?:@|#\[|//|/\*|\*|--|#(?!!|define|include))")
_NO_DEFINITION = re.compile(r"[ \t]*(?:if|for|while|switch|return|else|catch|do)\b")
_MAX_INDENT = 8


def landmarks(content: str, file_name: str) -> Iterator[tuple[int, str, int]]:
    """The level, the words and the start of each heading."""
    ending = f".{file_name.rpartition('.')[2].lower()}"
    if ending in _MARKUP:
        yield from _headings(content, _MARKUP[ending])
    elif ending in _CODE:
        yield from _definitions(content, _CODE[ending])


def _headings(content: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str, int]]:
    underlines: list[str] = []
    for match in pattern.finditer(content):
        mark = match["level"]
        if mark in _TEX:
            level = max(_TEX.index(mark) - 1, 1)
        elif (mark in "*=" and match.start("level") == match.start()) or len(mark) > 1:
            level = len(mark)
        else:  # reStructuredText ranks underlines by their first use
            underlines += [mark] if mark not in underlines else []
            level = underlines.index(mark) + 1
        yield min(level, 6), match["words"].strip(), match.start()


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
