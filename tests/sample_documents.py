"""Makes small documents in the formats that people keep, with invented text."""

import io
from pathlib import Path

import matplotlib_fontja
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

_FONT = "IPAexGothic"
_HEIGHT = 842


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


def scan(canvas):
    """A page that is only a picture."""
    canvas.setFillGray(0.5)
    canvas.rect(60, 60, 400, 600, fill=1)
