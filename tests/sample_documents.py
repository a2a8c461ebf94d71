"""Makes small documents in the formats that people keep, with invented text."""

import functools
import io
import json
import zipfile
from pathlib import Path

import docx
import matplotlib_fontja
import pptx
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

_FONT = "IPAexGothic"
_HEIGHT = 842


@functools.cache
def _register():
    folder = Path(matplotlib_fontja.__file__).parent
    pdfmetrics.registerFont(TTFont(_FONT, str(next(folder.rglob("*.ttf")))))


def pdf(*pages, password=None, white=()):
    """A PDF file; a page is a list of (x, from top, size, text), or of functions of a canvas."""
    _register()
    target = io.BytesIO()
    canvas = Canvas(
        target,
        pagesize=(595, _HEIGHT),
        invariant=True,
        encrypt=None if password is None else StandardEncryption(password),
    )
    for page in pages:
        for item in page:
            if callable(item):
                item(canvas)
                continue
            x, top, size, text = item
            canvas.setFont(_FONT, size)
            canvas.setFillGray(1 if text in white else 0)
            canvas.drawString(x, _HEIGHT - top, text)
        canvas.showPage()
    canvas.save()
    return target.getvalue()


def lines(x, top, size, *texts, leading=1.5):
    """Lines of a paragraph, each under the one before."""
    return [(x, top + number * size * leading, size, text) for number, text in enumerate(texts)]


def columns(x, top, size, *texts):
    """Vertical lines from right to left, each character drawn by itself."""
    return [
        (x - number * size * 1.6, top + row * size * 1.1, size, char)
        for number, text in enumerate(texts)
        for row, char in enumerate(text)
    ]


def table(x, top, size, width, *rows):
    """Rows of cells, the first of each at the left, the others at the right of their columns.

    Each character is drawn by itself, as browsers do.
    """
    _register()
    made = []
    for number, row in enumerate(rows):
        for at, cell in enumerate(row):
            left = x + at * width - (pdfmetrics.stringWidth(cell, _FONT, size) if at else 0)
            for char in cell:
                made.append((left, top + number * size * 1.5, size, char))
                left += pdfmetrics.stringWidth(char, _FONT, size)
    return made


def scan(canvas):
    """A page that is only a picture."""
    canvas.setFillGray(0.5)
    canvas.rect(60, 60, 400, 600, fill=1)


def word(*blocks):
    """A Word file; a block is (style, text), or a list of rows of a table."""
    document = docx.Document()
    for block in blocks:
        if isinstance(block, list):
            table = document.add_table(len(block), len(block[0]))
            for cells, row in zip(table.rows, block, strict=True):
                for cell, text in zip(cells.cells, row, strict=True):
                    cell.text = text
            continue
        style, text = block
        paragraph = document.add_paragraph(style=None if style == "hidden" else style)
        paragraph.add_run(text).font.hidden = True if style == "hidden" else None
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def slides(*pages):
    """A PowerPoint file; a slide is a title, its lines, and its notes."""
    show = pptx.Presentation()
    for title, texts, notes in pages:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text_frame.text = "\n".join(texts)
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    target = io.BytesIO()
    show.save(target)
    return target.getvalue()


def epub(title, *chapters, **more):
    """A book whose chapters are HTML; ``more`` are further parts by their names."""
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml"/>' for n in range(len(chapters)))
    spine = "".join(
        f'<itemref idref="c{n}" linear="{["yes", "no"][n > 0]}"/>' for n in range(len(chapters))
    )
    return zipped(
        {
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:'
            'container"><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
            f"<dc:title>{title}</dc:title></metadata><manifest>{items}</manifest>"
            f"<spine>{spine}</spine></package>",
            **{f"OPS/c{n}.xhtml": f"<html><body>{c}</body></html>" for n, c in enumerate(chapters)},
            **more,
        }
    )


def notebook(*cells):
    """A Jupyter notebook; a cell is its type, its source, and what it printed."""
    made = [
        {"cell_type": kind, "source": source, "outputs": [{"text": printed}] if printed else []}
        for kind, source, printed in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4}).encode()


def zipped(parts, level=None):
    """A zip file of texts or bytes by name."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return target.getvalue()
