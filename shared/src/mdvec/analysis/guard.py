"""A limit on what code prints for a model: short tables, and nothing after the limit."""

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

_MOST_COLUMNS = 12
_MOST_CELL = 50
_PICTURES = ("image/", "video/", "audio/")
_log = logging.getLogger("mdvec")


def output_guard(max_bytes: int = MAX_PRINTED_BYTES) -> OutputGuard:
    """A guard for a ``with``: frames print 10 rows in it, and all together ``max_bytes``.

    What goes beyond is left out; a warning at the end says how much, and what to print instead.
    Counted is what Python writes to ``sys.stdout`` and what a notebook displays; pictures are
    not, nor what other programs print. Guards may stand within one another.

    For all cells of a notebook: ``guard = output_guard(); guard.start()`` in the first. Each
    cell then has the limit for itself, its last expression included, until ``guard.stop()``.
    """
    return OutputGuard(max_bytes)


class OutputGuard:
    """See ``output_guard``; used once, from ``start`` to ``stop``."""

    def __init__(self, max_bytes: int) -> None:
        self._limit = max_bytes
        self._printed = 0
        self._undo = ExitStack()
        self._started = False
        self._stream: TextIO = sys.stdout

    def start(self) -> None:
        """Guard from here on.

        Raises:
            AnalysisError: it guards already.
        """
        if self._started:
            raise AnalysisError("this output_guard was started already; make another one")
        self._started = True
        self._undo.enter_context(_short_frames())
        self._stream = sys.stdout
        _Counted(self, self._stream).stand_in(self._undo)
        self._listen_to_notebook()

    def stop(self) -> None:
        """Restore everything; warn if something was left out."""
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
        """Of a text that is to be shown, what still may be."""
        data = text.encode("utf-8", "surrogatepass")
        room = max(0, self._limit - self._printed)
        self._printed += len(data)
        return text if len(data) <= room else data[:room].decode("utf-8", "ignore")

    def _warn(self) -> None:
        """Say what was left out, once, and count anew."""
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
            if hasattr(publisher, "register_hook"):  # in a kernel; a terminal prints instead
                publisher.register_hook(self._displayed)
                self._undo.callback(publisher.unregister_hook, self._displayed)

    def _begin(self, *_: object) -> None:
        self._printed = 0

    def _end(self, *_: object) -> None:
        self._warn()

    def _displayed(self, message: dict[str, Any]) -> dict[str, Any]:
        """A message to the notebook, without the forms that are too long now."""
        data = message.get("content", {}).get("data", {})
        texts = {kind: value for kind, value in data.items() if not kind.startswith(_PICTURES)}
        if not texts:
            return message
        # A notebook shows one of the forms; the longest counts, and text alone can be cut.
        longest = max((str(value) for value in texts.values()), key=len)
        if self.take(longest) == longest:
            return message
        left = {kind: value for kind, value in data.items() if kind not in texts}
        beginning = str(texts.get("text/plain", ""))[:_MOST_CELL]
        message["content"]["data"] = {**left, "text/plain": f"{beginning} …"}
        return message


class _Counted:
    """A stream that writes what its guard lets through."""

    def __init__(self, guard: OutputGuard, stream: TextIO) -> None:
        self._guard = guard
        self._stream = stream

    def stand_in(self, undo: ExitStack) -> None:
        """Be ``sys.stdout`` until ``undo``; if another replaced us by then, theirs stays."""
        stand_in: Any = self  # what it lacks of a stream, __getattr__ gives
        sys.stdout = stand_in

        def restore() -> None:
            if sys.stdout is stand_in:
                sys.stdout = self._stream

        undo.callback(restore)

    def write(self, text: str) -> int:
        """Write what there is room for; all of it counts as written."""
        if shown := self._guard.take(text):
            self._stream.write(shown)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each of them."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self._stream, name)


def _short_frames() -> ExitStack:
    """Frames of the libraries that are installed show 10 rows, until this is closed."""
    stack = ExitStack()
    if find_spec("pandas") is not None:
        import pandas as pd

        options: tuple[Any, ...] = (
            ("display.max_rows", MAX_TABLE_ROWS),
            ("display.min_rows", MAX_TABLE_ROWS),
            ("display.max_columns", _MOST_COLUMNS),
            ("display.max_colwidth", _MOST_CELL),
        )
        stack.enter_context(pd.option_context(*(part for pair in options for part in pair)))
    if find_spec("polars") is not None:
        import polars as pl

        stack.enter_context(
            pl.Config(tbl_rows=MAX_TABLE_ROWS, tbl_cols=_MOST_COLUMNS, fmt_str_lengths=_MOST_CELL)
        )
    return stack


def _shell() -> Any:  # noqa: ANN401 - of IPython, which need not be installed
    """The notebook's or terminal's IPython that runs us; None in plain Python."""
    ipython = sys.modules.get("IPython")
    get: Callable[[], Any] | None = getattr(ipython, "get_ipython", None)
    return get() if get is not None else None
