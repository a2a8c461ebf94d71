"""Colours of code in documents: comments, strings, numbers and common keywords, as HTML.

No parser of any language: what colours most code well enough to read, in one pass.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain

from markupsafe import Markup, escape

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
"""Texts; that a long one always ends, or is bounded, keeps the time in line with the length."""
_MAX_CHARS = 50_000
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


def colored(code: str, language: str, _attributes: str = "") -> str:
    """The code as HTML; "" if its language is unknown, or it is long."""
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
    """What is coloured in languages whose comments begin with a sign, the first that fits."""
    comments = [_BLOCKS[sign]] if sign in _BLOCKS else []
    if sign:  # not within a word or an address: https://…, and $# in a shell
        comments.append(rf"(?<![:/&\w$]){re.escape(sign)}[^\n]*")
    sql = "(?i:" + "|".join(_SQL.split()) + ")"
    words = sql if sign == "--" else "|".join(_KEYWORDS.split())
    return re.compile(
        rf"(?P<comment>{'|'.join(comments)})|(?P<string>{_TEXT})"
        rf"|(?P<number>(?<![\w.])\d[\d_.]*(?:e[+-]?\d+)?\b)|(?P<keyword>(?<![\w.$-])(?:{words})\b)",
        re.DOTALL,
    )
