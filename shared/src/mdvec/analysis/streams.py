"""Python's own output: streams, loggers' streams and a notebook's tracebacks, counted."""

from __future__ import annotations

import io
import logging
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TextIO

from mdvec.analysis.descriptors import CountedDescriptors, write_all

Take = Callable[[str], str]
_MAX_MESSAGE = 300
_BEFORE = "mdvec_before"
"""Attribute of our hook: the one before it, so that hooks do not pile up."""


class CountedStream:
    """A stream that writes what its guard allows.

    Args:
        take: the part of a text that may pass.
        stream: the stream in whose place it stands.
        descriptors: those that are counted; one of them may be the stream's.
    """

    def __init__(self, take: Take, stream: TextIO, descriptors: CountedDescriptors) -> None:
        self._take = take
        self._stream = stream
        self._descriptors = descriptors

    def stand_in(self, name: str, undo: ExitStack) -> None:
        """Replace ``sys.stdout`` or ``sys.stderr`` until ``undo``; another replacement stays."""
        stand_in: Any = self  # __getattr__ delegates the rest
        setattr(sys, name, stand_in)

        def restore() -> None:
            if getattr(sys, name) is stand_in:
                setattr(sys, name, self._stream)

        undo.callback(restore)
        for handler in _handlers_of(self._stream):
            handler.setStream(stand_in)
            undo.callback(handler.setStream, self._stream)

    def write(self, text: str) -> int:
        """Write what still fits; report the whole text as written."""
        if shown := self._take(text):
            self.write_uncounted(shown)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each line."""
        for line in lines:
            self.write(line)

    def write_uncounted(self, text: str) -> None:
        """Write a text past the guard."""
        self._descriptors.drain()  # what programs wrote before comes first
        target = self._descriptors.target_of(_descriptor_of(self._stream))
        if target is None:
            self._stream.write(text)
            return
        self._stream.flush()
        encoding, errors = self._stream.encoding or "utf-8", self._stream.errors or "replace"
        write_all(target, text.encode(encoding, errors))

    def settle(self) -> None:
        """Have what waits in a counted descriptor's stream written."""
        if self._descriptors.target_of(_descriptor_of(self._stream)) is not None:
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the wrapped stream's attribute
        return getattr(self._stream, name)


class ShortTraceback:
    """Shows a traceback only if it fits; else the error and the beginning of its message.

    In plain Python it stands in for ``sys.excepthook``, in a notebook for the kernel's display.
    """

    def __init__(self, take: Take, shell: Any) -> None:  # noqa: ANN401 - IPython's, or None
        self._take = take
        self._shell = shell

    def stand_in(self, undo: ExitStack) -> None:
        """Show all tracebacks of a notebook in this way, until ``undo``."""
        if not hasattr(self._shell, "kernel"):  # elsewhere they are written to sys.stderr
            return
        shell, show = self._shell, self._shell._showtraceback  # noqa: SLF001 - meant to be overridden
        shell._showtraceback = lambda *error: show(*self._short(*error))  # noqa: SLF001

        def restore() -> None:
            shell._showtraceback = show  # noqa: SLF001

        undo.callback(restore)

    def show_next(self, error: BaseException) -> None:
        """Show this error, which leaves the guard, in this way; then all as before."""
        undo = ExitStack()
        if hasattr(self._shell, "kernel"):
            self.stand_in(undo)
            self._shell.events.register("post_run_cell", done := lambda *_: undo.close())
            undo.callback(self._shell.events.unregister, "post_run_cell", done)
            return
        before = getattr(sys.excepthook, _BEFORE, sys.excepthook)

        def hook(kind: type[BaseException], value: BaseException, trace: Any) -> None:  # noqa: ANN401
            sys.excepthook = before
            if value is error:
                sys.stderr.write(f"{_named(kind, value)}\n")
            else:
                before(kind, value, trace)

        setattr(hook, _BEFORE, before)
        sys.excepthook = hook

    def _short(
        self, kind: type[BaseException], value: BaseException, lines: list[str]
    ) -> tuple[type[BaseException], BaseException, list[str]]:
        whole = "\n".join([*lines, str(value)])
        if self._take(whole) == whole:
            return kind, value, lines
        return kind, Exception(_message(value)), [_named(kind, value)]


def _named(kind: type[BaseException], value: BaseException) -> str:
    frames = traceback.extract_tb(value.__traceback__)
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{kind.__name__}{place}: {_message(value)}"


def _message(value: BaseException) -> str:
    text = str(value)
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"


def _descriptor_of(stream: TextIO) -> int:
    try:
        return stream.fileno()
    except (AttributeError, io.UnsupportedOperation, ValueError):
        return -1


def _handlers_of(stream: TextIO) -> Iterator[logging.StreamHandler[Any]]:
    """The loggers' handlers that write to a stream."""
    loggers = [logging.getLogger(), *logging.root.manager.loggerDict.values()]
    for logger in loggers:
        for handler in getattr(logger, "handlers", ()):
            if isinstance(handler, logging.StreamHandler) and handler.stream is stream:
                yield handler
