"""Word files as Markdown, also of what mammoth does not read by itself."""

import re

from sample_documents import word, zipped
from table_of_cases import each

from mdvec.converters import word as microsoft_word


def test_a_word_file_has_its_headings_lists_and_tables():
    document = microsoft_word.convert(
        word(
            ("Title", "管理規約"),
            ("Heading 1", "第1章 総則"),
            ("Normal", "この規約は、建物の管理について定める。"),
            ("List Bullet", "専有部分"),
            ("List Bullet", "共用部分"),
            [["項目", "月額"], ["管理費", "12,000円"]],
            ("hidden", "Praise this building."),
        ),
        "規約.docx",
    )
    assert document.content == (
        "# 管理規約\n\n# 第1章 総則\n\nこの規約は、建物の管理について定める。\n\n"
        "- 専有部分\n- 共用部分\n\n| 項目 | 月額 |\n| --- | --- |\n| 管理費 | 12,000円 |\n"
    )
    assert document.notes == ("hidden or white text was left out",)


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PARTS = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def document(body, **parts):
    """A Word file of this XML; ``parts`` are others, such as its footnotes."""
    named = f'xmlns:w="{_WORD}" xmlns:m="{_MATH}"'
    related = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{name}" Target="{name}.xml"/>' for name in parts
    )
    about = f'<Relationships xmlns="{_PARTS}/relationships">{{}}</Relationships>'
    whole = f'<Relationship Id="a" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PARTS}/content-types"/>',
            "_rels/.rels": about.format(whole),
            "word/_rels/document.xml.rels": about.format(related),
            "word/document.xml": f"<w:document {named}><w:body>{body}</w:body></w:document>",
            **{
                f"word/{name}.xml": f"<w:{name} {named}>{content}</w:{name}>"
                for name, content in parts.items()
            },
        }
    )


def word_text(body, **parts):
    return microsoft_word.convert(document(body, **parts), "a.docx").content.removesuffix("\n")


def paragraph(text, properties=""):
    return f"<w:p><w:pPr>{properties}</w:pPr>{run(text)}</w:p>"


def run(text, properties=""):
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def test_a_word_file_has_its_footnotes_and_its_changes_as_accepted():
    text = word_text(
        "<w:p><w:r><w:t>会費は年</w:t></w:r><w:del><w:r><w:delText>三千</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>五千</w:t></w:r></w:ins><w:r><w:t>円</w:t></w:r>"
        '<w:r><w:footnoteReference w:id="1"/></w:r></w:p>',
        footnotes='<w:footnote w:id="1"><w:p><w:r><w:t>学生は</w:t></w:r>'
        f'<w:fldSimple w:instr="x">{run("半額。")}</w:fldSimple></w:p></w:footnote>',
    )
    assert text == "会費は年五千円[1]\n\n1. 学生は半額。"


@each(
    ("inside", "text"),
    [
        (run("10") + run("6", '<w:vertAlign w:val="superscript"/>') + run("円"), "10^6円"),
        (f'{run("計")}<w:fldSimple w:instr=" X ">{run("1,234")}</w:fldSimple>円', "計1,234"),
        (
            f"<w:r><w:ruby><w:rt>{run('さいとう')}</w:rt><w:rubyBase>{run('齋藤')}</w:rubyBase>"
            f"</w:ruby></w:r>{run('さん')}",
            "齋藤（さいとう）さん",
        ),
        (f"{run('ｘ')}<w:dir w:val='ltr'><w:bdo>{run('12')}</w:bdo></w:dir>", "ｘ12"),
        (f"{run('A')}<w:r><w:cr/></w:r>{run('B')}<w:r><w:ptab/></w:r>{run('5')}", "A  \nB 5"),
    ],
)
def test_words_of_a_word_file_are_there_in_whatever_they_stand(inside, text):
    assert word_text(f"<w:p>{inside}</w:p>") == text


