"""Reads Word files with mammoth: headings, tables, lists, footnotes; changes as accepted."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from xml.etree import ElementTree as ET

import mammoth

from mdvec.converters.archive import Archive
from mdvec.converters.formats import Converted, NotConverted, with_own_title
from mdvec.converters.html import markdown_of_page
from mdvec.converters.word_numbers import write_numbers
from mdvec.converters.word_parts import W, make_readable, without_hidden
from mdvec.text import counted

_DOCUMENT = "word/document.xml"
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
_WAY_BACK = re.compile(r' <a href="#(?:foot|end)note-ref-[^"]*">↑</a>')
_PASSED_OVER = re.compile(r"An unrecognised element was ignored: (?:\w+:|\{.*\})(\w+)")
_ELSEWHERE = ("altChunk", "contentPart", "subDoc")
"""Elements whose text is in another part of the file."""
_BESIDE = re.compile(r"word/(header|footer|comment)s?[0-9]*\.xml")
_LOST = {
    "header": "headers were left out",
    "footer": "footers were left out",
    "comment": "comments were left out",
}
_LETTER = re.compile(r"[^\W\d]")
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"


def convert(data: bytes, file_name: str) -> Converted:  # noqa: ARG001 - as every converter's
    """The text of a Word file."""
    archive = Archive(data)
    trees = {name: archive.xml(name) for name in (_DOCUMENT, *archive.names.intersection(_NOTES))}
    hidden = [without_hidden(tree) for tree in trees.values()]
    changed = [make_readable(tree) for tree in trees.values()]
    is_numbered, unknown = write_numbers(trees[_DOCUMENT], archive)
    if is_numbered or any(hidden) or any(changed):
        written = {name: ET.tostring(tree, "utf-8") for name, tree in trees.items()}
        data = archive.with_parts(written)
    result = mammoth.convert_to_html(
        io.BytesIO(data),
        style_map=_STYLES,
        convert_image=mammoth.images.img_element(lambda _: {"src": ""}),
        external_file_access=False,
    )
    text = markdown_of_page(_WAY_BACK.sub("", result.value))
    if not text:
        raise NotConverted("it has no text, as a document of pictures has")
    notes = ["hidden or white text was left out"] if any(hidden) else []
    messages = [str(message.message) for message in result.messages]
    notes += [*_left_out(trees, messages), *_lost_surroundings(archive)]
    if ways := ", ".join(sorted(unknown)):
        notes.append(f"automatic numbers counted as {ways} are written in digits")
    return Converted(with_own_title(text + "\n", archive.title()), tuple(notes))


def _left_out(trees: Mapping[str, ET.Element], messages: Iterable[str]) -> Iterator[str]:
    """Sentences about parts with text or figures that were not read."""
    charts = sum(1 for tree in trees.values() for _ in tree.iter(_CHART))
    if charts:
        yield f"{counted(charts, 'chart')} left out"
    passed_over = {match[1] for text in messages if (match := _PASSED_OVER.match(text))}
    unread = {
        name
        for tree in trees.values()
        for element in tree.iter()
        if (name := element.tag.rpartition("}")[2]) in passed_over
        and (name in _ELSEWHERE or "".join(element.itertext()).strip())
    }
    if unread:
        yield f"text in elements that cannot be read was left out ({', '.join(sorted(unread))})"
    if any("unsupported character was ignored" in text for text in messages):
        yield "signs of symbol fonts were left out"


def _lost_surroundings(archive: Archive) -> Iterator[str]:
    """Sentences about headers, footers and comments that have more than a page number."""
    kinds = {
        match[1]
        for name in archive.names
        if (match := _BESIDE.fullmatch(name)) and _has_words(archive, name)
    }
    return (said for kind, said in _LOST.items() if kind in kinds)


def _has_words(archive: Archive, name: str) -> bool:
    """Whether a part has more than a number, or cannot be read."""
    try:
        texts = archive.xml(name).iter(f"{W}t")
    except NotConverted:
        return True
    return any(_LETTER.search(text.text or "") for text in texts)
