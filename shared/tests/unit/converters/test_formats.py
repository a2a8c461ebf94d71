"""Presentations, books, notebooks, mail and exports as Markdown."""

import io
import json
import re
import zipfile
from base64 import b64encode
from datetime import date

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from sample_documents import epub, notebook, slides, zipped
from table_of_cases import each

from mdvec.converters import book, conversations, exports, html, mail
from mdvec.converters import notebook as jupyter
from mdvec.converters import slides as powerpoint
from mdvec.converters import word as microsoft_word
from mdvec.converters.formats import NotConverted, format_of
from mdvec.text.markdown import PAGE_BREAK, bundle_of, is_bundle, is_converted
from mdvec.text.matter import front_matter
from mdvec.text.properties import properties_of


def test_a_presentation_has_a_page_a_slide_with_its_notes():
    shown = slides(
        ("決算説明", ["売上は増えた", "費用は減った"], "ここで間を置く"), ("Outlook", ["x"], "")
    )
    assert powerpoint.convert(shown, "a.pptx").content.split(PAGE_BREAK) == [
        "# 決算説明\n\n- 売上は増えた\n- 費用は減った\n\nNotes: ここで間を置く\n\n",
        "\n\n## Outlook\n\nx\n",
    ]


def test_a_book_has_a_page_a_chapter():
    made = epub("山の本", "<h1>登る</h1><p>朝に発つ。</p>", "<h1>下る</h1><p>昼に着く。</p>")
    assert book.convert(made, "山.epub").content == (
        '---\ntitle: "山の本"\n---\n\n# 登る\n\n朝に発つ。\n\n\f\n\n# 下る\n\n昼に着く。\n'
    )


def test_a_notebook_has_a_page_a_cell_and_little_of_what_it_printed():
    made = notebook(("markdown", "# 集計", ""), ("code", "print(total)", "42\n" + "x" * 5_000))
    first, second = jupyter.convert(made, "a.ipynb").content.split(PAGE_BREAK)
    assert first == "# 集計\n\n"
    assert second.startswith("\n\n```python\nprint(total)\n```\n\n```\n42\nxxx")
    assert len(second) < 1_100


@each(
    ("output", "shown"),
    [
        ({"output_type": "error", "ename": "KeyError", "evalue": "'円'", "traceback": ["x"]},
         "KeyError: '円'"),
        ({"output_type": "error", "ename": "KeyError"}, "KeyError"),
        ({"output_type": "error", "ename": "E", "evalue": "\x1b[31m七\x1b[0m\n八"}, "E: 七\n八"),
        ({"output_type": "error", "ename": "E", "evalue": 7}, "E: 7"),
        ({"output_type": "error", "ename": "TypeError", "evalue": "ignored",
          "traceback": ["\x1b[0;32m<ipython>\x1b[0m", "\x1b[0;31mTypeError\x1b[0m: 型が違います"]},
         "TypeError: 型が違います"),
        ({"data": {"text/plain": "<Markdown object>", "text/markdown": ["合計\n", "**42**"]}},
         "合計\n**42**"),
        ({"data": {"text/plain": "A & B", "text/markdown": "A &amp; B", "text/html": "A &amp; B"}},
         "A & B"),
        ({"data": {"text/plain": "42", "image/png": "iVBORw0KGgo="}}, "42"),
    ],
)  # fmt: skip
def test_an_output_of_a_notebook_has_the_text_that_a_reader_sees(output, shown):
    cell = {"cell_type": "code", "source": "f()", "outputs": [output]}
    made = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}).encode()
    code = "```python\nf()\n```"
    assert jupyter.convert(made, "a.ipynb").content == f"{code}\n\n```\n{shown}\n```\n"


MESSAGE = """From: 佐藤 <sato@example.com>
To: team@example.com
Subject: =?utf-8?B?5aSP44Gu5Lya6K2w?=
Date: Tue, 5 Aug 2025 10:00:00 +0900
Content-Type: text/html; charset=utf-8

<p>八月の会議は<b>中止</b>です。</p><p style="display:none">x</p>
"""


