"""Limits what code prints for a model: short tables, and nothing beyond a number of bytes."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self, TextIO

from mdvec.analysis.errors import AnalysisError
from mdvec.analysis.limits import MAX_PRINTED_BYTES, MAX_TABLE_ROWS

_MAX_COLUMNS = 12
_MAX_CELL_CHARS = 50
_PICTURES = ("image/", "video/", "audio/")
_log = logging.getLogger("mdvec")


def output_guard(max_bytes: int = MAX_PRINTED_BYTES) -> OutputGuard:
    """A context manager: DataFrames print 10 rows, and all output at most ``max_bytes``.

    Output beyond the limit is dropped; a warning at the end says how much, and what to print
    instead. What Python writes to ``sys.stdout`` and what a notebook displays is counted;
    pictures and the output of other programs are not. Guards can be nested.

    For all cells of a notebook, call ``guard = output_guard(); guard.start()`` in the first one.
    The limit then applies to each cell, its last expression included, until ``guard.stop()``.
    """
    return OutputGuard(max_bytes)


class OutputGuard:
    """The guard that ``output_guard`` returns; it can be started once."""

    def __init__(self, max_bytes: int) -> None:
        self._limit = max_bytes
        self._printed = 0
        self._undo = ExitStack()
        self._started = False
        self._stream: TextIO = sys.stdout

    def start(self) -> None:
        """Begin to guard.

        Raises:
            AnalysisError: it was started before.
        """
        if self._started:
            raise AnalysisError("this output_guard was started already; make another one")
        self._started = True
        self._undo.enter_context(_short_frames())
        self._stream = sys.stdout
        _CountedStream(self, self._stream).stand_in(self._undo)
        self._listen_to_notebook()

    def stop(self) -> None:
        """Restore everything; warn if output was dropped."""
        self._undo.close()
        self._warn()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def take(self, text: str) -> str:
        """The part of a text that still fits the limit."""
        data = text.encode("utf-8", "surrogatepass")
        room = max(0, self._limit - self._printed)
        self._printed += len(data)
        return text if len(data) <= room else data[:room].decode("utf-8", "ignore")

    def _warn(self) -> None:
        """Warn if output was dropped, and start counting again."""
        printed, self._printed = self._printed, 0
        if printed <= self._limit:
            return
        message = (
            f"output trimmed: {printed:,} bytes were printed, {self._limit:,} are shown, "
            f"{printed - self._limit:,} left out; print a summary instead (safe_summary_table, "
            "safe_json_output), or write the rest to a file and print its name"
        )
        self._stream.write(f"\n[mdvec] {message}\n")
        _log.warning(message)

    def _listen_to_notebook(self) -> None:
        shell = _shell()
        if shell is None:
            return
        for name, callback in (("pre_run_cell", self._begin), ("post_run_cell", self._end)):
            shell.events.register(name, callback)
            self._undo.callback(shell.events.unregister, name, callback)
        for publisher in (shell.display_pub, shell.displayhook):
            if hasattr(publisher, "register_hook"):  # a kernel's; in a terminal, IPython prints
                publisher.register_hook(self._displayed)
                self._undo.callback(publisher.unregister_hook, self._displayed)

    def _begin(self, *_: object) -> None:
        self._printed = 0

    def _end(self, *_: object) -> None:
        self._warn()

    def _displayed(self, message: dict[str, Any]) -> dict[str, Any]:
        """A display message to the notebook, without the representations that exceed the limit."""
        data = message.get("content", {}).get("data", {})
        texts = {kind: value for kind, value in data.items() if not kind.startswith(_PICTURES)}
        if not texts:
            return message
        # A notebook shows one of the representations; the longest one counts.
        longest = max((str(value) for value in texts.values()), key=len)
        if self.take(longest) == longest:
            return message
        left = {kind: value for kind, value in data.items() if kind not in texts}
        beginning = str(texts.get("text/plain", ""))[:_MAX_CELL_CHARS]
        message["content"]["data"] = {**left, "text/plain": f"{beginning} …"}
        return message


class _CountedStream:
    """A stream that writes what its guard allows."""

    def __init__(self, guard: OutputGuard, stream: TextIO) -> None:
        self._guard = guard
        self._stream = stream

    def stand_in(self, undo: ExitStack) -> None:
        """Replace ``sys.stdout`` until ``undo``; a later replacement by others stays."""
        stand_in: Any = self  # __getattr__ delegates the rest
        sys.stdout = stand_in

        def restore() -> None:
            if sys.stdout is stand_in:
                sys.stdout = self._stream

        undo.callback(restore)

    def write(self, text: str) -> int:
        """Write what still fits; report the whole text as written."""
        if shown := self._guard.take(text):
            self._stream.write(shown)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each line."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the wrapped stream's attribute
        return getattr(self._stream, name)


def _short_frames() -> ExitStack:
    """Make polars and pandas print 10 rows, until the returned stack is closed."""
    stack = ExitStack()
    if find_spec("pandas") is not None:
        import pandas as pd

        options: tuple[Any, ...] = (
            ("display.max_rows", MAX_TABLE_ROWS),
            ("display.min_rows", MAX_TABLE_ROWS),
            ("display.max_columns", _MAX_COLUMNS),
            ("display.max_colwidth", _MAX_CELL_CHARS),
        )
        stack.enter_context(pd.option_context(*(part for pair in options for part in pair)))
    if find_spec("polars") is not None:
        import polars as pl

        stack.enter_context(
            pl.Config(
                tbl_rows=MAX_TABLE_ROWS, tbl_cols=_MAX_COLUMNS, fmt_str_lengths=_MAX_CELL_CHARS
            )
        )
    return stack


def _shell() -> Any:  # noqa: ANN401 - of IPython, which need not be installed
    """The running IPython shell; None in plain Python."""
    ipython = sys.modules.get("IPython")
    get: Callable[[], Any] | None = getattr(ipython, "get_ipython", None)
    return get() if get is not None else None
