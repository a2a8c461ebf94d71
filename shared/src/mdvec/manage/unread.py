"""Says which files of a folder are not read, and the command that adds them."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path, PurePosixPath

from mdvec.converters import FORMATS, format_of
from mdvec.database import open_database
from mdvec.files import DATA_ENDINGS, Scan, ScanRules, SourceMissing, data_ending, scan
from mdvec.importing import rules_in_force
from mdvec.manage.registering import InvalidTool
from mdvec.text import counted
from mdvec.tools import KINDS, Tool, registry

_DATA = tuple(ending for ending in DATA_ENDINGS if not ending.startswith((".json", ".ndjson")))
"""Endings of files that are certainly tables."""


def endings_of(names: str) -> tuple[str, ...]:
    """The endings of formats, named as in "pdf,word".

    Raises:
        InvalidTool: there is no such format.
    """
    known = {each.name: each.endings for each in FORMATS}
    chosen = [name.strip().lower() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in known:
            raise InvalidTool(f"there is no format {name!r}; formats are {', '.join(known)}")
    return tuple(ending for name in chosen for ending in known[name])


def unread_files(tool: Tool, scanned: Scan) -> tuple[str, ...]:
    """Sentences about files that were left out for their ending only, though they can be read."""
    if KINDS[tool.kind].endings is not None:
        return ()
    formats = Counter(known.name for path in scanned.others if (known := format_of(path)))
    tables = Counter(
        PurePosixPath(path).suffix.lower()
        for path in scanned.others
        if data_ending(path).endswith(_DATA)
    )
    sentences = []
    if formats:
        names = ",".join(formats)
        sentences.append(
            f"not read: {_listed(formats)}; to read them too: "
            f"mdvec tool update -n {tool.name} --formats {names}"
        )
    if tables:
        sentences.append(
            f"not read: {_listed(tables)}; data files belong into a dataset, which SQL can query: "
            "mdvec tool add --kind dataset -n NAME -d DESCRIPTION "
            f"-s {shlex.quote(str(tool.source))}"
        )
    return tuple(sentences)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} ({counted(number, 'file')})" for name, number in counts.most_common())


def unread_of(database: Path, name: str, current: ScanRules) -> tuple[str, ...]:
    """What is not read in a tool's folder now; ``current`` are the rules of the settings.

    Raises:
        ToolNotFound, DatabaseError: the tool cannot be read.
    """
    with open_database(database, "read") as connection:
        tool = registry.get_tool(connection, name)
    if KINDS[tool.kind].endings is not None:
        return ()
    try:
        return unread_files(tool, scan(tool.source, rules_in_force(tool, current)))
    except SourceMissing:
        return ()
