"""The section ``[charts]`` of the settings."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def _any_or_free_port(value: int) -> int:
    if value != 0 and not 1024 <= value <= 65535:
        raise ValueError(value)
    return value


def _picture_size(value: str) -> str:
    size = re.fullmatch(r"([0-9]{3,4})x([0-9]{3,4})", value)
    if size is None or not (200 <= int(size[1]) <= 1920 and 150 <= int(size[2]) <= 1080):
        raise ValueError(value)
    return value


class ChartSettings(BaseModel):
    """How charts are drawn, and where a browser on this machine fetches them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    host: Literal["127.0.0.1", "localhost", "::1"] = Field(
        "127.0.0.1", description="'127.0.0.1', 'localhost' or '::1'; charts stay on this machine"
    )
    port: Annotated[int, AfterValidator(_any_or_free_port)] = Field(
        8080, description="1024 to 65535, or 0 for any that is free"
    )
    cache_entries: int = Field(50, ge=1, le=1000, description="1 to 1000 charts")
    cache_ttl_seconds: int = Field(3600, ge=1, le=604_800, description="1 to 604800 seconds")
    chunk_size: int = Field(8192, ge=512, le=2**20, description="512 to 1048576 bytes")
    max_size: Annotated[str, AfterValidator(_picture_size)] = Field(
        "1920x1080", description="'<width>x<height>', 200x150 to 1920x1080 pixels"
    )
    default_format: Literal["png", "svg"] = Field("png", description="'png' or 'svg'")
    font_path: str | None = Field(None, min_length=1, description="a Japanese font's file")
