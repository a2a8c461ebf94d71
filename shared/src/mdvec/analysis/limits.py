"""Limits of what analysing code loads and prints for a model."""

from __future__ import annotations

import os
from dataclasses import dataclass

from mdvec import settings

MAX_JSON_BYTES = 1_024
"""Bytes of one JSON output."""
MAX_TABLE_ROWS = 10
"""Rows of one printed table."""
MAX_LOAD_ROWS = 10_000
"""Rows loaded from one export."""
MAX_PRINTED_BYTES = 100_000
"""Bytes that one notebook cell prints."""


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """The limits of one output.

    Args:
        json_bytes: of JSON, and of a line that is not sentences.
        rows: of one table.
        printed_bytes: of everything together.
    """

    json_bytes: int = MAX_JSON_BYTES
    rows: int = MAX_TABLE_ROWS
    printed_bytes: int = MAX_PRINTED_BYTES


def limits_in_force() -> OutputLimits:
    """The limits that the settings say.

    Raises:
        SettingsError: the settings file is not valid.
    """
    analytics = settings.load_settings(os.environ).analytics
    return OutputLimits(
        analytics.max_output_bytes, analytics.max_output_rows, analytics.max_printed_bytes
    )
