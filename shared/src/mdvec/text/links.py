"""Reads a document's links, and computes the keys by which links find a document."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from mdvec.text.org import is_org, org_links
from mdvec.text.readable import prose_of

_WIKILINK = re.compile(r"\[\[([^\[\]|\n]{1,400}?)(?:\\?\|[^\[\]\n]*)?\]\]")
_LINK = re.compile(
    r"\]\(<?([^()\s<>]{1,400}|(?<=<)[^<>\n]{1,400})>?(?:[ \t]+[\"'][^\"'\n]*[\"'])?\)"
)
_DEFINITION = re.compile(r"(?m)^[ \t>]*\[[^\[\]^\n]{1,200}\]:[ \t]*<?([^\s<>]{1,400})")
_ANY_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,400})\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[\[([^\[\]\n]*)\]\]"
    r"|https?://[^\s<>()\[\]]+"
)
_HEADING = re.compile(r"(?m)^#{1,6}[ \t].*$")
_LETTERS = re.compile(r"[^\W_]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_SUFFIX = re.compile(r"\.(?:md|markdown|mdx|txt)$")
_PAGE = re.compile(r"\.html?$", re.IGNORECASE)
"""The ending of the page that a site makes of a note."""


@dataclass(frozen=True, slots=True)
class DocumentLink:
    """A link to another document, by one of its ``document_keys``.

    ``fragment`` is the text after "#": a heading, or a block's "^id". ``name`` is a second key,
    used if no document has the first: Obsidian's Markdown links may be relative to the vault's
    root, or be just a name.
    """

    key: str
    fragment: str
    name: str = ""


def document_links(content: str, file_path: str) -> list[DocumentLink]:
    """The distinct links of a Markdown or Org document, outside code, in order.

    Markdown links are relative to the document's folder, or to the root if they begin with "/";
    then, or with a note's suffix, they may also be read like wiki links. A link to a page (a.html)
    that is no document is one to the note in its place. URLs are not links to documents.
    """
    folder = posixpath.dirname(file_path)
    if is_org(file_path):
        targets = [
            (link_key(path) if path.startswith("id:") else _path_key(path, folder), place)
            for path, place in org_links(content)
        ]
        return [DocumentLink(key, place) for key, place in dict.fromkeys(targets) if key]
    text = prose_of(content, is_whole=True)
    links: list[DocumentLink] = []
    for match in _WIKILINK.finditer(text):
        target, _, fragment = match[1].partition("#")
        target, heading = target.strip(), fragment.rpartition("#")[2].strip()
        key = _path_key(target, folder) if target.startswith((".", "/")) else link_key(target)
        links += [DocumentLink(key, heading)] if key else []
    for pattern in (_LINK, _DEFINITION):
        for match in pattern.finditer(text):
            path, _, fragment = unquote(match[1]).partition("#")
            path = path.partition("?")[0]
            key = "" if not path or _SCHEME.match(path) else _path_key(path, folder)
            # The root of a site may be a folder of the source.
            is_rooted = path.startswith("/") and "/" in path.strip("/")
            is_note = _SUFFIX.search(path.casefold()) and not path.startswith((".", "/"))
            note = _PAGE.sub("", path)
            of_page = _path_key(note, folder) if note != path else ""
            name = link_key(note) if is_rooted or is_note else of_page
            links += [DocumentLink(key, fragment, name)] if key else []
    return list(dict.fromkeys(links))


def _path_key(path: str, folder: str) -> str:
    """The key of a path that is relative to a folder, or to the root after "/"; "" if outside."""
    whole = posixpath.normpath(path if path.startswith("/") else posixpath.join(folder, path))
    return "" if whole.startswith("..") else "/" + link_key(whole)


def document_keys(file_path: str, aliases: Sequence[str]) -> list[str]:
    """The keys by which links find a document: its path from the root, its names, its aliases.

    Its names are the ends of the path from each folder on, as in [[folder/note]].
    """
    path = link_key(file_path)
    parts = path.split("/")
    keys = ["/" + path, *("/".join(parts[first:]) for first in range(len(parts)))]
    folder = folder_of_index(file_path)
    if folder is not None:
        keys.append("/" + folder)
    return list(dict.fromkeys([*keys, *(link_key(alias) for alias in aliases if alias.strip())]))


def folder_of_index(file_path: str) -> str | None:
    """The key of the folder that a file is the index of, "" for the root; None if of none."""
    folder, _, name = link_key(file_path).rpartition("/")
    return folder if name in ("index", "_index", "readme") else None


def is_list_of_links(text: str) -> bool:
    """Whether most of a passage's text is words of links (参照, See also).

    Headings and URLs do not count as text; code does.
    """
    if not ("](" in text or "[[" in text or "://" in text):
        return False
    prose = prose_of(text)
    of_code = _letters(text) - _letters(prose)
    prose = _HEADING.sub("", prose)
    links = list(_ANY_LINK.finditer(prose))
    inside = sum(_letters(match[1] or match[2] or "") for match in links)
    outside = _letters(_ANY_LINK.sub(" ", prose)) + of_code
    return bool(links) and inside >= outside


def _letters(text: str) -> int:
    return sum(map(len, _LETTERS.findall(text)))


def link_key(target: str) -> str:
    """The key of a document that a user names like a link: by path, name or alias."""
    key = unicodedata.normalize("NFC", target).strip().strip("/").casefold()
    return _SUFFIX.sub("", key)
