"""The errors of exports, of loading them and of printing summaries."""

from mdvec.errors import MdvecError


class AnalysisError(MdvecError):
    """The base class; the message says what the analysing code should do instead."""


class LibraryMissing(AnalysisError, ImportError):
    """A library is needed and not installed: polars or pandas, or matplotlib for charts."""


class TooManyRows(AnalysisError, ValueError):
    """An export has more than ``max_rows`` rows."""


class OutputTooLarge(AnalysisError, ValueError):
    """The JSON is longer than ``max_size``."""


class NotJson(AnalysisError, TypeError):
    """A value cannot be written as JSON."""


class UnsupportedFrame(AnalysisError, TypeError):
    """The value is not a DataFrame or Series of polars or pandas."""


class UnknownColumns(AnalysisError, ValueError):
    """The DataFrame lacks a column that was named."""


class ChartRefused(AnalysisError, ValueError):
    """A kind, a size or a file's ending that charts do not have, or columns that do not fit."""


class ExportError(MdvecError):
    """The base class: the user or the model can act on it."""


class NotAHandle(ExportError):
    """The text is not a handle; it may be a path."""


class ExportMissing(ExportError):
    """The handle's file does not exist, or has expired."""


class ExportExceedsTotal(ExportError):
    """A single file is larger than the limit for all exports together."""


class ExportFolderUnusable(ExportError):
    """The folder is not private to this user, or cannot be written."""
