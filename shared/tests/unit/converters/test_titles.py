"""Titles that files state of themselves, for documents without a heading that could be one."""

import io

import docx
import pptx
import pytest
from docx.shared import Pt
from pptx.util import Inches
from reportlab.pdfgen.canvas import Canvas
from sample_documents import zipped
from table_of_cases import each

from mdvec.converters import pdf, slides, word
from mdvec.converters.archive import Archive
from mdvec.converters.formats import with_own_title
from mdvec.text import outline


def word_file(title, heading=""):
    document = docx.Document()
    document.core_properties.title = title
    if heading:
        document.add_heading(heading, 1)
    document.add_paragraph("Bins are emptied on Monday.").runs[0].font.size = Pt(11)
    return saved(document)


def show(title, heading=""):
    presentation = pptx.Presentation()
    presentation.core_properties.title = title
    slide = presentation.slides.add_slide(presentation.slide_layouts[5 if heading else 6])
    if heading:
        slide.shapes.title.text = heading
    box = slide.shapes.add_textbox(*(Inches(1),) * 4)
    box.text_frame.text = "Bins are emptied on Monday."
    return saved(presentation)


def saved(document):
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def page(title, heading=""):
    target = io.BytesIO()
    canvas = Canvas(target, invariant=True)
    canvas.setTitle(title)
    if heading:
        canvas.setFont("Helvetica", 24)
        canvas.drawString(60, 760, heading)
    canvas.setFont("Helvetica", 11)
    for row in range(4):
        canvas.drawString(60, 700 - 16 * row, "Bins are emptied on Monday.")
    canvas.save()
    return target.getvalue()


FORMATS = [
    (word.convert, word_file, "docx"),
    (slides.convert, show, "pptx"),
    (pdf.convert, page, "pdf"),
]


@each(("convert", "made", "ending"), FORMATS)
def test_a_file_without_a_heading_has_the_title_that_it_states(convert, made, ending):
    name = f"scan0042.{ending}"
    text = convert(made("ごみの出し方：\n2025年度"), name).content
    assert outline(text, name).title == "ごみの出し方： 2025年度"
    assert text.endswith("Bins are emptied on Monday.\n")
    text = convert(made("Template of 2011", "Waste"), name).content
    assert outline(text, name).title == "Waste"
    assert "Template" not in text


@pytest.mark.parametrize(
    ("title", "convert", "made", "ending"),
    [
        pytest.param(title, *form, marks=() if kind in usual else pytest.mark.soak)
        for title, usual in [
            ("", "dp"),
            ("Document1", "d"),
            ("スライド 1", "s"),
            ("<FEFF3042>", "p"),
        ]
        for kind, form in zip("dsp", FORMATS, strict=True)
    ],
)
def test_what_a_program_wrote_itself_is_no_title(convert, made, ending, title):
    name = f"scan0042.{ending}"
    text = convert(made(title), name).content
    assert outline(text, name).title == "scan0042"
    assert not text.startswith("---")


@each(
    "title",
    [
        "", " ", "PowerPoint Presentation", "PowerPoint プレゼンテーション", "ごみ.docx",
        "Microsoft Word - x.docx", "Microsoft Word - 文書1", "Word Document", "Document1",
        "文書 1", "untitled", "Untitled-1", "無題のプレゼンテーション", "スライド 1", "スライド１",
        "<FEFF3042>", "タイトル",
    ],
)  # fmt: skip
def test_a_program_has_many_such_words(title):
    assert with_own_title("text", title) == "text"


@each("title", ["Introduction to Node.js", "株式会社Foo.co"])
def test_a_name_with_a_dot_is_a_title(title):
    assert with_own_title("text", title).startswith(f'---\ntitle: "{title}"')


def test_a_damaged_part_about_the_title_refuses_no_file():
    assert Archive(zipped({"docProps/core.xml": "<broken"})).title() == ""
    assert Archive(zipped({"docProps/core.xml": "<a/>"})).title() == ""
