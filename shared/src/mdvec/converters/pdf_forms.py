"""Texts that people add to the pages of a PDF: values of form fields, typed text and comments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw as pdfium

_UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13
_NO_TEXTS = (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP)
"""The text of a link is for screen readers, and a comment's window repeats the comment."""
_BOXES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_VALUES = (
    pdfium.FPDF_FORMFIELD_TEXTFIELD,
    pdfium.FPDF_FORMFIELD_COMBOBOX,
    pdfium.FPDF_FORMFIELD_LISTBOX,
)


@dataclass(frozen=True, slots=True)
class FormText:
    """Text on a page, with its left, right, bottom and top ``edges``.

    ``is_comment``: viewers only show it on demand.
    """

    text: str
    edges: tuple[float, float, float, float]
    is_comment: bool = False


def form_of(document: pypdfium2.PdfDocument) -> pypdfium2.PdfFormEnv | None:
    """The form of a document; it has to be loaded before the pages."""
    try:
        document.init_forms()
    except pypdfium2.PdfiumError:
        return None
    return document.formenv


def entries(page: pypdfium2.PdfPage, form: pypdfium2.PdfFormEnv | None) -> Iterator[FormText]:
    """The texts added to a page, except passwords and hidden ones."""
    for number in range(pdfium.FPDFPage_GetAnnotCount(page.raw)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, number)
        try:
            if annotation and not pdfium.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
                yield from _entry(annotation, form)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _entry(
    annotation: pdfium.FPDF_ANNOTATION, form: pypdfium2.PdfFormEnv | None
) -> Iterator[FormText]:
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    is_field = kind == pdfium.FPDF_ANNOT_WIDGET
    if is_field:
        text = "" if form is None else _value(annotation, form)
    elif kind in _NO_TEXTS:
        return
    else:
        text = _string(lambda *to: pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", *to))
    rect = pdfium.FS_RECTF()
    if text.strip() and pdfium.FPDFAnnot_GetRect(annotation, ctypes.byref(rect)):
        is_comment = not is_field and kind != pdfium.FPDF_ANNOT_FREETEXT
        yield FormText(text, (rect.left, rect.right, rect.bottom, rect.top), is_comment)


def _value(annotation: pdfium.FPDF_ANNOTATION, form: pypdfium2.PdfFormEnv) -> str:
    """The value of a field: its text or choice, or a checked or empty box."""
    kind = pdfium.FPDFAnnot_GetFormFieldType(form.raw, annotation)
    if kind in _BOXES:
        return "☑" if pdfium.FPDFAnnot_IsChecked(form.raw, annotation) else "☐"
    is_secret = pdfium.FPDFAnnot_GetFormFieldFlags(form.raw, annotation) & _PASSWORD
    if kind not in _VALUES or (kind == pdfium.FPDF_FORMFIELD_TEXTFIELD and is_secret):
        return ""
    return _string(lambda *to: pdfium.FPDFAnnot_GetFormFieldValue(form.raw, annotation, *to))


def _string(read: Callable[..., int]) -> str:
    """The text that a function of PDFium writes into a buffer, after returning its length."""
    size = read(None, 0)
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return buffer.raw[:size].decode("utf-16-le", "replace").rstrip("\0")
