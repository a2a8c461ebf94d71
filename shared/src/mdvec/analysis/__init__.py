"""For notebooks and code executors: load and draw exports, print size-limited summaries.

    from mdvec.analysis import safe_load_export, safe_summary_table, safe_json_output

The rows stay in Python; a model that reads the output sees only summaries.
"""

from mdvec.analysis.charts import SafeChart, safe_chart
from mdvec.analysis.errors import (
    AnalysisError,
    ChartRefused,
    ExportMissing,
    LibraryMissing,
    NotAHandle,
    NotJson,
    OutputTooLarge,
    TooManyRows,
    UnknownColumns,
    UnsupportedFrame,
)
from mdvec.analysis.guard import OutputGuard, output_guard
from mdvec.analysis.json_output import safe_json_output
from mdvec.analysis.limits import (
    MAX_JSON_BYTES,
    MAX_LOAD_ROWS,
    MAX_PRINTED_BYTES,
    MAX_TABLE_ROWS,
    OutputLimits,
)
from mdvec.analysis.loading import safe_load_export
from mdvec.analysis.tables import safe_summary_table
from mdvec.analysis.validation import validate_output

__all__ = [
    "MAX_JSON_BYTES",
    "MAX_LOAD_ROWS",
    "MAX_PRINTED_BYTES",
    "MAX_TABLE_ROWS",
    "AnalysisError",
    "ChartRefused",
    "ExportMissing",
    "LibraryMissing",
    "NotAHandle",
    "NotJson",
    "OutputGuard",
    "OutputLimits",
    "OutputTooLarge",
    "SafeChart",
    "TooManyRows",
    "UnknownColumns",
    "UnsupportedFrame",
    "output_guard",
    "safe_chart",
    "safe_json_output",
    "safe_load_export",
    "safe_summary_table",
    "validate_output",
]
