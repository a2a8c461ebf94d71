"""Reads PDF files by PDFium: the lines of each page, with their boxes."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from math import hypot
from statistics import median
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from mdvec.converters.formats import Converted, NotConverted, joined_pages, with_own_title
from mdvec.converters.pdf_document import Bookmarks, page_texts
from mdvec.converters.pdf_forms import FormText, entries, form_of
from mdvec.converters.pdf_lines import WIDE_SPACE, Line, TextBox, is_wide, normal_text, stacked
from mdvec.text import some_of

_MAX_PAGES = 20_000
_MAX_NAMED = 10
_TYPED_SIZE = 10.0
"""The assumed font size of typed text on a page without other text."""
_MAX_BOOKMARKS = 5_000
_CELL_GAP = 1.2
"""Text further apart than this many times its height belongs to different columns or cells."""
_WORD_GAP, _LETTER_GAP = 0.6, 0.2
"""Text at most this far apart belongs to one line, and to one word, despite PDFium's breaks."""
_MIN_SIZE = 1.0
_MIN_LETTER, _MAX_LETTER = 0.8, 3.0
"""The least and greatest height of a character's box, as a share of its font size."""
_WHITE = 250
_DARK = 200
_SMALLER, _HIGHER = 0.9, 0.2
"""The maximum size and minimum elevation of a raised character, relative to its neighbour's size.

A character that is only small is elevated, too, but less: by the space below its baseline.
"""
_TWO_DIGITS = re.compile(r"[0-9](?=([ \r\n]*)[0-9])")
_BREAK = re.compile(r"[\r\n]+")


def convert(
    data: bytes,
    file_name: str,  # noqa: ARG001 - as every converter's
    on_page: Callable[[int, int], None] = lambda _, __: None,
) -> Converted:
    """The text of a PDF file by page; ``on_page`` gets each page's number and the page count."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pdfium.FPDF_ERR_PASSWORD:
            raise NotConverted("it needs a password; save a copy without one") from error
        raise NotConverted("it is not a PDF file, or it is damaged") from error
    count = len(document)
    if not 0 < count <= _MAX_PAGES:
        raise NotConverted(f"it has {count:,} pages; 1 to {_MAX_PAGES:,} can be read")
    form = form_of(document)
    pages, hidden, commented = [], [], []
    for number in range(count):
        lines, is_hiding, has_comments = _page_lines(document, number, form)
        pages.append(lines)
        hidden += [number + 1] * is_hiding
        commented += [number + 1] * has_comments
        on_page(number + 1, count)
    if not any(pages):
        raise NotConverted(
            "no page of it has text, as in a scan; make its text searchable by OCR, such as "
            "ocrmypdf, first"
        )
    empty = [number for number, lines in enumerate(pages, 1) if not lines]
    text = joined_pages(page_texts(pages, _bookmarks(document)))
    noted = (
        (empty, "without text (a scan or a picture?)"),
        (hidden, "with text that nobody sees (white, tiny or beside the page), which was left out"),
        (commented, "with comments, which are not read"),
    )
    notes = tuple(
        f"{'page' if len(numbers) == 1 else 'pages'} {some_of([*map(str, numbers)], _MAX_NAMED)} "
        f"{what}"
        for numbers, what in noted
        if numbers
    )
    return Converted(with_own_title(text, document.get_metadata_value("Title")), notes)


def _bookmarks(document: pypdfium2.PdfDocument) -> Bookmarks:
    """The titles and levels in the file's own table of contents, by page."""
    titles: Bookmarks = {}
    try:
        for number, mark in enumerate(document.get_toc(max_depth=6)):
            target = mark.get_dest()
            page = None if target is None else target.get_index()
            if number >= _MAX_BOOKMARKS:
                break
            if page is not None:
                title = normal_text(mark.get_title())
                titles.setdefault(page, {})["".join(title.split())] = mark.level + 1
    except (pypdfium2.PdfiumError, ValueError):
        return {}
    return titles


def _page_lines(
    document: pypdfium2.PdfDocument, number: int, form: pypdfium2.PdfFormEnv | None
) -> tuple[list[Line], bool, bool]:
    """A page's lines, and whether invisible text and comments were left out."""
    try:
        page = document[number]
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:
        return [], False, False
    try:
        reader = _PageReader(page, text_page)
        lines = stacked(reader.lines())
        put = list(entries(page, form))
        typed = [
            line for entry in put if not entry.is_comment for line in reader.typed(entry, lines)
        ]
        return lines + typed, reader.is_hiding, any(entry.is_comment for entry in put)
    finally:
        text_page.close()
        page.close()


def _are_apart(before: TextBox, after: TextBox) -> bool:
    gap = max(after.left - before.right, before.left - after.right, before.bottom - after.top)
    return gap > _CELL_GAP * max(before.height, after.height, _MIN_SIZE)