def test_a_slide_has_its_exponents_and_the_figures_of_its_charts():
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    frame = slide.shapes.title.text_frame
    frame.text = "予算10"
    power = frame.paragraphs[0].add_run()
    power.text, power.font._element.attrib["baseline"] = "6", "30000"
    struck = frame.paragraphs[0].add_run()
    struck.text, struck.font._element.attrib["strike"] = "万", "dblStrike"
    for along, values in ((["東", "西"], (1.5, None)), ([date(2024, 1, 1)], (2,))):
        figures = CategoryChartData()
        figures.categories = along
        figures.add_series("売上|円", values)
        slide.shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, 9, 9, figures)
    converted = powerpoint.convert(saved(show), "a.pptx")
    assert converted.content == (
        "# 予算10^6~~万~~\n\n|  | 売上\\|円 |\n| --- | --- |\n| 東 | 1.5 |\n| 西 |  |\n\n"
        "|  | 売上\\|円 |\n| --- | --- |\n| 2024-01-01 | 2 |\n"
    )
    assert converted.notes == ()
    slide.shapes.add_ole_object(io.BytesIO(b"x"), "Package", 0, 0)
    noted = powerpoint.convert(saved(show), "a.pptx").notes
    assert noted == ("diagrams, charts or objects of slide 1 cannot be read",)
    commented = io.BytesIO(saved(show))
    with zipfile.ZipFile(commented, "a") as parts:
        parts.writestr("ppt/comments/modernComment_1.xml", "<x>見て</x>")
    noted = powerpoint.convert(commented.getvalue(), "a.pptx").notes
    assert noted[1:] == ("comments were left out",)


def saved(show):
    target = io.BytesIO()
    show.save(target)
    return target.getvalue()


def test_mail_has_its_subject_people_and_date_and_a_mailbox_is_a_bundle_of_it():
    text = (
        '---\ntitle: "夏の会議"\nfrom: "佐藤 <sato@example.com>"\nto: "team@example.com"\n'
        'date: "2025-08-05"\n---\n\n八月の会議は**中止**です。\n'
    )
    assert mail.convert(MESSAGE.encode(), "a.eml").content == text
    box = f"From a\n{MESSAGE}\nFrom b\nSubject: two\n\nsecond\n"
    read = []
    converted = mail.convert(box.encode(), "古い/a.mbox", lambda *page: read.append(page))
    assert read == [(1, 2), (2, 2)]
    first, second = converted.parts
    assert first.content == text
    assert second.content == '---\ntitle: "two"\n---\n\nsecond\n'
    assert converted.content == (
        f"# a.mbox\n\n- [{first.name}](<a.mbox/{first.name}>)\n"
        f"- [{second.name}](<a.mbox/{second.name}>)\n"
    )
    assert re.fullmatch(r"夏の会議 [0-9a-f]{8}\.md", first.name)
    # Mail programs mean Windows' signs by ISO-2022-JP, and some say no encoding at all.
    for said, body in (
        ("; charset=iso-2022-jp", b"\x1b$B-jJ!-!$O\x1b(B x"),
        ("; charset=Shift_JIS", "㈱福①は x".encode("cp932")),
        ("", "㈱福①は x".encode()),
    ):
        charset = said.partition("=")[2] or "utf-8"
        word = f"Subject: =?{charset}?B?{b64encode(body).decode()}?=\n =?{charset}?q?y?=\n"
        for subject in (word.encode(), b"Subject: " + body + b"\n y\n"):
            head = subject + f"Content-Type: text/plain{said}\n\n".encode()
            title, made = mail.convert(head + body, "a.eml").content.split("\n---\n\n")
            assert made == "㈱福①は x\n"
            assert title.replace("x y", "xy") == '---\ntitle: "㈱福①は xy"'
    message = "Subject: 七\n\n内"
    long = b"Subject: " + b"=?utf-8?q?a?= " * 200_000  # would take half a minute
    assert mail.convert(long + b"\n\nx", "a.eml").content.endswith("\n\nx\n")
    for at in range(8):  # each forwards the one before
        kind = f"Content-Type: multipart/mixed; boundary=b{at}-\nSubject: 転送{at}\n\n"
        part = f"--b{at}-\nContent-Type: message/rfc822\n\n{message}"
        message = f"{kind}--b{at}-\n\n本文{at}\n{part}\n--b{at}---\n"
    forwarded = mail.convert(message.encode(), "a.eml").content
    assert "本文7\n\n## 転送6\n\n本文6\n\n## 転送5" in forwarded
    assert "本文2" in forwarded
    assert "本文1" not in forwarded
    quoted = mail.convert(b"From a\nSubject: x\n\n>From here\n", "a.mbox").parts[0]
    assert quoted.content.endswith("\n\nFrom here\n")
    # Its name stays, wherever in the mailbox it is.
    assert mail.convert(b"From b\nSubject: x\n\n1\n\n" + box.encode(), "a.mbox").parts[1] == first


