"""Limits what code prints for a model: checks an output's size, and guards all output."""

from __future__ import annotations

import atexit
import json
import logging
import operator
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import groupby
from typing import Any, Self, TextIO

from mdvec.analysis.errors import MAX_TABLE_ROWS, AnalysisError, OutputLimits, limits_in_force

_AGGREGATES = {"bins"}
"""Keys of lists of aggregates, as in ``histogram``; they are limited in bytes, not in rows."""
_JSON_START = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_LINE_END = re.compile(r"[ \t]*(?=[\r\n]|$)")
_RULE = re.compile(r"[\s|+:=.…\-─━═┄┌┬┐├┼┤└┴┘╞╪╡│┆]*")
_SENTENCE_END = re.compile(r"[^\W\d][)」』）\"'*_`]*[。．.!?！？:：][)」』）\"'*_`]*$")
_COLUMN_MARKS = ("|", "│", "┆", "\t", "  ")
_WHAT_TO_DO = "aggregate, or use safe_summary_table and safe_json_output"
_MAX_COLUMNS = 12
_MAX_CELL_CHARS = 50
_PICTURES = ("image/", "video/", "audio/")
_log = logging.getLogger("mdvec")
_frames: list[ExitStack] = []
"""For each running guard, the stack that restores how frames print."""


def validate_output(output: object, limits: OutputLimits | None = None) -> tuple[bool, str | None]:
    """Whether an output is within the limits; if not, also why, and what to do instead.

    By default the limits are those of the settings, ``[analytics]`` ``max_output_bytes``,
    ``max_output_rows`` and ``max_printed_bytes``. Without settings they are:

    - The whole output: 100,000 bytes, of which at most 100 lines and 8,192 bytes are not prose.
    - JSON on lines of its own: 1,024 bytes and 10 rows.
    - A table: 10 rows below its header. Another block of lines: 15 lines.
    - A line: 1,024 bytes. A line of whole sentences: 4,096.
    """
    if not isinstance(output, str):
        return False, f"an output is a text, not {type(output).__name__}; pass what is printed"
    limits = limits or limits_in_force()
    trouble = next(_troubles(output, limits), None)
    return (True, None) if trouble is None else (False, f"{trouble}; {_WHAT_TO_DO}")


def _troubles(output: str, limits: OutputLimits) -> Iterator[str]:
    """A reason for each violated limit; cheap checks come first."""
    if _bytes(output) > limits.printed_bytes:
        yield f"the output has more than {limits.printed_bytes:,} bytes"
    data = [line for line in output.splitlines() if not _is_rule(line) and not _is_sentence(line)]
    max_data_lines, max_data_bytes = 10 * limits.rows, 8 * limits.json_bytes
    if len(data) > max_data_lines:
        yield f"there are {len(data):,} lines of data, at most {max_data_lines} are allowed"
    values, text = _json_and_text(output)
    yield from _json_troubles(values, limits)
    if (size := sum(map(_bytes, data))) > max_data_bytes:
        yield f"lines of data have {size:,} bytes, at most {max_data_bytes:,} are allowed"
    for is_blank, block in groupby(text.splitlines(), key=lambda line: not line.strip()):
        if not is_blank:
            yield from _block_troubles([line for line in block if not _is_rule(line)], limits)


def _json_and_text(output: str) -> tuple[list[tuple[object, str]], str]:
    """The JSON values on lines of their own, each with its text; and the remaining text."""
    decoder = json.JSONDecoder()
    values, texts, end = [], [], 0
    for start in _JSON_START.finditer(output):
        if start.end() < end:
            continue  # inside the previous value
        try:
            value, after = decoder.raw_decode(output, start.end())
        except (ValueError, RecursionError):
            continue
        if _LINE_END.match(output, after):
            values.append((value, output[start.end() : after]))
            texts.append(output[end : start.end()])
            end = after
    return values, "".join([*texts, output[end:]])


def _json_troubles(values: Sequence[tuple[object, str]], limits: OutputLimits) -> Iterator[str]:
    if (size := sum(_bytes(text) for _, text in values)) > limits.json_bytes:
        yield f"JSON has {size:,} bytes, at most {limits.json_bytes:,} are allowed"
    if len(values) > limits.rows:
        yield f"there are {len(values):,} JSON values, at most {limits.rows} are allowed"
    for value, _ in values:
        if (rows := _most_rows(value)) > limits.rows:
            yield f"a JSON list has {rows:,} rows, at most {limits.rows} are allowed"


def _most_rows(value: object) -> int:
    """The length of the longest list of rows; at the top level, any list counts."""
    most = len(value) if isinstance(value, list) else 0
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            waiting += [item for key, item in inner.items() if key not in _AGGREGATES]
        elif isinstance(inner, list):
            waiting += inner
            if all(isinstance(item, (dict, list)) for item in inner):
                most = max(most, len(inner))
    return most