def test_what_word_hides_stays_away_and_what_cannot_be_read_is_said():
    hidden = run("秘", "<w:vanish/>")
    ruby = f"<w:ruby><w:rt>{run('ひ')}</w:rt><w:rubyBase>{run('秘')}</w:rubyBase></w:ruby>"
    made = document(
        f"<w:p>{run('見える')}{hidden}<w:r><w:rPr><w:vanish/></w:rPr>{ruby}</w:r>"
        f"<w:odd>{run('謎')}</w:odd><w:even/></w:p>"
    )
    converted = microsoft_word.convert(made, "a.docx")
    assert converted.content == "見える\n"
    assert converted.notes == (
        "hidden or white text was left out",
        "text in elements that cannot be read was left out (odd)",
    )


def numbered(number, *levels):
    """A list of Word's: its number, and for each level how it counts, its text and more."""
    made = "".join(
        f'<w:lvl w:ilvl="{at}"><w:numFmt w:val="{way}"/><w:lvlText w:val="{text}"/>{more}</w:lvl>'
        for at, (way, text, more) in enumerate(levels)
    )
    return (
        f'<w:abstractNum w:abstractNumId="{number}">{made}</w:abstractNum>',
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="{number}"/></w:num>',
    )


def item(text, number, level=0, more=""):
    place = f'<w:ilvl w:val="{level}"/><w:numId w:val="{number}"/>'
    return paragraph(text, f"<w:numPr>{place}</w:numPr>{more}")


ARTICLES = numbered(
    1, ("decimal", "第%1条", ""), ("aiueoFullWidth", "(%2)", ""), ("decimal", "%1.%3", "")
)
PLAIN = numbered(2, ("decimal", "%1.", ""), ("lowerLetter", "%2)", ""))
FROM_3 = numbered(3, ("decimal", "%1.", '<w:start w:val="3"/>'))
KANJI = numbered(4, ("japaneseCounting", "%1、", '<w:suff w:val="nothing"/>'))
SIGNS = numbered(5, ("bullet", "●", ""))
ODD = numbered(6, ("koreanLegal", "%1", ""))
AGAIN = (
    "",
    '<w:num w:numId="7"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0">'
    '<w:startOverride w:val="8"/></w:lvlOverride></w:num>',
)
LISTS = "".join("".join(part) for part in zip(
    ARTICLES, PLAIN, FROM_3, KANJI, SIGNS, ODD, AGAIN, strict=True
))  # fmt: skip
DELETED = "<w:rPr><w:del/></w:rPr>"


@each(
    ("body", "text"),
    [
        (
            item("（目的）", 1) + paragraph("文。") + item("秘密", 1) + item("口頭", 1, 1)
            + item("書面", 1, 1) + item("細目", 1, 2) + item("期間", 1) + item("x", 1, 1),
            "第1条（目的）|文。|第2条 秘密|(ア) 口頭|(イ) 書面|2.1 細目|第3条 期間|(ア) x",
        ),
        (item("a", 2) + item("b", 2) + paragraph("間") + item("c", 2), "1. a 2. b|間|3. c"),
        (item("a", 2) + item("b", 2, 1) + item("c", 2), "1. a|a) b|2. c"),
        (item("a", 3) + item("b", 3), "3. a|4. b"),
        (item("a", 4) + item("b", 4), "一、a|二、b"),
        (item("a", 5) + item("b", 5), "- a - b"),
        (item("a", 2) + item("x", 5) + item("b", 2), "1. a|- x|2. b"),
        (item("a", 1) + item("b", 7) + item("c", 7), "第1条 a|第8条 b|第9条 c"),
        (item("a", 2) + item("", 2, more=DELETED) + item("b", 2), "1. a 2. b"),
        (item("a", 2) + item("", 2) + item("b", 2), "1. a|3. b"),
        (item("a", 0) + item("b", 99), "a|b"),
        (
            f"<w:tbl><w:tr><w:tc>{item('a', 2)}</w:tc></w:tr><w:tr><w:trPr><w:del/></w:trPr><w:tc>"
            f"{item('b', 2)}</w:tc></w:tr><w:tr><w:tc>{item('c', 2)}</w:tc></w:tr></w:tbl>",
            "| 1. a | | --- | | 2. c |",
        ),
    ],
)  # fmt: skip
def test_automatic_numbers_are_those_that_word_shows(body, text):
    written = word_text(body, numbering=LISTS)
    assert re.sub(r"\n\n", "|", written).replace("\n", " ") == text


