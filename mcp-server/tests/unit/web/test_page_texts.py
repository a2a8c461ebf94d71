"""Documents rendered, words marked, and the page's words in both languages."""

import re
from pathlib import Path

import pytest
from hostile import PAYLOADS, harm_in
from hypothesis import given
from hypothesis import strategies as st
from mdvec.documents.reading import DocumentText

import mdvec_mcp.web.page
from mdvec_mcp.web.page.rendered import rendered_document
from mdvec_mcp.web.page.search_view import marked
from mdvec_mcp.web.page.words import known_words

FOLDER = Path(mdvec_mcp.web.page.__file__).parent
SCRIPT = '<script src="/static/0/page.js"></script>'


def document(content, path="notes/a.md"):
    return DocumentText("notes", path, "", content, 0, len(content), 1, 9, len(content), 9, False,
                        None)  # fmt: skip


def html(content, passage=range(0), path="notes/a.md", *, as_markdown=True):
    return str(rendered_document(document(content, path), passage, as_markdown=as_markdown))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_document_acts(payload):
    content = f"# {payload}\n\n{payload}\n\n- {payload}\n\n| {payload} |\n| --- |\n| {payload} |\n"
    for as_markdown in (True, False):
        assert harm_in(html(content, range(1, 9), as_markdown=as_markdown) + SCRIPT) == []
    assert harm_in(str(marked(payload, ["script", "alert"])) + SCRIPT) == []


@given(st.text(alphabet="<>\"'&/=`[]()!ajvscript:\n#-| x", max_size=80))
def test_no_generated_document_acts(content):
    assert harm_in(html(content, range(1, 5)) + SCRIPT) == []


def test_the_passage_is_marked_and_its_first_block_can_be_linked_to():
    shown = html("---\na: 1\n---\n# 一\n\n二\n\n- 三\n- 四\n\n五\n", range(6, 9))
    assert '<p class="hit" id="hit">二</p>' in shown
    assert '<li class="hit">三</li>' in shown
    assert "<li>四</li>" in shown
    assert '<pre class="matter">' in shown
    plain = html("a\nb\nc", range(2, 4), as_markdown=False)
    assert '<mark id="hit">b</mark>\n<mark>c</mark>' in plain


@pytest.mark.parametrize(
    ("target", "href"),
    [
        ("https://e.example/x?a=1", 'href="https://e.example/x?a=1" rel="noreferrer noopener"'),
        ("b.md", 'href="/document?tool=notes&amp;path=notes%2Fb.md"'),
        ("../%E6%B0%B4.md#x", 'href="/document?tool=notes&amp;path=%E6%B0%B4.md"'),
        ("../../etc/passwd", "<a>"),
        ("/etc/passwd", "<a>"),
        ("ftp://e.example/", "<a>"),
        ("#here", "<a>"),
    ],
)
def test_links_lead_to_the_web_or_to_other_documents(target, href):
    assert href in html(f"[x]({target})")


def test_words_are_marked_whatever_their_width_or_case():
    assert marked("ＡＢＣとabcと水と水", ["abc", "水と", "と水"]) == (
        "<mark>ＡＢＣ</mark>と<mark>abc</mark><mark>と水と水</mark>"
    ).replace("</mark><mark>", "")
    assert marked("", ["a"]) == ""


def test_every_word_of_the_templates_is_known_in_both_languages():
    used = set()
    for file in (FOLDER / "templates").iterdir():
        used |= set(re.findall(r"""\bt\(["'](\w+)["']\s*[,)]""", file.read_text(encoding="utf-8")))
    assert used - known_words().keys() == set()
    for key, (ja, en) in known_words().items():
        fields = [set(re.findall(r"{(\w+)}", words)) for words in (ja, en)]
        assert ja
        assert en
        assert fields[0] == fields[1], key
