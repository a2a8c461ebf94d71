"""Options of users' own models: endpoints, prefixes, sizes, keys and retries.

Each is a section of the settings file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from mdvec.section import SettingsSection, bounded

OPENAI_URL = "https://api.openai.com/v1"
GEMINI_URL = "https://generativelanguage.googleapis.com"
_AN_ADDRESS = "an address such as 'http://127.0.0.1:11434/v1', without a user or a key"
_URL = r"^https?://[^/\s@?#]+(/[^\s@?#]*)?$"
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_MAX_PREFIX = 1_000
# Errors do not show the value of a field that has ``repr=False``: it may be a key, by mistake.


def _without_slash(value: str) -> str:
    return value.rstrip("/")


class RetryOptions(SettingsSection):
    """``[model.retry]``: when a request to an endpoint is repeated; times are in seconds.

    The wait before retry n is ``base_delay * backoff_factor ** n``, or what the endpoint asks for,
    but at most ``max_delay``; if an endpoint asks for more, the import ends.
    """

    max_retries: int = bounded(3, 0, 20, "retries")
    base_delay: float = bounded(1.0, 0, 60, "seconds")
    backoff_factor: float = bounded(2.0, 1, 10)
    max_delay: float = bounded(60.0, 0, 3_600, "seconds")


class OpenAIOptions(SettingsSection):
    """``[model.openai]``: an endpoint that speaks OpenAI's protocol.

    Without ``dimensions``, vectors have the model's own dimension. Without ``api_key_env``,
    OPENAI_API_KEY is read for OpenAI itself, and no key for other endpoints.
    """

    base_url: Annotated[str, AfterValidator(_without_slash)] = Field(
        OPENAI_URL, pattern=_URL, repr=False, description=_AN_ADDRESS
    )
    dimensions: int | None = bounded(None, 1, 16_384, "numbers")
    query_prefix: str = Field("", max_length=_MAX_PREFIX, description="a text before questions")
    document_prefix: str = Field("", max_length=_MAX_PREFIX, description="a text before passages")
    batch: int = bounded(64, 1, 2_048, "texts in a request")
    api_key_env: str | None = Field(
        None, pattern=_VARIABLE, repr=False, description="a variable's name, not the key itself"
    )
    timeout_seconds: float = Field(60, gt=0, le=3_600, description="seconds, up to 3600")


class GeminiOptions(SettingsSection):
    """``[model.gemini]``: without ``api_key_env``, it is GEMINI_API_KEY, or GOOGLE_API_KEY."""

    base_url: Annotated[str, AfterValidator(_without_slash)] = Field(
        GEMINI_URL, pattern=_URL, repr=False, description=_AN_ADDRESS
    )
    output_dimensionality: Literal[768, 1536, 3072] = Field(
        768, description="768, 1536 or 3072 numbers"
    )
    batch_size: int = bounded(100, 1, 100, "texts in a request")
    api_key_env: str | None = Field(
        None, pattern=_VARIABLE, repr=False, description="a variable's name, not the key itself"
    )
    timeout_seconds: float = Field(60, gt=0, le=3_600, description="seconds, up to 3600")


class LocalOptions(SettingsSection):
    """Options of the models of both libraries; None means the model's own value."""

    query_prefix: str | None = Field(
        None, max_length=_MAX_PREFIX, description="a text before questions"
    )
    document_prefix: str | None = Field(
        None, max_length=_MAX_PREFIX, description="a text before passages"
    )
    truncate_dim: int | None = bounded(None, 1, 16_384, "numbers")


class StOptions(LocalOptions):
    """``[model.st]``: sentence-transformers; None means the model's own value or the default."""

    backend: Literal["torch", "onnx"] = "torch"
    device: Literal["cpu", "cuda", "mps"] | None = None
    batch: int = bounded(16, 1, 1_024, "texts at once")


class OnnxOptions(LocalOptions):
    """``[model.onnx]``: models for onnxruntime that the catalogue does not name.

    None means the model's own value. ``file`` chooses one of a model's ONNX files, as a path in
    its folder.
    """

    file: str | None = Field(
        None, pattern=r"^[^/\\.][^\\]*\.onnx$", max_length=_MAX_PREFIX,
        description="a file of the model such as 'onnx/model_int8.onnx'",
    )  # fmt: skip
    pooling: Literal["cls", "lasttoken", "max", "mean", "weightedmean"] | None = None


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """The options of every family; keys are read from ``environment``, and only from there."""

    openai: OpenAIOptions = field(default_factory=OpenAIOptions)
    gemini: GeminiOptions = field(default_factory=GeminiOptions)
    st: StOptions = field(default_factory=StOptions)
    onnx: OnnxOptions = field(default_factory=OnnxOptions)
    retry: RetryOptions = field(default_factory=RetryOptions)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)


DEFAULT_OPTIONS = BackendOptions()