def test_every_text_of_a_mail_is_read_and_the_rest_is_named():
    def parts(kind, *inside):
        joined = "".join(f"--b\n{part}\n" for part in inside)
        return f"Content-Type: multipart/{kind}; boundary=b\n\n{joined}--b--\n"

    def body(message):
        return mail.convert(f"Subject: x\n{message}".encode(), "a.eml").content.split("---\n\n")[1]

    plain = "Content-Type: text/plain; charset=utf-8\n\n{}"
    page = "Content-Type: text/html; charset=utf-8\n\n<p>合計は12,345円</p>"
    invitation = "Content-Type: text/calendar\n\nBEGIN:VCALENDAR"
    assert body(parts("alternative", page, invitation)) == "合計は12,345円\n"
    picture = 'Content-Type: image/jpeg\nContent-Disposition: inline; filename="a.jpg"\n\nx'
    assert body(parts("alternative", plain.format(" "), page)) == "合計は12,345円\n"
    assert body(parts("alternative", plain.format("文"), page)) == "文\n"
    mixed = parts("mixed", plain.format("前"), picture, plain.format("振込先"))
    assert body(mixed) == "前\n\n振込先\n\nAttached: a.jpg\n"
    sealed = parts("encrypted", "Content-Type: application/pgp-encrypted\n\nVersion: 1")
    assert body(sealed) == "Attached: application/pgp-encrypted\n"


CLAUDE = [
    {
        "name": "旅の計画",
        "created_at": "2025-05-01T09:00:00Z",
        "chat_messages": [
            {"sender": "human", "text": "京都で一泊したい"},
            {"sender": "assistant", "text": "五月が良い"},
        ],
    }
]
CHATGPT = [
    {
        "title": "Bread",
        "create_time": 1_746_000_000,
        "current_node": "c",
        "mapping": {
            "a": {"message": None, "parent": None},
            "b": {
                "message": {"author": {"role": "user"}, "content": {"parts": ["How?"]}},
                "parent": "a",
            },
            "c": {
                "message": {"author": {"role": "assistant"}, "content": {"parts": ["Knead."]}},
                "parent": "b",
            },
        },
    }
]
CODE = [
    {"type": "user", "timestamp": "2025-07-01T01:02:03Z", "message": {"content": "fix it"}},
    {"type": "summary"},
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
]


def test_an_export_of_slack_has_a_page_a_channel_and_day():
    users = [{"id": "U1", "name": "hanako", "profile": {"display_name": "花子"}},
             {"id": "U2", "real_name": "太郎"}]  # fmt: skip
    day = [
        {
            "type": "message",
            "user": "U1",
            "ts": "1",
            "text": "<@U2> <https://a.jp/|資料> &lt;済&gt;",
        },
        {"type": "message", "subtype": "channel_join", "user": "U2", "text": "joined"},
        {"type": "message", "user": "U2", "text": "<#C1|防災> を見る <https://b.jp>"},
    ]
    data = zipped({
        "users.json": json.dumps(users), "channels.json": "[]",
        "防災/2025-06-02.json": json.dumps(day[2:]), "防災/2025-06-01.json": json.dumps(day),
    })  # fmt: skip
    first, second = exports.convert(data, "Slack.zip").parts
    assert first.name == "防災/2025-06-01.md"
    assert first.content == (
        '---\ntitle: "#防災 2025-06-01"\ndate: "2025-06-01"\npeople: ["太郎", "花子"]\n---\n\n'
        "# #防災 2025-06-01\n\n**花子**: @太郎 [資料](https://a.jp/) <済>\n\n"
        "**太郎**: #防災 を見る https://b.jp\n"
    )
    assert second.name == "防災/2025-06-02.md"
    # Unpacked, a day tells the names of who wrote on it.
    told = [*day[1:], {**day[0], "user_profile": {"display_name": "", "real_name": "花子"}}]
    unpacked = exports.convert(json.dumps(told).encode(), "会社/防災/2025-06-01.json").content
    assert 'people: ["U2", "花子"]' in unpacked
    assert "# #防災 2025-06-01\n\n**U2**: #防災" in unpacked
    silent = exports.convert(json.dumps(day[1:2]).encode(), "防災/2025-06-03.json")
    assert silent.content == "# 防災/2025-06-03.json\n"


