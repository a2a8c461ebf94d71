"""The sections of the settings file about the server: its address, charts and sync."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from mdvec.section import SettingsSection


def _port(value: int) -> int:
    if value != 0 and not 1024 <= value <= 65535:
        raise ValueError(value)
    return value


def _picture_size(value: str) -> str:
    size = re.fullmatch(r"([0-9]{3,4})x([0-9]{3,4})", value)
    if size is None or not (200 <= int(size[1]) <= 1920 and 150 <= int(size[2]) <= 1080):
        raise ValueError(value)
    return value


class ChartSettings(SettingsSection):
    """``[charts]``: how charts are drawn and served to a browser on this machine."""

    host: Literal["127.0.0.1", "localhost", "::1"] = Field(
        "127.0.0.1", description="'127.0.0.1', 'localhost' or '::1'; charts stay on this machine"
    )
    port: Annotated[int, AfterValidator(_port)] = Field(
        8080, description="1024 to 65535, or 0 for any free port"
    )
    cache_entries: int = Field(50, ge=1, le=1000, description="1 to 1000 charts")
    cache_ttl_seconds: int = Field(3600, ge=1, le=604_800, description="1 to 604800 seconds")
    chunk_size: int = Field(8192, ge=512, le=2**20, description="512 to 1048576 bytes")
    max_size: Annotated[str, AfterValidator(_picture_size)] = Field(
        "1920x1080", description="'<width>x<height>', 200x150 to 1920x1080 pixels"
    )
    default_format: Literal["png", "jpeg", "svg"] = Field(
        "png", description="'png', 'jpeg' or 'svg'"
    )
    font_path: str | None = Field(None, min_length=1, description="a Japanese font's file")


class ServerSettings(SettingsSection):
    """``[server]``: what the server offers and answers, and the one to which it may forward.

    ``structured`` decides who gets ``structuredContent`` beside an answer's text: ``auto`` sends it
    only to clients that draw MCP Apps, for the tools that have one.
    """

    structured: Literal["auto", "always", "never"] = Field(
        "auto", description="'auto', 'always' or 'never'"
    )
    tools: Literal["all", "core"] = Field("all", description="'all' or 'core'")
    read_only: bool = Field(default=False, description="true or false")

    url: str | None = Field(
        None, pattern=r"^https?://[^/\s]+/\S*$",
        description="a server's address, such as 'http://127.0.0.1:8765/mcp'",
    )  # fmt: skip
    token: SecretStr | None = Field(None, description="the token that clients show")
    token_file: str | None = Field(None, min_length=1, description="a file's path")

    @property
    def offers_all(self) -> bool:
        """Whether no tool is left out."""
        return self.tools == "all" and not self.read_only


class SyncSettings(SettingsSection):
    """``[sync]``: how the server notices that sources have changed, and whether it imports them.

    The folder that a server was started for (``--docs-dir``) is imported unless ``auto`` is false.
    """

    seconds: int = Field(
        30, ge=0, le=86_400, description="0 to 86400 seconds between two looks at a source"
    )
    auto: bool | None = Field(None, description="true or false")
