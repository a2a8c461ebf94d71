"""The section ``[analytics]`` of the settings: every limit of the SQL tools and their exports."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

MAX_ROWS = 5_000_000
"""The most rows an export can be asked for."""
MAX_TABLES = 10
"""The most materialized tables alive at once."""


class AnalyticsSettings(BaseModel):
    """How long exports and tables live, and how much a query may take and tell."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    folder: str | None = Field(None, min_length=1, description="a folder's path")
    export_ttl_seconds: int = Field(
        3_600, ge=1, le=30 * 86_400, description="1 to 2592000 seconds an export stays"
    )
    table_ttl_seconds: int = Field(
        3_600, ge=1, le=30 * 86_400, description="1 to 2592000 seconds a table stays"
    )
    max_tables: int = Field(
        MAX_TABLES, ge=1, le=MAX_TABLES, description=f"1 to {MAX_TABLES} materialized tables"
    )
    max_rows: int = Field(
        100_000, ge=1, le=MAX_ROWS, description=f"1 to {MAX_ROWS} rows an export has unasked"
    )
    max_export_mb: int = Field(
        1_024, ge=1, le=100_000, description="1 to 100000 megabytes one export may have"
    )
    max_total_mb: int = Field(
        4_096, ge=1, le=1_000_000, description="1 to 1000000 megabytes all exports together have"
    )
    max_memory_mb: int = Field(
        2_048, ge=512, le=1_000_000, description="512 to 1000000 megabytes for the query process"
    )
    max_seconds: float = Field(10, ge=0.1, le=3_600, description="0.1 to 3600 seconds a query")
    max_output_bytes: int = Field(
        1_024, ge=512, le=1_000_000, description="512 to 1000000 bytes of JSON an answer"
    )
    max_output_rows: int = Field(10, ge=1, le=1_000, description="1 to 1000 rows an answer")
