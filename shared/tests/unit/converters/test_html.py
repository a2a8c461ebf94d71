"""Web pages as Markdown: what a browser shows of them, and their tables, figures and formulas."""

from table_of_cases import each

from mdvec.converters import html

PAGE = (
    """<html><head><title>庭の本 | 店</title><style>.x, #y { display: none }
@media print { p { display: none } } .ad::before { display: none }</style></head><body>
<nav>会社概要</nav><script>steal()</script><main><h2>春の庭</h2><p>種を
まく日は<ruby>彼岸<rp>(</rp><rt>ひがん</rt><rp>)</rp></ruby>の後。<a href="https://x.example/">詳しく</a>
<a href="javascript:x()">押す</a></p><p class="x">hidden by a class</p><p hidden>hidden</p>
<p style="color:#FFF">white</p><div style="background:#000"><p style="color:#fff">白い字</p></div>
<pre><code class="language-py">a_b = 1 * 2
</code></pre><table><tr><th>月</th><th>花</th></tr><tr><td>三</td><td>梅</td></tr></table>
"""
    + "<p>土を耕す。</p>" * 40
    + "</main><footer>著作権</footer></body></html>"
)


def test_a_web_page_is_its_main_part_without_what_is_not_shown():
    document = html.convert(PAGE.encode("cp932"), "庭.html")
    assert document.content.startswith(
        '---\ntitle: "庭の本 | 店"\n---\n\n## 春の庭\n\n種をまく日は彼岸（ひがん）の後。'
        "[詳しく](https://x.example/)\n押す\n\n白い字\n\n```py\na_b = 1 * 2\n```\n\n"
        "| 月 | 花 |\n| --- | --- |\n| 三 | 梅 |\n\n土を耕す。"
    )
    for word_left_out in ("会社概要", "steal", "hidden", "white", "著作権"):
        assert word_left_out not in document.content
    assert document.notes == ("text that a browser does not show was left out",)


@each(
    ("styles", "body", "shown"),
    [
        (
            ".tab{display:none} .tab.active{display:block}",
            '<p class="tab active">営業時間</p><p class="tab">休業日</p>',
            "営業時間",
        ),
        (
            ".a{display:none} .b .a, .c{display:block}",
            '<div class="b"><p class="a">見える</p></div><p class="a">x</p>',
            "見える",
        ),
        (
            ".m.h{display:none} .m{display:block}", '<p class="m h">x</p><p class="m">見</p>', "見"
        ),
        (
            ".n{display:none!important} #q{display:block}",
            '<p class="n" id="q">x</p><p class="n" style="display:block">x</p><p>見</p>',
            "見",
        ),
        (".a{display:none}", '<p class="a" style="display:flex">見</p>', "見"),
        (".a{display:none} .a:first-child{display:block}", '<p class="a">見<p class="a">x', "見"),
        (".a:not(.b){display:none}", '<p class="a b">見</p><p class="a">x</p>', "見"),
        ("ul{font-size:0} li{font-size:1em}", "<ul>x<li>見</ul>", "- 見"),
        (
            ".a{visibility:hidden}",
            '<p class="a">x<b style="visibility:visible">見</b></p>',
            "**見**",
        ),
        ('</style><style media="print">p{display:none}', "<p>見</p>", "見"),
        (
            ".dark{background: linear-gradient(135deg, #667eea, #764ba2)} .a:hover{background:red}",
            '<p class="dark a"><b style="color:white">見</b></p><p class="a" style="color:#fff">x',
            "**見**",
        ),
        (
            "body{background:#FFFFFF;margin:0} p{background-size:cover;background:none}",
            '<p style="color:#fff">x</p><p style="background: white; color: white">x</p><p>見</p>',
            "見",
        ),
        (
            "body{background:#eee} .card{background:#fff}",
            '<b style="color:#fff">見</b><p class="card"><b style="color:#fff">x</b></p>',
            "**見**",
        ),
        (
            "",
            '<p style="background: none repeat scroll 0 0 #27a"><b style="color:#fff">見</b></p>',
            "**見**",
        ),
    ],
)  # fmt: skip
def test_what_a_style_sheet_hides_is_what_no_stronger_rule_shows(styles, body, shown):
    page = f"<style>{styles}</style>{body}".encode()
    assert html.convert(page, "a.html").content == shown


@each(
    ("page", "text"),
    [
        (
            "<table><tr><th>品目<th>単価<tr><td>りんご<td>100</table>",
            "| 品目 | 単価 |\n| --- | --- |\n| りんご | 100 |",
        ),
        ("<ul><li>送料別<li>税込</ul>", "- 送料別\n- 税込"),
        ("<dl><dt>締切<dd>6月<dt>場所<dd>東京</dl>", "締切\n:   6月\n\n場所\n:   東京"),
        ("<ruby>漢字<rt>かんじ</ruby>です", "漢字（かんじ）です"),
        ("<ruby>漢<rp>(<rt>かん<rp>)</ruby>字", "漢（かん）字"),
        ("<pre>設定\n値\n  名</pre><p>日本\n語</p>", "```\n設定\n値\n  名\n```\n\n日本語"),
        (
            '<p>性別 <input type="checkbox" checked>男 <input type="checkbox">女',
            "性別 ☑ 男 ☐ 女",
        ),
        ('<span style="text-decoration: line-through">旧</span>新', "~~旧~~新"),
        ("<html><body><p>一</p></body></html><html><body><p>二</p></body></html>", "一\n\n二"),
        (
            '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><pre><![CDATA['
            "a < b && c > d]]></pre></body></html>",
            "```\na < b && c > d\n```",
        ),
    ],
)  # fmt: skip
def test_a_page_reads_as_a_browser_shows_it(page, text):
    assert html.convert(page.encode(), "a.html").content == text


