"""Converts files in a process of mdvec or by a user's program, within a time limit.

A user's program gets a copy of a file, and prints it as Markdown.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from mdvec.cancelling import raise_if_cancelled
from mdvec.converters.child import LENGTH, LENGTHS
from mdvec.converters.formats import MAX_TEXT, Converted, NotConverted, Part
from mdvec.files import UnreadableFile, decode_text, system_message
from mdvec.platform import (
    can_read,
    can_write,
    end_with_children,
    in_own_group,
    never_wait,
    python_child,
    shell_words,
)
from mdvec.text import on_one_line

MAX_SECONDS = 30.0
_SECONDS_A_PAGE = 0.05
"""The seconds that each page adds to the time limit; even a dense page takes only .02."""
_MOST_SECONDS_MORE = 270.0
"""The maximum seconds that pages add, so that a very long file cannot block an import."""
_MAX_ANSWER = 400_000_000
_BLOCK = 2**18
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
            while (code := _exit_code(process)) is None:
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
            raise NotConverted(f"{program} ended with {code}: {_last_line(errors)}")
        output.seek(0)
        try:
            return decode_text(output.read(MAX_TEXT))
        except UnreadableFile as error:
            raise NotConverted(f"what {program} prints cannot be read: {error}") from error


def _exit_code(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(_POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return None


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
        self._process: subprocess.Popen[bytes] | None = None
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
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def _answer(self, data: bytes, file_name: str) -> dict[str, Any]:
        process = self._running()
        deadline = time.monotonic() + self._max_seconds
        name = file_name.encode()
        wire = _Wire(process, deadline)
        wire.write(LENGTHS.pack(len(name), len(data)) + name + data)
        answer = wire.message()
        while "page" in answer:
            wire.allow(_SECONDS_A_PAGE)
            self._on_page(*answer["page"])
            answer = wire.message()
        if answer.get("end"):
            self.close()
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                **python_child(_MODULE),
            )
            for pipe in (self._process.stdin, self._process.stdout):
                never_wait(pipe.fileno())  # type: ignore[union-attr] # both are pipes
        return self._process


class _Wire:
    """The pipes to and from a process, until a deadline."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        if process.stdin is None or process.stdout is None:
            raise EOFError
        self._to, self._from = process.stdin.fileno(), process.stdout.fileno()
        self._deadline, self._latest = deadline, deadline + _MOST_SECONDS_MORE

    def write(self, data: bytes) -> None:
        """Write all the bytes."""
        rest = memoryview(data)
        while rest:
            self._wait(can_write, self._to)
            rest = rest[os.write(self._to, rest[:_BLOCK]) :]

    def allow(self, seconds: float) -> None:
        """Extend the deadline, up to the overall limit."""
        self._deadline = min(self._deadline + seconds, self._latest)

    def message(self) -> dict[str, Any]:
        """The next message of the process."""
        (length,) = LENGTH.unpack(self.read(LENGTH.size))
        if length > _MAX_ANSWER:
            raise EOFError
        message: dict[str, Any] = json.loads(self.read(length))
        return message

    def read(self, count: int) -> bytes:
        """Read exactly this number of bytes."""
        parts = bytearray()
        while len(parts) < count:
            self._wait(can_read, self._from)
            part = os.read(self._from, min(count - len(parts), _BLOCK))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)

    def _wait(self, can: Callable[[int, float], bool], descriptor: int) -> None:
        is_ready = False
        while not is_ready:
            is_ready = can(descriptor, _POLL_SECONDS)
            raise_if_cancelled()
            if time.monotonic() > self._deadline:
                raise TimeoutError
