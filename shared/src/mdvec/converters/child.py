"""The process that converts files: ``python -m mdvec.converters.child``, started by an import.

It gets the bytes of a file on STDIN and answers with text on STDOUT. First it drops its rights: it
can then open no files except Python's own code, open no sockets, and start no programs.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from mdvec.converters.formats import MAX_TEXT, Converted, NotConverted, format_of
from mdvec.installation import this_installation
from mdvec.platform import code_paths, limit_process, restrict_calls, restrict_files, take_own_user
from mdvec.sizes import MEGABYTE

LENGTHS = struct.Struct(">II")
LENGTH = struct.Struct(">I")
_SHARED_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
MAX_MEMORY_MB = 600


def main() -> None:
    """Convert one file after another until STDIN ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # code that prints must not corrupt the protocol
        os.dup2(nothing, descriptor)
    walls = _lock()
    while head := requests.read(LENGTHS.size):
        name_bytes, data_bytes = LENGTHS.unpack(head)
        name = requests.read(name_bytes).decode()
        answer = _answer(requests.read(data_bytes), name, answers)
        _send(answers, answer | {"walls": walls})


def _lock() -> list[str]:
    limit_process(memory=MAX_MEMORY_MB * MEGABYTE, written=0)
    sys.setrecursionlimit(2_000)
    walls = {
        "own_user": take_own_user(),
        "landlock": restrict_files([*code_paths(), *map(Path, _SHARED_LIBRARIES)]),
        "seccomp": restrict_calls(),
    }
    return [name for name, is_up in walls.items() if is_up]


def _answer(data: bytes, name: str, answers: BinaryIO) -> dict[str, Any]:
    try:
        converted = _convert(data, name, answers)
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


def _convert(data: bytes, name: str, answers: BinaryIO) -> Converted:
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
    telling = (lambda *page: _send(answers, {"page": page}),) if known.tells_pages else ()
    converted: Converted = module.convert(data, name, *telling)
    texts = [converted.content, *(part.content for part in converted.parts)]
    if sum(map(len, texts)) > MAX_TEXT:
        raise NotConverted(f"it would become more than {MAX_TEXT:,} characters of text")
    if not converted.content.strip():
        raise NotConverted("it has no text")
    return converted


def _send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    body = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
    answers.write(LENGTH.pack(len(body)) + body)
    answers.flush()
    if answer.get("end"):  # after running out of memory the process cannot continue
        sys.exit()


if __name__ == "__main__":
    main()