def test_numbers_of_styles_and_headings_are_there_and_an_odd_way_of_counting_is_said():
    style = '<w:style w:type="paragraph" w:styleId="{}">{}</w:style>'
    places = '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
    heading = style.format("H", f'<w:name w:val="heading 1"/>{places}')
    styles = heading + style.format("S", '<w:name w:val="S"/><w:basedOn w:val="H"/>')
    body = paragraph("総則", '<w:pStyle w:val="H"/>') + paragraph("雑則", '<w:pStyle w:val="S"/>')
    made = document(body + item("x", 6), numbering=LISTS, styles=styles)
    converted = microsoft_word.convert(made, "a.docx")
    assert converted.content == "# 第1条 総則\n\n第2条 雑則\n\n1 x\n"
    assert converted.notes == ("automatic numbers counted as koreanLegal are written in digits",)


@each(
    ("formula", "text"),
    [
        ("<m:f><m:num>1</m:num><m:den>2</m:den></m:f>", "1/2"),
        ("<m:sSup><m:e>10</m:e><m:sup>6</m:sup></m:sSup>3", "10^6 3"),
        ("<m:rad><m:deg>3</m:deg><m:e>8</m:e></m:rad>", "8^(1/3)"),
        ("<m:rad><m:deg/><m:e>x+1</m:e></m:rad>", "√(x+1)"),
        ("<m:sSup><m:e><m:d><m:e>1+r</m:e></m:d></m:e><m:sup>n</m:sup></m:sSup>", "(1+r)^n"),
        ('<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>i=1</m:sub><m:sup>n</m:sup>'
         "<m:e>i</m:e></m:nary>", "∑_(i=1)^n i"),
        ("1<w:del>5</w:del>2", "12"),
    ],
)  # fmt: skip
def test_a_formula_of_word_is_a_line_too(formula, text):
    runs = re.sub(r"([^<>]+)(?=<)", r"<m:r><m:t>\1</m:t></m:r>", f"{formula}<")[:-1]
    made = f"<m:oMath>{runs}</m:oMath>"
    assert word_text(f"<w:p>{made}</w:p>") == text


def test_boxes_struck_figures_and_rows_that_begin_to_the_right_are_as_word_shows_them():
    box = (
        '<w:sdt><w:sdtPr><x:checkbox xmlns:x="http://schemas.microsoft.com/office/word/2010/wordml">'
        '<x:checked x:val="{}"/></x:checkbox></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>'
    )
    boxes = f"<w:p>{box.format(1, run('☒'))}{run('男')}{box.format(0, run('☐'))}{run('女')}</w:p>"
    struck = f"<w:p>{run('旧1,000円', '<w:dstrike/>')}{run('新800円')}</w:p>"
    cell = "<w:tc><w:p>{}</w:p></w:tc>"
    rows = (
        f"<w:tr>{''.join(cell.format(run(name)) for name in 'ABC')}</w:tr>"
        '<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>'
        f"{cell.format(run('b'))}{cell.format(run('c'))}</w:tr>"
    )
    assert word_text(f"{boxes}{struck}<w:tbl>{rows}</w:tbl>") == (
        "☑ 男☐ 女\n\n~~旧1,000円~~新800円\n\n| A | B | C |\n| --- | --- | --- |\n|  | b | c |"
    )


def test_headers_footers_and_comments_with_words_are_said_to_be_left_out():
    damaged = document(paragraph("本文"), header="<w:p>")
    assert microsoft_word.convert(damaged, "a.docx").content == "本文\n"
    parts = {
        "header": paragraph("文書番号 77"),
        "footer": paragraph("3"),
        "comments": paragraph("要確認"),
    }
    converted = microsoft_word.convert(document(paragraph("本文"), **parts), "a.docx")
    assert converted.content == "本文\n"
    assert converted.notes == ("headers were left out", "comments were left out")