def _goes_on(before: TextBox, after: TextBox) -> bool:
    """Whether a character follows another on its line, perhaps raised or lowered."""
    smaller, larger = sorted((before.size, after.size))
    overlap = min(before.top, after.top) - max(before.bottom, after.bottom)
    return overlap > smaller / 2 and abs(after.left - before.right) < _WORD_GAP * larger


def _is_raised(box: TextBox, neighbour: TextBox) -> bool:
    """Whether a character is smaller than its neighbour, and higher on the line."""
    is_smaller = box.size < _SMALLER * neighbour.size
    return is_smaller and box.bottom - neighbour.bottom > _HIGHER * neighbour.size


class _PageReader:
    """Reads the characters of one page; boxes are only computed at the ends of words."""

    def __init__(self, page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage) -> None:
        self._page, self._raw = page, text_page.raw
        self._width, self._height = page.get_size()
        self._rotation = page.get_rotation()
        self._left, self._bottom, _, _ = page.get_bbox()
        self.is_hiding = False
        self._covers: list[TextBox] | None = None
        count = text_page.count_chars()
        text = text_page.get_text_range() if count else ""
        if len(text) != count:  # in the text, some characters have two code units or none
            codes = (pdfium.FPDFText_GetUnicode(self._raw, at) for at in range(count))
            text = "".join(chr(code) if 0 < code < 0x110000 else " " for code in codes)
        self._text = text.replace("\0", " ")
        self._edges = [ctypes.c_double() for _ in range(4)]
        self._rect = pdfium.FS_RECTF()
        self._matrix = pdfium.FS_MATRIX()
        self._rect_pointer, self._matrix_pointer = map(ctypes.byref, (self._rect, self._matrix))
        self._colour = [ctypes.c_uint() for _ in range(4)]

    def lines(self) -> Iterator[Line]:
        """The page's lines, cut at the ends of columns and cells, with upright coordinates.

        PDFium also breaks lines at raised characters, and in some tables after each character.
        """
        start, end = 0, len(self._text)
        for match in _BREAK.finditer(self._text):
            at, after = match.span()
            if start < at and after < end and _goes_on(self._box(at - 1), self._box(after)):
                continue
            yield from self._cells(start, at)
            start = after
        yield from self._cells(start, end)

    def typed(self, entry: FormText, lines: list[Line]) -> Iterator[Line]:
        """Text typed into a field, in the page's text size and next to the line that labels it."""
        left, right, bottom, top = self._upright(*entry.edges)
        size = median(line.size for line in lines) if lines else _TYPED_SIZE
        texts = [text for text in map(normal_text, entry.text.splitlines()) if text]
        middle = top - size / 2
        if len(texts) == 1:
            half = (bottom + top) / 2
            middles = (line.middle for line in lines if bottom < line.middle < top)
            middle = min(middles, key=lambda other: abs(other - half), default=half)
        for text in texts:
            yield Line(left, right, middle - size / 2, middle + size / 2, size, text, self._height)
            middle -= 1.2 * size

    def _cells(self, start: int, end: int) -> Iterator[Line]:
        first = start
        for at in self._gaps(start, end):
            yield from self._line(first, at)
            first = at + 1
        yield from self._line(first, end)

    def _gaps(self, start: int, end: int) -> Iterator[int]:
        """The positions of spaces as wide as the gap between two columns."""
        if " " not in self._text[start:end] or not self._has_gap(start, end):
            return
        for at in range(start + 1, end - 1):
            if self._text[at] == " ":
                before, after = self._box(at - 1), self._box(at + 1)
                if _are_apart(before, after):
                    yield at

    def _has_gap(self, start: int, end: int) -> bool:
        """Whether a range has two separately drawn pieces with a gap between them."""
        rect, before = self._edges, None
        for number in range(pdfium.FPDFText_CountRects(self._raw, start, end - start)):
            pdfium.FPDFText_GetRect(self._raw, number, *rect)
            left, top, right, bottom = (edge.value for edge in rect)
            piece = TextBox(left, right, bottom, top, top - bottom)
            if before is not None and _are_apart(before, piece):
                return True
            before = piece
        return False

    def _line(self, start: int, end: int) -> Iterator[Line]:
        while start < end and self._text[start].isspace():
            start += 1
        while start < end and self._text[end - 1].isspace():
            end -= 1
        if start == end:
            return
        first, last = self._box(start), self._box(end - 1)
        left, right = min(first.left, last.left), max(first.right, last.right)
        bottom, top = min(first.bottom, last.bottom), max(first.top, last.top)
        is_vertical = (
            end - start > 1
            and abs(first.left - last.left) < first.size / 2
            and abs(first.top - last.top) > first.size / 2
        )
        # The mark of a note, or a large initial, differs from the size of its line.
        size = median((first.size, self._box((start + end) // 2).size, last.size))
        whole = TextBox(left, right, bottom, top, size)
        is_beside = right < 0 or left > self._width or top < 0 or bottom > self._height
        if size < _MIN_SIZE or is_beside or self._is_unseen(start, whole):
            self.is_hiding = True
            return
        text = normal_text(self._text_between(start, end))
        if text:
            yield Line(left, right, bottom, top, size, text, self._height, is_vertical)

    def _text_between(self, start: int, end: int) -> str:
        """The text without PDFium's spaces between kanji or kana, and with 10^6, not 106."""
        text = self._text[start:end]
        changes = {
            match.start(): ""
            for match in WIDE_SPACE.finditer(text)
            if pdfium.FPDFText_IsGenerated(self._raw, start + match.start()) == 1
        }
        for match in _BREAK.finditer(text):
            at, after = start + match.start() - 1, start + match.end()
            before, next_box = self._box(at), self._box(after)
            are_wide = is_wide(self._text[at]) and is_wide(self._text[after])
            if next_box.left - before.right > _LETTER_GAP * before.size and not are_wide:
                changes[match.start()] = " "
        # Text that is drawn as one object has one size.
        if (
            _TWO_DIGITS.search(text)
            and pdfium.FPDFText_CountRects(self._raw, start, end - start) > 1
        ):
            for match in _TWO_DIGITS.finditer(text):
                at, space = match.end(), len(match[1])
                sign = self._sign_between(start + at - 1, start + at + space)
                if sign:
                    changes[at] = sign if space else sign + text[at]
        if not changes:
            return text
        return "".join(changes.get(at, char) for at, char in enumerate(text))

    def _sign_between(self, at: int, after: int) -> str:
        """The separator of two digits if one is raised, as an exponent or the mark of a note."""
        first, second = self._box(at), self._box(after)
        if _is_raised(second, first):
            return "^"
        return " " if _is_raised(first, second) else ""

    def _box(self, at: int) -> TextBox:
        """A character's box on the upright page; for some, PDFium only has the box of their ink."""
        rect, matrix = self._rect, self._matrix
        pdfium.FPDFText_GetLooseCharBox(self._raw, at, self._rect_pointer)
        pdfium.FPDFText_GetMatrix(self._raw, at, self._matrix_pointer)
        size = pdfium.FPDFText_GetFontSize(self._raw, at) * hypot(matrix.c, matrix.d)
        left, right, bottom, top = rect.left, rect.right, rect.bottom, rect.top
        is_on_side = abs(matrix.d) < abs(matrix.c)
        height = right - left if is_on_side else top - bottom
        if height > _MAX_LETTER * size:  # the font counts in units of its own
            size = height
        if height < _MIN_LETTER * size and not is_on_side:
            bottom, top = bottom - (size - height) / 2, top + (size - height) / 2
        return TextBox(*self._upright(left, right, bottom, top), size)

    def _upright(
        self, left: float, right: float, bottom: float, top: float
    ) -> tuple[float, float, float, float]:
        left, right = left - self._left, right - self._left
        bottom, top = bottom - self._bottom, top - self._bottom
        match self._rotation:
            case 90:
                return bottom, top, self._height - right, self._height - left
            case 180:
                return (
                    self._width - right, self._width - left,
                    self._height - top, self._height - bottom,
                )  # fmt: skip
            case 270:
                return self._width - top, self._width - bottom, left, right
        return left, right, bottom, top

    def _is_unseen(self, at: int, box: TextBox) -> bool:
        """Whether text is invisible: white, with nothing darker behind it."""
        colour = self._colour
        if not pdfium.FPDFText_GetFillColor(self._raw, at, *colour):
            return False
        if any(part.value < _WHITE for part in colour[:3]) and colour[3].value:
            return False
        if self._covers is None:
            self._covers = list(self._darker_areas())
        return not any(
            area.left < box.right and box.left < area.right
            and area.bottom < box.top and box.bottom < area.top
            for area in self._covers
        )  # fmt: skip

    def _darker_areas(self) -> Iterator[TextBox]:
        for item in self._page.get_objects(max_depth=3):
            if item.type == pdfium.FPDF_PAGEOBJ_TEXT:
                continue
            colour: list[Any] = [ctypes.c_uint() for _ in range(4)]
            is_path = item.type == pdfium.FPDF_PAGEOBJ_PATH
            if is_path and (
                not pdfium.FPDFPageObj_GetFillColor(item.raw, *colour)
                or all(part.value > _DARK + 50 for part in colour[:3])
            ):
                continue
            left, bottom, right, top = item.get_bounds()
            yield TextBox(*self._upright(left, right, bottom, top), 0)
