"""The output schemas of the analytics tools."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Answer(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    warnings: list[str] | None = None


class ExportModel(_Answer):
    """An exported file and its handle."""

    handle: str = Field(description="Not a path.")
    rows: int
    size_mb: float
    columns: list[str]
    expires_at: str = Field(description="UTC.")


class ProfileModel(_Answer):
    """Statistics of a table's columns."""

    row_count: int
    date_range: list[str] | None
    columns: dict[str, dict[str, Any]] = Field(
        description="Per column: min, max, mean, median, std, q1, q3, null_rate, distinct_count. "
        "Numbers that a float would round are strings."
    )
    approximate: dict[str, str] | None = Field(
        None, description="Per estimated figure: its error bound and columns."
    )


class HistogramModel(_Answer):
    """The distribution of a column's values."""

    column: str
    bins: list[dict[str, Any]] = Field(
        description="min (included), max (excluded except in the last bin; if absent, the next "
        "bin's min) and count; or value and count."
    )
    total_count: int = Field(description="Rows in and outside the bins.")
    null_count: int
    not_finite_count: int | None = Field(None, description="NaN or infinite.")
    other_count: int | None = Field(None, description="Rows whose value has no bin.")
    other_values: int | None = Field(None, description="Distinct values without a bin.")


class MaterializeModel(_Answer):
    """A materialized table."""

    view: str
    rows: int
    expires_at: str = Field(description="UTC.")


class DatasetModel(_Answer):
    """A dataset's tables, or the result of a small query."""

    tables: list[dict[str, Any]] | None = None
    columns: list[str] | dict[str, dict[str, Any]] | None = None
    rows: list[list[Any]] | None = Field(
        None, description="Numbers that a float would round are strings."
    )
    row_count: int | None = None
    date_range: list[str] | None = None
    approximate: dict[str, str] | None = None
