"""Limits what code prints for a model: short tables, and nothing beyond a number of bytes."""

from __future__ import annotations

import atexit
import logging
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

from mdvec.analysis.descriptors import CountedDescriptors
from mdvec.analysis.errors import AnalysisError
from mdvec.analysis.limits import MAX_TABLE_ROWS, limits_in_force
from mdvec.analysis.streams import CountedStream, ShortTraceback

_MAX_COLUMNS = 12
_MAX_CELL_CHARS = 50
_PICTURES = ("image/", "video/", "audio/")
_log = logging.getLogger("mdvec")


def output_guard(max_bytes: int | None = None) -> OutputGuard:
    """A context manager: DataFrames print 10 rows, and all output at most ``max_bytes``.

    The default is ``[analytics] max_printed_bytes`` of the settings. Output beyond the limit is
    dropped; a warning at the end says how much, and what to print instead. Counted is what Python
    writes to ``sys.stdout`` and ``sys.stderr``, tracebacks, what loggers and other programs write,
    and what a notebook displays, but for pictures. Programs on a terminal are not counted. Of an
    error that does not fit, its name and the beginning of its message are shown. Guards can be
    nested.

    For all cells of a notebook, call ``guard = output_guard(); guard.start()`` in the first one.
    The limit then applies to each cell, its last expression included, until ``guard.stop()``.
    """
    return OutputGuard(limits_in_force().printed_bytes if max_bytes is None else max_bytes)


class OutputGuard:
    """The guard that ``output_guard`` returns; it can be started once."""

    def __init__(self, max_bytes: int) -> None:
        self._limit = max_bytes
        self._printed = 0
        self._undo = ExitStack()
        self._started = False
        self._lock = threading.RLock()
        self._descriptors = CountedDescriptors(self._take_bytes)
        self._stdout = CountedStream(self.take, sys.stdout, self._descriptors)
        self._stderr = CountedStream(self.take, sys.stderr, self._descriptors)
        self._traceback = ShortTraceback(self.take, _shell())

    def start(self) -> None:
        """Begin to guard.

        Raises:
            AnalysisError: it was started before.
        """
        if self._started:
            raise AnalysisError("this output_guard was started already; make another one")
        self._started = True
        self._undo.enter_context(_short_frames())
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self._descriptors.start(self._undo)
        self._stdout = CountedStream(self.take, sys.stdout, self._descriptors)
        self._stdout.stand_in("stdout", self._undo)
        self._stderr = CountedStream(self.take, sys.stderr, self._descriptors)
        self._stderr.stand_in("stderr", self._undo)
        self._undo.callback(self._flush)
        self._traceback.stand_in(self._undo)
        self._listen_to_notebook()
        atexit.register(self.stop)
        self._undo.callback(atexit.unregister, self.stop)

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
        self._flush()
        is_long = isinstance(error, Exception) and self._exceeds(error)
        self.stop()
        if error is not None and is_long:
            self._traceback.show_next(error)

    def take(self, text: str) -> str:
        """The part of a text that still fits the limit."""
        data = text.encode("utf-8", "surrogatepass")
        cut = self._take_bytes(data)
        return text if len(cut) == len(data) else cut.decode("utf-8", "ignore")

    def _take_bytes(self, data: bytes) -> bytes:
        with self._lock:
            room = max(0, self._limit - self._printed)
            self._printed += len(data)
        return data if len(data) <= room else data[:room].decode("utf-8", "ignore").encode()

    def _exceeds(self, error: Exception) -> bool:
        """Whether an error's traceback is too long."""
        text = "".join(traceback.format_exception(error))
        return self._printed + len(text.encode("utf-8", "replace")) > self._limit

    def _flush(self) -> None:
        """Have everything counted that was written."""
        self._stdout.settle()
        self._stderr.settle()
        self._descriptors.drain()

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
        self._stdout.write_uncounted(f"\n[mdvec] {message}\n")
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
        self._flush()
        self._printed = 0

    def _end(self, *_: object) -> None:
        self._flush()
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
