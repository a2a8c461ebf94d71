"""Reads EPUB books: the chapters in the order of the book, each as a web page."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from mdvec.converters.archive import DUBLIN_CORE, Archive
from mdvec.converters.formats import Converted, NotConverted, joined_pages, with_matter
from mdvec.converters.html import markdown_of_page

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_MAX_CHAPTERS = 5_000


def convert(data: bytes, file_name: str) -> Converted:  # noqa: ARG001 - as every converter's
    """The text of a book, chapter by chapter."""
    archive = Archive(data)
    if _is_protected(archive):
        raise NotConverted("it is protected by its seller (DRM), so it cannot be read")
    root = archive.xml(_CONTAINER).find(".//{*}rootfile")
    if root is None:
        raise NotConverted("it is damaged: it does not name its chapters")
    package = root.get("full-path", "")
    book = archive.xml(package)
    items = {item.get("id"): item.get("href", "") for item in book.iterfind(".//{*}item")}
    folder = posixpath.dirname(package)
    chapters = []
    for reference in list(book.iterfind(".//{*}itemref"))[:_MAX_CHAPTERS]:
        href = unquote(items.get(reference.get("idref"), ""))
        name = posixpath.normpath(posixpath.join(folder, href))
        if href and name in archive.names:
            chapters.append(markdown_of_page(archive.read(name)))
    if not any(chapters):
        raise NotConverted("no chapter of it has text, as in a book of pictures")
    named = {"title": "title", "author": "creator"}
    about = {key: book.findtext(f".//{DUBLIN_CORE}{name}", "") for key, name in named.items()}
    return Converted(with_matter(joined_pages(chapters), about))


def _is_protected(archive: Archive) -> bool:
    if _ENCRYPTION not in archive.names:
        return False
    methods = archive.xml(_ENCRYPTION).iterfind(".//{*}EncryptionMethod")
    return any(method.get("Algorithm") not in _FONTS for method in methods)