def test_an_export_of_notion_has_its_pages_also_where_it_is_in_parts():
    page, other = (f"{name} {at:032x}.md" for at, name in enumerate(("議事録", "A 買い物")))
    part = zipped({page: "# 議事録\n\n六月の会", f"家/{other}": "# 買い物\n", "家/表.csv": "a\n"})
    for data in (part, zipped({"ExportBlock-Part-1.zip": part, "index.html": "x"})):
        converted = exports.convert(data, "n.zip")
        assert [(p.name, p.content) for p in converted.parts] == [
            (f"家/{other}", "# 買い物\n"), (page, "# 議事録\n\n六月の会"),
        ]  # fmt: skip
        assert converted.notes == ("1 table left out: import .csv as a dataset",)


def test_a_page_of_notion_has_its_properties_as_front_matter_and_in_its_text():
    page = (
        "# 旅行\n\n状態: 進行中\nCreated time: July 3, 2025 9:00 AM\nTags: 家 の事, 夏\n"
        '📅 (期限): 秋\nA "b": [c]: d\n\n宿は海沿い。\n'
    )
    prose = "# 旅行\n\n注意: 鍵は箱にある。\n次の行。\n"
    pages = (page, prose, page.replace("\n", "\r\n"))
    names = [f"{name} {at:032x}.md" for at, name in enumerate("abc")]
    told, plain, of_windows = exports.convert(
        zipped(dict(zip(names, pages, strict=True))), "n.zip"
    ).parts
    assert front_matter(of_windows.content) == front_matter(told.content)
    assert told.content.endswith(f"---\n\n{page}")
    assert plain.content == prose
    found = properties_of(told.content, front_matter(told.content))
    assert (found.date, found.tags) == (date(2025, 7, 3), ("家 の事", "夏"))
    assert found.values == {
        "状態": "進行中", "Created time": "July 3, 2025 9:00 AM", "Tags": ("家 の事", "夏"),
        "📅 (期限)": "秋", 'A "b"': "[c]: d",
    }  # fmt: skip


def test_a_property_of_notion_may_have_several_lines_where_its_databases_table_names_it():
    page = (
        "# 旅行\n\nタグ: 家 の事, 夏\n概要: 一行目。\n注意: 二行目。\n三行目。\n状態: 済\n\n"
        "本文: 宿は海沿い。\n"
    )
    ids = [f"{at:032x}" for at in range(3)]
    table = "\ufeff名前,タグ,概要,状態\n旅行,,,\n"
    for csv_name in (f"家/旅 {ids[0]}.csv", f"家/旅 {ids[0]}_all.csv"):
        for folder in ("家/旅", f"家/旅 {ids[0]}"):
            part, beside = exports.convert(
                zipped(
                    {csv_name: table, f"{folder}/旅行 {ids[1]}.md": page, f"他 {ids[2]}.md": page}
                ),
                "n.zip",
            ).parts[:: 1 if folder < "他" else -1]
            found = properties_of(part.content, front_matter(part.content))
            assert found.tags == ("家 の事", "夏")
            assert found.values == {
                "タグ": ("家 の事", "夏"), "概要": "一行目。 注意: 二行目。 三行目。", "状態": "済",
            }  # fmt: skip
            assert part.content.endswith(f"---\n\n{page}")
            assert beside.content == page


