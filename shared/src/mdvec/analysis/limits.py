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
    """The limits of one output; those of lines follow from them.

    Args:
        json_bytes: of JSON, and of a line that is not sentences.
        rows: of one table.
        printed_bytes: of everything together.
    """

    json_bytes: int = MAX_JSON_BYTES
    rows: int = MAX_TABLE_ROWS
    printed_bytes: int = MAX_PRINTED_BYTES

    @property
    def lines(self) -> int:
        """Lines in one block: rows, their header, rules, a note of omitted rows."""
        return self.rows + 5

    @property
    def data_lines(self) -> int:
        """Lines in the whole output that are not sentences."""
        return 10 * self.rows

    @property
    def paragraph_bytes(self) -> int:
        """Bytes of a line of whole sentences."""
        return 4 * self.json_bytes

    @property
    def data_bytes(self) -> int:
        """Bytes of the lines in the whole output that are not sentences."""
        return 8 * self.json_bytes


def limits_in_force() -> OutputLimits:
    """The limits that the settings say.

    Raises:
        SettingsError: the settings file is not valid.
    """
    analytics = settings.load_settings(os.environ).analytics
    return OutputLimits(
        analytics.max_output_bytes, analytics.max_output_rows, analytics.max_printed_bytes
    )
