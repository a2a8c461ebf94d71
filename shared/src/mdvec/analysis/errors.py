"""What can be wrong with data on their way from an export to a model."""

from mdvec.errors import MdvecError


class AnalysisError(MdvecError):
    """Something that the analysing code can do otherwise; the message says how."""


class LibraryMissing(AnalysisError, ImportError):
    """Neither polars nor pandas is installed, or not the one that was asked for."""


class TooManyRows(AnalysisError, ValueError):
    """An export has more rows than were to be loaded."""


class OutputTooLarge(AnalysisError, ValueError):
    """The JSON is over its limit."""


class NotJson(AnalysisError, TypeError):
    """A value that JSON has no form for."""


class UnsupportedFrame(AnalysisError, TypeError):
    """Something else than a frame of polars or pandas."""


class UnknownColumns(AnalysisError, ValueError):
    """Columns that the frame does not have."""
