"""A user's own program that makes Markdown of a file: it is given a copy, and prints the text."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from mdvec.cancelling import raise_if_cancelled
from mdvec.converters.formats import MAX_TEXT, Converted, NotConverted
from mdvec.files import UnreadableFile, decode_text, why
from mdvec.platform import apart, end_with_children
from mdvec.text import on_one_line

_HERE = "{}"
_POLL_SECONDS = 0.1
_MAX_SAID = 200


@dataclass(frozen=True, slots=True)
class OwnCommands:
    """The user's commands by the ending of the files that they convert, in lower case.

    A command is split as a shell would, but no shell runs it. ``{}`` stands for the path of the
    copy, which otherwise comes last. ``max_seconds`` is how long one file may take.
    """

    by_ending: Mapping[str, str] = field(default_factory=dict)
    max_seconds: float = 300

    def convert(self, data: bytes, file_name: str) -> Converted | None:
        """What the command for such files prints; None if there is none.

        Raises:
            NotConverted: it cannot be started, fails, takes too long, or prints no text.
            Cancelled: nobody wants the import any more.
        """
        name = file_name.rpartition("/")[2]
        command = self.by_ending.get(Path(name).suffix.lower())
        if command is None:
            return None
        with tempfile.TemporaryDirectory(prefix="mdvec-convert-") as folder:
            copy = Path(folder, name)
            copy.write_bytes(data)
            content = _printed(_arguments(command, copy), folder, self.max_seconds)
        if not content.strip():
            raise NotConverted(f"{shlex.split(command)[0]} prints no text for it")
        return Converted(content)


NO_COMMANDS = OwnCommands()


def _arguments(command: str, copy: Path) -> list[str]:
    words = shlex.split(command)
    if not any(_HERE in word for word in words):
        words.append(_HERE)
    return [word.replace(_HERE, str(copy)) for word in words]


def _printed(arguments: list[str], folder: str, max_seconds: float) -> str:
    program, deadline = arguments[0], time.monotonic() + max_seconds
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own settings name it, no shell
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=said, cwd=folder,
                **apart(),
            )  # fmt: skip
        except OSError as error:
            raise NotConverted(
                f"{program} of [convert] cannot be started ({why(error)})"
            ) from error
        try:
            while (code := _ended(process)) is None:
                raise_if_cancelled()
                if time.monotonic() > deadline:
                    raise NotConverted(f"{program} took more than {max_seconds:g} seconds")
                if os.fstat(output.fileno()).st_size > MAX_TEXT:
                    break
        finally:
            end_with_children(process)
        if os.fstat(output.fileno()).st_size > MAX_TEXT:
            raise NotConverted(f"{program} prints more than {MAX_TEXT:,} bytes")
        if code:
            raise NotConverted(f"{program} ended with {code}: {_last_line(said)}")
        output.seek(0)
        try:
            return decode_text(output.read(MAX_TEXT))
        except UnreadableFile as error:
            raise NotConverted(f"what {program} prints cannot be read: {error}") from error


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(_POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return None


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read(1_000_000).decode("utf-8", "replace").strip().splitlines()
    return on_one_line(lines[-1])[:_MAX_SAID] if lines else "it said nothing"