def test_blocks_of_a_page_do_not_run_on_and_a_bar_ends_no_cell():
    page = (
        "<body><details><summary>導入</summary>手順</details><figure>絵<figcaption>題</figcaption>"
        "</figure>店<button>買う</button>今日<table><tr><th>a|b</th></tr><tr><td>い|たち</td></tr>"
        "</table></body>"
    )
    assert html.convert(page.encode(), "a.html").content == (
        "導入\n\n手順\n\n絵\n\n題\n\n店 今日\n\n| a\\|b |\n| --- |\n| い\\|たち |"
    )


@each(
    ("page", "text"),
    [
        ("売上は1,200<sup>2</sup>百万円", "売上は1,200^2百万円"),
        ("<b>10</b><sup><i>6</i></sup>円、10<sup>-3</sup>秒", "**10**^*6*円、10^-3秒"),
        ("10<span style='vertical-align:super'>6</span>円", "10^6円"),
        ("(1+r)<sup>3</sup>、2<sup>n</sup>", "(1+r)^3、2^n"),
        ("1<sup>1</sup>/<sub>2</sub>杯、<sup>1</sup>⁄<sub>4</sub>", "1 1/2杯、1/4"),
        ("<sup>1</sup>2024年度の値、log<sub>2</sub>8", "1 2024年度の値、log2 8"),
        ("100m<sup>2</sup>、H<sub>2</sub>O、注<sup>[1]</sup>", "100m2、H2O、注[1]"),
        ("2<sup>nd</sup>、SO<sub>4</sub><sup>2-</sup>", "2nd、SO4^2-"),
    ],
)
def test_raised_digits_lengthen_no_number(page, text):
    assert html.markdown_of_page(f"<p>{page}</p>") == text


@each(
    ("formula", "text"),
    [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
        ("<mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "2 1/2"),
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac><mi>v</mi>", "(1/2)v"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2"),
        ("<msup><mn>10</mn><mrow><mo>−</mo><mn>6</mn></mrow></msup>", "10^−6"),
        ("<msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msup>", "x^(n+1)"),
        ("<msqrt><mn>2</mn><mi>a</mi></msqrt>", "√(2a)"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot>", "8^(1/3)"),
        ("<msub><mi>log</mi><mn>2</mn></msub><mn>8</mn>", "log_2 8"),
        ("<mfrac linethickness='0'><mn>5</mn><mn>2</mn></mfrac>", "5; 2"),
        ("<mn>2</mn><mo>\u2062</mo><mn>3</mn>", "2×3"),
        ("<mn>1</mn><mn>2</mn><munknown><mn>3</mn><mn>4</mn></munknown>", "12 3 4"),
    ],
)
def test_a_formula_of_a_page_is_a_line_with_its_fractions_and_powers(formula, text):
    assert html.markdown_of_page(f"<p>式<math>{formula}</math>、</p>") == f"式{text}、"


@each(
    ("rows", "text"),
    [
        (
            "<tr><th>地域</th><th>区分</th><th>数</th></tr>"
            "<tr><td rowspan=2>東京</td><td>大人</td><td>1</td></tr>"
            "<tr><td>子供</td><td>2</td></tr>",
            "| 地域 | 区分 | 数 |\n| --- | --- | --- |\n| 東京 | 大人 | 1 |\n| 東京 | 子供 | 2 |",
        ),
        (
            "<tr><th rowspan=2>月</th><th colspan=2>売上</th></tr>"
            "<tr><th>店</th><th>通販</th></tr>",
            "| 月 | 売上 | |\n| --- | --- | --- |\n| 月 | 店 | 通販 |",
        ),
        # A figure is marked as the one above: it counts once.
        (
            "<tr><td>部長</td><td rowspan=0>4,000円</td></tr><tr><td>役員</td></tr>",
            "| 部長 | 4,000円 |\n| --- | --- |\n| 役員 | 〃 4,000円 |",
        ),
        (
            "<tr><td>a</td><td>b</td><td rowspan=3>c</td></tr><tr><td>d</td></tr><tr></tr>",
            "| a | b | c |\n| --- | --- | --- |\n| d |  | c |",
        ),
        (
            "<caption>表1</caption><tfoot><tr><td>計</td></tr></tfoot>"
            "<tr><td>円</td></tr><tbody><tr><td>1</td></tr></tbody>",
            "表1\n\n| 円 |\n| --- |\n| 1 |\n| 計 |",
        ),
        (
            f"<tr><td rowspan=2>{'長' * 400}</td></tr><tr><td>b</td></tr>",
            f"| {'長' * 400} |\n| --- |\n| 〃 | b |",
        ),
    ],
)
def test_each_cell_of_a_table_stands_in_its_column(rows, text):
    assert html.markdown_of_page(f"<table>{rows}</table>") == text


def test_items_have_the_numbers_that_the_page_gives_them():
    page = (
        "<ol start=5><li>a</li><li value=9>b</li><li>c</li></ol><ol type=a><li>d</li></ol>"
        "<ol reversed><li>e</li><li>f</li></ol>"
    )
    assert html.markdown_of_page(page) == "5. a\n9. b\n10. c\n\na. d\n\n2. e\n1. f"
