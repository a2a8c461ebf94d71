"""The process that converts files: ``python -m mdvec.converters.child``, started by an import.

It gets the bytes of a file on STDIN and answers with text on STDOUT. First it drops its rights: it
can then open no files except Python's own code, open no sockets, and start no programs.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from mdvec.converters.formats import MAX_TEXT, Converted, NotConverted, format_of
from mdvec.installation import this_installation
from mdvec.platform import (
    Parent,
    code_paths,
    limit_process,
    restrict_calls,
    restrict_files,
    take_own_user,
)
from mdvec.sizes import MEGABYTE

_SHARED_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
MAX_MEMORY_MB = 600


def main() -> None:
    """Convert one file after another until STDIN ends."""
    parent = Parent()
    walls = _lock()
    with suppress(EOFError):
        while True:
            file = parent.receive()
            answer = _answer(parent.read(file["bytes"]), file["name"], parent)
            parent.send(answer | {"walls": walls})
            if "end" in answer:  # after running out of memory the process cannot continue
                return


def _lock() -> list[str]:
    limit_process(memory=MAX_MEMORY_MB * MEGABYTE, written=0)
    sys.setrecursionlimit(2_000)
    walls = {
        "own_user": take_own_user(),
        "landlock": restrict_files([*code_paths(), *map(Path, _SHARED_LIBRARIES)]),
        "seccomp": restrict_calls(),
    }
    return [name for name, is_up in walls.items() if is_up]


def _answer(data: bytes, name: str, parent: Parent) -> dict[str, Any]:
    try:
        converted = _convert(data, name, parent)
    except NotConverted as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"refused": f"reading it takes more than {MAX_MEMORY_MB} MB of memory", "end": True}
    except RecursionError:
        return {"refused": "it is nested too deeply"}
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything over a damaged file
        return {"refused": f"it is damaged, or not what its ending says ({type(error).__name__})"}
    parts = [(part.name, part.content) for part in converted.parts]
    return {"content": converted.content, "notes": converted.notes, "parts": parts}


def _convert(data: bytes, name: str, parent: Parent) -> Converted:
    known = format_of(name)
    if known is None or not known.module:
        raise NotConverted("files of its ending need a command of yours in [convert]")
    try:
        module = import_module(f"mdvec.converters.{known.module}")
    except ModuleNotFoundError as error:
        raise NotConverted(
            f"reading it needs the package {known.package}; install it with: "
            f"{this_installation().adding_extra('documents')}"
        ) from error
    telling = (lambda *page: parent.send({"page": page}),) if known.tells_pages else ()
    converted: Converted = module.convert(data, name, *telling)
    texts = [converted.content, *(part.content for part in converted.parts)]
    if sum(map(len, texts)) > MAX_TEXT:
        raise NotConverted(f"it would become more than {MAX_TEXT:,} characters of text")
    if not converted.content.strip():
        raise NotConverted("it has no text")
    return converted


if __name__ == "__main__":
    main()
