"""Opens zip files in memory, without unpacking them to a disk, and refuses bombs."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from xml.etree import ElementTree as ET

from mdvec.converters.formats import NotConverted
from mdvec.sizes import MEGABYTE

_MAX_FILES = 20_000
_MAX_UNPACKED = 300 * MEGABYTE
_OLE = b"\xd0\xcf\x11\xe0"
"""The first bytes of Office files with a password, and of Office formats before 2007."""
DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


class Archive:
    """A zip file in memory.

    Raises:
        NotConverted: it is not a zip file, it is protected, or it would become too large.
    """

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):
            raise NotConverted(
                "it is protected by a password, or of a format from before 2007; save it anew "
                "without a password"
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise NotConverted("it is damaged, or not what its ending says") from error
        entries = self._zip.infolist()
        if len(entries) > _MAX_FILES or sum(entry.file_size for entry in entries) > _MAX_UNPACKED:
            raise NotConverted(
                f"it has more than {_MAX_FILES:,} parts, or unpacks to more than "
                f"{_MAX_UNPACKED // MEGABYTE} MB"
            )
        if any(entry.flag_bits & 1 for entry in entries):
            raise NotConverted("it needs a password; save a copy without one")
        self.names = frozenset(self._zip.namelist())

    def read(self, name: str) -> bytes:
        """The bytes of a part."""
        if name not in self.names:
            raise NotConverted(f"it is damaged: its part {name!r} is missing")
        try:
            return self._zip.read(name)
        except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
            raise NotConverted(f"it is damaged: its part {name!r} cannot be read") from error

    def xml(self, name: str) -> ET.Element:
        """Parse a part as XML; external entities are not fetched."""
        try:
            return ET.fromstring(self.read(name))  # noqa: S314 - expat limits expansion
        except ET.ParseError as error:
            raise NotConverted(f"it is damaged: its part {name!r} is not XML") from error

    def title(self) -> str:
        """The title in an Office file's properties; "" if there is none."""
        try:
            return self.xml("docProps/core.xml").findtext(f".//{DUBLIN_CORE}title", "")
        except NotConverted:
            return ""

    def with_parts(self, changes: Mapping[str, bytes]) -> bytes:
        """The file's bytes with some of its parts replaced."""
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as changed:
            for entry in dict.fromkeys(self._zip.namelist()):
                changed.writestr(entry, changes.get(entry) or self.read(entry))
        return target.getvalue()
