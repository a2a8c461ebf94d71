"""Documents rendered, words marked, and the page's words in both languages."""

import re
from html import unescape
from pathlib import Path

from hostile import PAYLOADS, harm_in
from hypothesis import given
from hypothesis import strategies as st
from mdvec.documents.reading import DocumentText
from table_of_cases import each

import mdvec_mcp.web.page
from mdvec_mcp.web.page.data_view import file_parts
from mdvec_mcp.web.page.rendered import colored, rendered_document
from mdvec_mcp.web.page.search_view import marked
from mdvec_mcp.web.page.views import known_words

FOLDER = Path(mdvec_mcp.web.page.__file__).parent
SCRIPT = '<script src="/static/0/page.js"></script>'


def document(content, path="notes/a.md"):
    return DocumentText("notes", path, "", content, 0, len(content), 1, 9, len(content), 9, False,
                        None)  # fmt: skip


def html(content, passage=range(0), path="notes/a.md", *, as_markdown=True):
    return str(rendered_document(document(content, path), passage, as_markdown=as_markdown).html)


@each("payload", PAYLOADS)
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


@each(
    ("target", "href"),
    [
        ("https://e.example/x?a=1", 'href="https://e.example/x?a=1" rel="noreferrer noopener"'),
        ("b.md", 'href="/document?tool=notes&amp;path=notes%2Fb.md&amp;beside=notes"'),
        ("../%E6%B0%B4.md#x", 'href="/document?tool=notes&amp;path=%E6%B0%B4.md#s-x"'),
        ("../../etc/passwd", "<a>"),
        ("/learn/state", 'href="/document?tool=notes&amp;path=learn%2Fstate"'),
        ("ftp://e.example/", "<a>"),
        ("#Here-it", 'href="#s-here-it"'),
    ],
)
def test_links_lead_to_the_web_to_headings_or_to_other_documents(target, href):
    assert href in html(f"[x]({target})")


DOCUMENT = "/document?tool=notes&amp;path="
PICTURE = "/document/picture?tool=notes&amp;path="


@each(
    ("written", "shown"),
    [
        ("[[湯]]", f'<a href="{DOCUMENT}%E6%B9%AF&amp;beside=notes">湯</a>'),
        ("[[b#見出し 一|あれ]]", f'<a href="{DOCUMENT}b&amp;beside=notes#s-見出し-一">あれ</a>'),
        ("[[#下]]", '<a href="#s-下">#下</a>'),
        ("[[../../x]]", "<a>../../x</a>"),
        ("![[a.png]]", f'<img src="{PICTURE}notes%2Fa.png" alt="a.png" loading="lazy">'),
        ("![図](img/a.JPG)", f'<img src="{PICTURE}notes%2Fimg%2Fa.JPG" alt="図"'),
        ("![図](https://e.example/a.png)", "🖼 図"),
        ("![図](../../a.png)", "🖼 図"),
        ("![図](a.svg)", "🖼 図"),
        ("`[[a]]`", "<code>[[a]]</code>"),
    ],
)
def test_wiki_links_and_pictures_of_the_folder(written, shown):
    assert shown in html(written)


def test_headings_have_anchors_of_their_own_and_a_stated_one_is_not_shown():
    text = "# 概要 A\n## Set-up: *x*!\n## Set-up: x!\n### 名前 {/*own-name*/}\n#### 図 {#fig}\n"
    shown = rendered_document(document(text), range(0), as_markdown=True)
    assert [(each.level, each.words, each.anchor) for each in shown.headings] == [
        (1, "概要 A", "s-概要-a"), (2, "Set-up: x!", "s-set-up-x"),
        (2, "Set-up: x!", "s-set-up-x-1"), (3, "名前", "s-own-name"), (4, "図", "s-fig"),
    ]  # fmt: skip
    assert '<span id="s-own-name"></span>名前</h3>' in str(shown.html)
    assert "own-name*/" not in str(shown.html)


def test_tasks_and_footnotes_are_shown_as_such():
    shown = html("- [ ] 買う\n- [x] 済み\n\n本文[^1]\n\n[^1]: 注\n")
    assert shown.count('type="checkbox"') == 2
    assert shown.count('checked="checked"') == 1
    assert 'href="#fn1"' in shown
    assert "注" in shown


@each(
    ("language", "code", "shown"),
    [("python", "if x:  # 水\n  y = 'a\\'b'",
      "<keyword>if</> x:  <comment># 水</>\n  y = <string>'a\\'b'</>"),
     ("sql", "SELECT 1.5 -- 合計", "<keyword>SELECT</> <number>1.5</> <comment>-- 合計</>"),
     ("js", "let u = `https://a` /* b */",
      "<keyword>let</> u = <string>`https://a`</> <comment>/* b */</>"),
     ("bash", "curl https://a/#b", "curl https://a/#b"),
     ("mermaid", "a --> b # if", "a --> b # if")],
)  # fmt: skip
def test_code_of_known_languages_is_coloured(language, code, shown):
    block = html(f"```{language}\n{code}\n```\n")
    inner = unescape(re.search(r"<code[^>]*>(.*)\n</code>", block, re.DOTALL)[1])
    marks = re.sub(r'<span class="code-(\w+)">', r"<\1>", inner).replace("</span>", "</>")
    assert marks == shown


@given(st.text("a1.#-/*`'\"\\\n <&水", max_size=60), st.sampled_from(["py", "js", "sql", "html"]))
def test_colours_leave_every_sign_as_it_is(code, language):
    assert unescape(re.sub(r"</?span[^>]*>", "", colored(code, language))) == code


def test_words_are_marked_whatever_their_width_or_case():
    assert marked("ＡＢＣとabcと水と水", ["abc", "水と", "と水"]) == (
        "<mark>ＡＢＣ</mark>と<mark>abc</mark><mark>と水と水</mark>"
    ).replace("</mark><mark>", "")
    assert marked("", ["a"]) == ""
    assert marked("セットアップとアップ、アップー。", ["アップ"]) == (
        "セットアップと<mark>アップ</mark>、<mark>アップ</mark>ー。"
    )


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


def test_a_file_that_is_sent_is_gone_before_its_first_part(tmp_path):
    file = tmp_path / "backup.zip"
    file.write_bytes(b"a" * 70_000)
    parts = file_parts(file)
    assert not file.exists()
    assert [len(part) for part in parts] == [65_536, 4_464]


@each("levels", [10, 22])
def test_everything_behind_a_deeply_nested_list_is_shown(levels):
    deep = "".join("  " * level + f"- 項目{level}\n" for level in range(levels))
    shown = html(f"# t\n\n{deep}- 次の項目\n\n## 次の章\n\nここから先。\n")
    assert f"項目{levels - 1}" in shown
    assert "次の章</h2>" in shown
    assert "<p>ここから先。</p>" in shown


@each("deep", ["> " * 10_000 + "a", "> - " * 5_000 + "a"])
def test_quotes_in_too_many_others_are_shown_with_their_signs(deep):
    shown = html(f"{deep}\n\n## 次の章\n\nここから先。\n")
    assert "&gt; " in shown
    assert "次の章</h2>" in shown


@each(
    "deep",
    ["".join("  " * level + "- 項目\n" for level in range(300)), "- " * 10_000 + "a"],
)  # fmt: skip
def test_a_document_nested_too_deeply_for_its_view_is_shown_as_text(deep):
    shown = html(f"{deep}\n\n## 次の章\n\nここから<b>先。\n", range(1, 2))
    assert shown.startswith('<pre class="plain"><mark id="hit">')
    assert shown.endswith("\n\n## 次の章\n\nここから&lt;b&gt;先。\n</pre>")
