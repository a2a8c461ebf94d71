"""Texts that would do something in a page that does not escape them, and how to see none does.

They stand in titles, headings, file names, shops, memos and column names: one for each way out of
an element, an attribute, a comment, a template or a link.
"""

from __future__ import annotations

from functools import lru_cache
from html.parser import HTMLParser
from urllib.parse import urlsplit

PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=javascript:alert(1)><button>x</button></form>",
    "<details open ontoggle=alert(1)>",
    "<style>*{background:url(http://evil.example/x)}</style>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "<base href=http://evil.example/>",
    '"><script>alert(1)</script>',
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    "` onmouseover=`alert(1)",
    "--><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</option></select><script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "{% for x in range(9) %}{{ x }}{% endfor %}",
    "${alert(1)}",
    "{csrf}",
    "{0.__class__}",
    "%s%n%x",
    "[x](javascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](file:///etc/passwd)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](//evil.example/x)",
    "[x](http://evil.example/ \"t' onclick='alert(1)\")",
    "![x](http://evil.example/beacon.png)",
    '![x" onerror="alert(1)](y.png)',
    "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
    "<http://evil.example/?a=\"onclick='alert(1)'>",
    "[x]: javascript:alert(1)",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "\u202e<script>alert(1)</script>",
    "＜script＞alert(1)＜/script＞",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    '=HYPERLINK("http://evil.example")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "－1＋1",
)

_OWN_ELEMENTS = {
    "html", "head", "meta", "title", "link", "script", "body", "a", "header", "nav", "details",
    "dialog",
    "summary", "form", "input", "select", "option", "button", "main", "h1", "h2", "h3", "h4", "h5",
    "h6", "p", "pre", "div", "fieldset", "legend", "label", "ol", "ul", "li", "span", "mark", "em",
    "strong", "code", "article", "table", "thead", "tbody", "tfoot", "tr", "th", "td", "dl", "dt",
    "dd", "progress", "svg", "g", "rect", "line", "polyline", "path", "circle", "text", "textarea",
    "section", "blockquote", "hr", "br", "s", "img", "caption", "kbd", "datalist", "small",
    "bdi", "del",
    "ins", "noscript",
}  # fmt: skip
_ADDRESSES = ("href", "src", "action", "formaction", "data", "xlink:href", "srcset", "poster")
_SCHEMES = ("", "http", "https", "mailto", "vscode", "obsidian")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.scripts = 0
        self.texts: list[str] = []
        self._is_script = False

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self._is_script = tag == "script"
        if tag == "script":
            self.scripts += 1
            if not (given.get("src") or "").startswith("/static/"):
                self.wrong.append(f"script {given}")
        if tag not in _OWN_ELEMENTS:
            self.wrong.append(f"element {tag}")
        if tag == "meta" and "http-equiv" in given:
            self.wrong.append(f"meta {given}")
        for name, value in attrs:
            self._look_at(tag, name, value or "")

    def _look_at(self, tag, name, value):
        if name.startswith("on") or name in ("style", "srcdoc"):
            self.wrong.append(f"{tag} {name}={value}")
        if name in _ADDRESSES:
            parts = urlsplit("".join(value.split()))
            is_foreign = bool(parts.netloc) and tag != "a"
            if parts.scheme.lower() not in _SCHEMES or is_foreign or value.startswith("//"):
                self.wrong.append(f"{tag} {name}={value}")

    def handle_data(self, data):
        if self._is_script and data.strip():
            self.wrong.append(f"inline script {data}")
        self.texts.append(data)

    def handle_endtag(self, tag):
        self._is_script = False


def harm_in(html: str) -> list[str]:
    """What could act in a page that is not of our making; [] if nothing could."""
    reader = _read(html)
    return reader.wrong + [f"{reader.scripts} scripts"] * (reader.scripts != 1)


def text_in(html: str) -> str:
    """The text that a person sees."""
    return " ".join("".join(_read(html).texts).split())


@lru_cache(maxsize=1)  # a page is often asked for both, one after the other
def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader
