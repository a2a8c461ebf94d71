"""Errors of the analysis functions, and limits on what they load and print."""

from __future__ import annotations

import os
from dataclasses import dataclass

from mdvec import settings
from mdvec.errors import MdvecError

MAX_JSON_BYTES = 1_024
"""The most bytes of one JSON output."""
MAX_TABLE_ROWS = 10
"""The most rows of one printed table."""
MAX_LOAD_ROWS = 10_000
"""The most rows loaded from one export."""
MAX_PRINTED_BYTES = 100_000
"""The most bytes that one notebook cell prints."""


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """The limits of a notebook cell's output.

    Attributes:
        json_bytes: the most bytes of one JSON value, or of one line that is not prose.
        rows: the most rows of one table.
        printed_bytes: the most bytes of everything that the cell prints.
    """

    json_bytes: int = MAX_JSON_BYTES
    rows: int = MAX_TABLE_ROWS
    printed_bytes: int = MAX_PRINTED_BYTES


def limits_in_force() -> OutputLimits:
    """The limits in the settings.

    Raises:
        SettingsError: the settings file is not valid.
    """
    analytics = settings.load_settings(os.environ).analytics
    return OutputLimits(
        analytics.max_output_bytes, analytics.max_output_rows, analytics.max_printed_bytes
    )


class AnalysisError(MdvecError):
    """Base class; the message says what the code should do instead."""


class LibraryMissing(AnalysisError, ImportError):
    """polars, pandas or (for charts) matplotlib is needed and not installed."""


class TooManyRows(AnalysisError, ValueError):
    """An export has more than ``max_rows`` rows."""


class OutputTooLarge(AnalysisError, ValueError):
    """The JSON is longer than ``max_size``."""


class NotJson(AnalysisError, TypeError):
    """A value cannot be written as JSON."""


class UnsupportedFrame(AnalysisError, TypeError):
    """The value is not a DataFrame or Series of polars or pandas."""


class UnknownColumns(AnalysisError, ValueError):
    """The DataFrame lacks a named column."""


class ChartRefused(AnalysisError, ValueError):
    """Unknown kind of chart, size or file ending, or columns that do not fit the kind."""


class ExportError(MdvecError):
    """Base class of errors that the user or the model can act on."""


class NotAHandle(ExportError):
    """The text is not a handle; it may be a path."""


class ExportMissing(ExportError):
    """The handle's file does not exist, or has expired."""


class ExportExceedsTotal(ExportError):
    """A single file is larger than the limit for all exports together."""


class ExportFolderUnusable(ExportError):
    """The folder is not private to this user, or cannot be written."""