def _block_troubles(lines: Sequence[str], limits: OutputLimits) -> Iterator[str]:
    """The limits that a block of lines, or a line in it, violates."""
    # polars adds a line with the types
    header = 2 if any("┆" in line or "│" in line for line in lines) else 1
    for is_table, rows in groupby(lines, key=_is_in_columns):
        if is_table and (count := len([*rows]) - header) > limits.rows:
            yield f"a table has {count:,} rows, at most {limits.rows} are allowed"
    max_lines = limits.rows + 5  # their header, rules, a note of omitted rows
    if len(lines) > max_lines:
        yield f"{len(lines):,} lines stand together, at most {max_lines} are allowed"
    for line in lines:
        most = 4 * limits.json_bytes if _is_sentence(line) else limits.json_bytes
        if (size := _bytes(line)) > most:
            yield f"a line has {size:,} bytes, at most {most:,} are allowed"


def _is_rule(line: str) -> bool:
    """Whether a line is blank, or only separates the parts of a table."""
    return _RULE.fullmatch(line) is not None


def _is_sentence(line: str) -> bool:
    """Whether a line ends like a sentence and has more letters than other characters."""
    text = line.strip()
    if _SENTENCE_END.search(text[-20:]) is None or "\t" in text or "|" in text:
        return False
    return sum(letter.isalpha() for letter in text) * 2 > len(text)


def _is_in_columns(line: str) -> bool:
    text = line.strip()
    if text.startswith(("(", "…")):
        return False  # a note on omitted rows or columns
    return text.count(",") > 1 or any(mark in text for mark in _COLUMN_MARKS)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def output_guard(max_bytes: int | None = None) -> OutputGuard:
    """A context manager: DataFrames print 10 rows, and all output at most ``max_bytes``.

    The default is ``[analytics] max_printed_bytes`` of the settings. Output beyond the limit is
    dropped; a warning at the end says how much, and what to print instead. The guard counts what
    Python writes to ``sys.stdout`` and ``sys.stderr`` as text, and what a notebook displays except
    pictures. It does not see what other programs and C libraries write, a notebook's tracebacks,
    or an error that leaves the ``with`` block. Guards can be nested, and end in any order.

    Raises:
        AnalysisError: ``max_bytes`` is not a whole number from 0 on.

    For all cells of a notebook, call ``guard = output_guard(); guard.start()`` in the first one.
    The limit then applies to each cell, its last expression included, until ``guard.stop()``.
    """
    try:
        limit = limits_in_force().printed_bytes if max_bytes is None else operator.index(max_bytes)
    except TypeError:
        limit = -1
    if limit < 0:
        raise AnalysisError(f"max_bytes is a whole number from 0 on, not {max_bytes!r:.40}")
    return OutputGuard(limit)


class OutputGuard:
    """The guard that ``output_guard`` returns; it can only be started once."""

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
        _frames.append(_short_frames())
        # Guards change the same things but may end in any order; so each undoes its own changes,
        # the last one first.
        self._undo.callback(lambda: _frames.pop().close())
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

    def _warn(self, *_: object) -> None:
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
        """Count the output of each notebook cell by itself, including what it displays."""
        callbacks = {"pre_run_cell": self._begin_cell, "post_run_cell": self._warn}
        for event, callback in callbacks.items():
            shell.events.register(event, callback)
            self._undo.callback(shell.events.unregister, event, callback)
        for publisher in (shell.display_pub, shell.displayhook):
            # Only a kernel has this hook; in a terminal IPython just prints.
            if hasattr(publisher, "register_hook"):
                publisher.register_hook(self._limited_display)
                self._undo.callback(publisher.unregister_hook, self._limited_display)

    def _begin_cell(self, *_: object) -> None:
        self._printed = 0

    def _limited_display(self, message: dict[str, Any]) -> dict[str, Any]:
        """A display message to the notebook, without its texts if they exceed the limit."""
        data = message.get("content", {}).get("data", {})
        texts = {kind: value for kind, value in data.items() if not kind.startswith(_PICTURES)}
        # A notebook shows only one of the representations; the longest is counted.
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
        self.is_over = False

    def restore(self, name: str) -> None:
        """Stop limiting, and restore the stream in ``sys`` unless it was replaced meanwhile."""
        self._take = str
        self.is_over = True
        if getattr(sys, name) is self:
            setattr(sys, name, self._stream)
            if isinstance(self._stream, _CountedStream) and self._stream.is_over:
                self._stream.restore(name)  # the outer guard has ended before this inner one

    def write(self, text: str) -> int:
        """Write what still fits the limit; returns the length of the whole text."""
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