def test_exports_of_conversations_have_a_document_each():
    first, again = conversations.convert(
        json.dumps(CLAUDE * 2).encode(), "conversations.json"
    ).parts
    assert (
        first.content
        == again.content
        == (
            '---\ntitle: "旅の計画"\ndate: "2025-05-01"\npeople: ["assistant", "human"]\n---\n\n'
            "# 旅の計画\n\n**human**: 京都で一泊したい\n\n**assistant**: 五月が良い\n"
        )
    )
    assert (first.name, again.name) == ("旅の計画.md", "旅の計画 (2).md")
    (bread,) = conversations.convert(json.dumps(CHATGPT).encode(), "conversations.json").parts
    assert 'date: "2025-04-30"' in bread.content
    assert bread.content.endswith("# Bread\n\n**user**: How?\n\n**assistant**: Knead.\n")
    both = {"conversations-000.json": CLAUDE, "conversations-001.json": CHATGPT, "users.json": []}
    packed = exports.convert(zipped({k: json.dumps(v) for k, v in both.items()}), "export.zip")
    assert packed.parts == (first, bread)
    said = {"type": "text", "text": "これを要約して"}
    pasted = [{"file_name": "", "extracted_content": "貼った文"}]
    asked = {"sender": "human\n", "text": "", "content": [said], "attachments": pasted}
    (short,) = conversations.convert(
        json.dumps([{"chat_messages": [asked]}]).encode(), "conversations-001.json"
    ).parts
    assert short.content.endswith("**human**: これを要約して\n\n貼った文\n")
    lines = "\n".join(map(json.dumps, CODE)).encode()
    assert conversations.convert(lines, "a.jsonl").content == (
        '---\ndate: "2025-07-01"\npeople: ["assistant", "user"]\n---\n\n'
        "**user**: fix it\n\n**assistant**: Done.\n"
    )


def test_a_format_is_known_by_its_ending_in_which_0_is_any_digit():
    names = ("a/Conversations-012.JSON", "防災/2025-06-01.json", "a/users.json", "庭.jsonl", "a.h")
    assert [known and known.name for known in map(format_of, names)] == [
        "conversations", "exports", None, "conversations", "code",
    ]  # fmt: skip
    assert list(map(is_bundle, names)) == [True, False, False, False, False]
    assert list(map(is_converted, names)) == [True, True, False, True, False]


def test_no_name_in_an_export_leaves_its_bundle():
    names = [f"{name} {0:032x}.md" for name in ("../../外", "/etc/x", "a//b", ". /c")]
    converted = exports.convert(zipped(dict.fromkeys(names, "# x\n")), "n.zip")
    assert sorted(part.name.partition(" ")[0] for part in converted.parts) == [
        "a/b", "c", "etc/x", "外",
    ]  # fmt: skip
    assert bundle_of(f"exports/n.zip/{converted.parts[0].name}") == "exports/n.zip"
    assert bundle_of("exports/n.zip") is None


LAUGHS = (
    b'<!DOCTYPE d [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 20) for n in range(9))
    + b"]><d>&j;</d>"
)
OUTSIDE = b'<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]><d>&a;</d>'
DRM = '<e><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></e>'


@each(
    ("convert", "data", "reason"),
    [
        (
            microsoft_word.convert,
            b"\xd0\xcf\x11\xe0" + b"x" * 600,
            "protected by a password, or of",
        ),
        (microsoft_word.convert, b"PK\x03\x04 cut", "it is damaged, or not what its ending says"),
        (microsoft_word.convert, zipped({"a": "b"}), "its part 'word/document.xml' is missing"),
        (microsoft_word.convert, zipped({"word/document.xml": LAUGHS}), "is not XML"),
        (microsoft_word.convert, zipped({"word/document.xml": OUTSIDE}), "is not XML"),
        (powerpoint.convert, zipped({"a": "b"}), "it is damaged, or not what its ending says"),
        (book.convert, epub("x", "<p>x</p>", **{"META-INF/encryption.xml": DRM}), "its seller"),
        (html.convert, b"<script>document.write('x')</script>", "it has no text that a browser"),
        (jupyter.convert, b'{"worksheets": []}', "it is not a notebook"),
        (conversations.convert, b'{"a": 1}', "it is not an export of conversations"),
        (exports.convert, zipped({"a.txt": "x"}), "it is not an export of Slack"),
        (exports.convert, zipped({"users.json": "[1]"}), "it is not an export of Slack"),
        (mail.convert, b"\n\n", "it is not a message"),
    ],
)
def test_what_cannot_be_read_is_said(convert, data, reason):
    with pytest.raises(NotConverted, match=reason):
        convert(data, "x")


def test_a_small_file_that_unpacks_to_too_much_is_refused():
    bomb = zipped({"word/document.xml": b" " * 320_000_000}, level=1)
    with pytest.raises(NotConverted, match="unpacks to more than 300 MB"):
        microsoft_word.convert(bomb, "x")
