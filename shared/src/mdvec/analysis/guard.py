"""Limits what code prints for a model: short tables, and nothing beyond a number of bytes."""

from __future__ import annotations

import atexit
import logging
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any, Self, TextIO

from mdvec.analysis.errors import AnalysisError
from mdvec.analysis.limits import MAX_TABLE_ROWS, limits_in_force

_MAX_COLUMNS = 12
_MAX_CELL_CHARS = 50
_PICTURES = ("image/", "video/", "audio/")
_log = logging.getLogger("mdvec")


def output_guard(max_bytes: int | None = None) -> OutputGuard:
    """A context manager: DataFrames print 10 rows, and all output at most ``max_bytes``.

    The default is ``[analytics] max_printed_bytes`` of the settings. Output beyond the limit is
    dropped; a warning at the end says how much, and what to print instead. The guard counts what
    Python writes to ``sys.stdout`` and ``sys.stderr``, and what a notebook displays except
    pictures. It does not see what other programs and C libraries write, a notebook's tracebacks,
    or an error that leaves the ``with`` block. Guards can be nested.

    For all cells of a notebook, call ``guard = output_guard(); guard.start()`` in the first one.
    The limit then applies to each cell, its last expression included, until ``guard.stop()``.
    """
    return OutputGuard(limits_in_force().printed_bytes if max_bytes is None else max_bytes)


class OutputGuard:
    """The guard that ``output_guard`` returns; it can be started once."""

    def __init__(self, max_bytes: int) -> None:
        self._limit = max_bytes
        self._printed = 0
        self._stdout: TextIO | None = None
        self._undo = ExitStack()
        self._lock = threading.RLock()

    def start(self) -> None:
        """Begin to guard.

        Raises:
            AnalysisError: it was started before.
        """
        if self._stdout is not None:
            raise AnalysisError("this output_guard was started already; make another one")
        self._stdout = sys.stdout
        self._undo.enter_context(_short_frames())
        for name in ("stdout", "stderr"):
            stream = _CountedStream(getattr(sys, name), self._take)
            setattr(sys, name, stream)
            self._undo.callback(stream.restore, name)
        ipython = sys.modules.get("IPython")
        if ipython is not None and (shell := ipython.get_ipython()) is not None:
            self._guard_cells(shell)
        atexit.register(self.stop)
        self._undo.callback(atexit.unregister, self.stop)

    def stop(self) -> None:
        """Restore everything; warn if output was dropped."""
        self._undo.close()
        self._warn()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _take(self, text: str) -> str:
        """The part of a text that still fits the limit."""
        data = text.encode("utf-8", "surrogatepass")
        with self._lock:
            room = max(0, self._limit - self._printed)
            self._printed += len(data)
        return text if len(data) <= room else data[:room].decode("utf-8", "ignore")

    def _warn(self) -> None:
        """Warn if output was dropped, and start counting again."""
        printed, self._printed = self._printed, 0
        if printed <= self._limit or self._stdout is None:
            return
        message = (
            f"output trimmed: {printed:,} bytes were printed, {self._limit:,} are shown, "
            f"{printed - self._limit:,} left out; print a summary instead (safe_summary_table, "
            "safe_json_output), or write the rest to a file and print its name"
        )
        self._stdout.write(f"\n[mdvec] {message}\n")
        _log.warning(message)

    def _guard_cells(self, shell: Any) -> None:  # noqa: ANN401 - IPython need not be installed
        """Count each cell of a notebook by itself, and what it displays."""
        callbacks = {"pre_run_cell": self._begin_cell, "post_run_cell": self._end_cell}
        for event, callback in callbacks.items():
            shell.events.register(event, callback)
            self._undo.callback(shell.events.unregister, event, callback)
        for publisher in (shell.display_pub, shell.displayhook):
            if hasattr(publisher, "register_hook"):  # a kernel's; in a terminal, IPython prints
                publisher.register_hook(self._displayed)
                self._undo.callback(publisher.unregister_hook, self._displayed)

    def _begin_cell(self, *_: object) -> None:
        self._printed = 0

    def _end_cell(self, *_: object) -> None:
        self._warn()

    def _displayed(self, message: dict[str, Any]) -> dict[str, Any]:
        """A display message to the notebook, without the representations that exceed the limit."""
        data = message.get("content", {}).get("data", {})
        texts = {kind: value for kind, value in data.items() if not kind.startswith(_PICTURES)}
        # A notebook shows one of the representations; the longest one counts.
        longest = max((str(value) for value in texts.values()), key=len, default="")
        if self._take(longest) != longest:
            beginning = str(texts.get("text/plain", ""))[:_MAX_CELL_CHARS]
            pictures = {kind: value for kind, value in data.items() if kind not in texts}
            message["content"]["data"] = {**pictures, "text/plain": f"{beginning} …"}
        return message


class _CountedStream:
    """Stands in for ``sys.stdout`` or ``sys.stderr`` and writes the part that ``take`` allows."""

    def __init__(self, stream: TextIO, take: Callable[[str], str]) -> None:
        self._stream = stream
        self._take = take

    def restore(self, name: str) -> None:
        """Write everything from now on, and give ``sys`` its stream back unless it has another."""
        self._take = str
        if getattr(sys, name) is self:
            setattr(sys, name, self._stream)

    def write(self, text: str) -> int:
        """Write what still fits; report the whole text as written."""
        if shown := self._take(text):
            self._stream.write(shown)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
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

        options: dict[str, Any] = {
            "display.max_rows": MAX_TABLE_ROWS,
            "display.min_rows": MAX_TABLE_ROWS,
            "display.max_columns": _MAX_COLUMNS,
            "display.max_colwidth": _MAX_CELL_CHARS,
        }
        stack.enter_context(pd.option_context(*(part for pair in options.items() for part in pair)))
    if find_spec("polars") is not None:
        import polars as pl

        stack.enter_context(
            pl.Config(
                tbl_rows=MAX_TABLE_ROWS, tbl_cols=_MAX_COLUMNS, fmt_str_lengths=_MAX_CELL_CHARS
            )
        )
    return stack
