"""The output schemas of the analytics tools."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Answer(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    warnings: list[str] | None = Field(
        None, description="What was left out and how to get it, or what changed."
    )


class ExportModel(_Answer):
    """A file of rows, by its handle."""

    handle: str = Field(description="For mdvec.analysis.safe_load_export; no path.")
    rows: int
    size_mb: float
    columns: list[str]
    expires_at: str = Field(description="When the file is removed, in UTC.")


class ProfileModel(_Answer):
    """What the columns of a table hold."""

    row_count: int
    date_range: list[str] | None = Field(description="The first and the last date or time.")
    columns: dict[str, dict[str, Any]] = Field(
        description="Of each column: min, max, mean, median, null_rate, distinct_count; "
        "numbers that a float would round are texts."
    )
    approximate: dict[str, str] | None = Field(
        None, description="The figures that are estimates: how far off they may be, which columns."
    )


class HistogramModel(_Answer):
    """How the values of a column are spread."""

    column: str
    bins: list[dict[str, Any]] = Field(
        description="min (in), max (out, but for the last; where it is left out, it is the next "
        "bin's min) and count; or value and count."
    )
    total_count: int = Field(description="All rows: those in bins and all others.")
    null_count: int
    not_finite_count: int | None = Field(None, description="NaN and infinity.")
    other_count: int | None = Field(None, description="Rows of the values that have no bin.")
    other_values: int | None = Field(None, description="How many values have no bin.")


class MaterializeModel(_Answer):
    """A table that later queries can use."""

    view: str = Field(description="Its name in SQL.")
    rows: int
    expires_at: str = Field(description="When it is dropped, in UTC.")


class HandlesModel(_Answer):
    """What can be used now."""

    tables: dict[str, list[str]] | list[str] = Field(description="Names, and their columns.")
    materialized: list[dict[str, Any]]
    exports: list[dict[str, Any]] = Field(description="The latest first.")


class DatasetModel(_Answer):
    """A dataset's tables, or the answer to a small query."""

    tables: list[dict[str, Any]] | None = Field(
        None, description="Name, rows, period and columns with their types."
    )
    columns: list[str] | dict[str, dict[str, Any]] | None = None
    rows: list[list[Any]] | None = Field(
        None, description="Numbers that a float would round, such as those beyond 2^53, are texts."
    )
    row_count: int | None = None
    date_range: list[str] | None = None
    approximate: dict[str, str] | None = None
