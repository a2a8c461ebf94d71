"""Converts files in a process of mdvec or by a user's program, within a time limit.

A user's program gets a copy of a file, and prints it as Markdown.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from mdvec.cancelling import raise_if_cancelled
from mdvec.converters.formats import MAX_TEXT, Converted, NotConverted, Part
from mdvec.files import UnreadableFile, decode_text, system_message
from mdvec.platform import Worker, end_with_children, in_own_group, python_child, shell_words
from mdvec.text import on_one_line

MAX_SECONDS = 30.0
_SECONDS_A_PAGE = 0.05
"""The seconds that each page adds to the time limit; even a dense page takes only .02."""
_MOST_SECONDS_MORE = 270.0
"""The maximum seconds that pages add, so that a very long file cannot block an import."""
_POLL_SECONDS = 0.1
_MODULE = "mdvec.converters.child"
_HERE = "{}"
_MAX_SAID = 200


@dataclass(frozen=True, slots=True)
class OwnCommands:
    """The user's commands by the ending of the files that they convert, in lower case.

    A command is split like in a shell, but run without one. ``{}`` stands for the path of the copy,
    which is the last argument by default. ``max_seconds`` is the time limit for one file.
    """

    by_ending: Mapping[str, str] = field(default_factory=dict)
    max_seconds: float = 300

    def convert(self, data: bytes, file_name: str) -> Converted | None:
        """The output of the user's command for a file; None if there is no command.

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
            content = _output(_arguments(command, copy), folder, self.max_seconds)
        if not content.strip():
            raise NotConverted(f"{shell_words(command)[0]} prints no text for it")
        return Converted(content)


NO_COMMANDS = OwnCommands()


def _arguments(command: str, copy: Path) -> list[str]:
    words = shell_words(command)
    if not any(_HERE in word for word in words):
        words.append(_HERE)
    return [word.replace(_HERE, str(copy)) for word in words]


def _output(arguments: list[str], folder: str, max_seconds: float) -> str:
    program, deadline = arguments[0], time.monotonic() + max_seconds
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own settings name it, no shell
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=folder,
                **in_own_group(),
            )  # fmt: skip
        except OSError as error:
            raise NotConverted(
                f"{program} of [convert] cannot be started ({system_message(error)})"
            ) from error
        try:
            while os.fstat(output.fileno()).st_size <= MAX_TEXT:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL_SECONDS)
                    break
                raise_if_cancelled()
                if time.monotonic() > deadline:
                    raise NotConverted(f"{program} took more than {max_seconds:g} seconds")
        finally:
            end_with_children(process)
        if os.fstat(output.fileno()).st_size > MAX_TEXT:
            raise NotConverted(f"{program} prints more than {MAX_TEXT:,} bytes")
        if process.returncode:
            raise NotConverted(f"{program} ended with {process.returncode}: {_last_line(errors)}")
        output.seek(0)
        try:
            return decode_text(output.read(MAX_TEXT))
        except UnreadableFile as error:
            raise NotConverted(f"what {program} prints cannot be read: {error}") from error


def _last_line(stream: IO[bytes]) -> str:
    stream.seek(0)
    lines = stream.read(1_000_000).decode("utf-8", "replace").strip().splitlines()
    return on_one_line(lines[-1])[:_MAX_SAID] if lines else "it said nothing"


class ConversionFailed(UnreadableFile):
    """A file cannot be converted to Markdown; the message says why."""


class Converter:
    """Converts one file after another; the process starts with the first file.

    The user's own commands are tried first. ``max_seconds`` is the time limit for one file in the
    process; each page adds a little. ``on_page`` gets the number of a page, and of all pages.
    """

    def __init__(
        self,
        commands: OwnCommands = NO_COMMANDS,
        max_seconds: float = MAX_SECONDS,
        on_page: Callable[[int, int], None] = lambda _, __: None,
    ) -> None:
        self._commands = commands
        self._on_page = on_page
        self._max_seconds = max_seconds
        self._worker: Worker | None = None
        self.walls: tuple[str, ...] = ()

    def convert(self, data: bytes, file_name: str) -> Converted:
        """A file as Markdown.

        Raises:
            ConversionFailed: it is damaged, protected or too large, or its package is missing.
            Cancelled: nobody wants the import any more.
        """
        try:
            if own := self._commands.convert(data, file_name):
                return own
        except NotConverted as error:
            raise ConversionFailed(str(error)) from error
        try:
            answer = self._answer(data, file_name)
        except TimeoutError:
            self.close()
            raise ConversionFailed(
                f"reading it takes more than {self._max_seconds:g} seconds"
            ) from None
        except (EOFError, OSError):
            self.close()
            raise ConversionFailed("it is damaged, or too large: its reader broke off") from None
        except BaseException:
            self.close()
            raise
        self.walls = tuple(answer["walls"])
        if "refused" in answer:
            raise ConversionFailed(answer["refused"])
        parts = tuple(Part(*part) for part in answer["parts"])
        return Converted(answer["content"], tuple(answer["notes"]), parts)

    def close(self) -> None:
        """End the process."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def _answer(self, data: bytes, file_name: str) -> dict[str, Any]:
        if self._worker is None or self._worker.process.poll() is not None:
            self.close()
            self._worker = Worker(**python_child(_MODULE))
        worker, deadline = self._worker, time.monotonic() + self._max_seconds
        latest = deadline + _MOST_SECONDS_MORE
        worker.send({"name": file_name, "bytes": len(data)}, deadline, data)
        while "page" in (answer := worker.receive(deadline)):
            deadline = min(deadline + _SECONDS_A_PAGE, latest)
            self._on_page(*answer["page"])
        if answer.get("end"):
            self.close()
        return answer
