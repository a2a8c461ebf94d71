"""How users want their own models: endpoints, prefixes, sizes, keys and retries."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

OPENAI_URL = "https://api.openai.com/v1"
GEMINI_URL = "https://generativelanguage.googleapis.com"


@dataclass(frozen=True, slots=True)
class RetryOptions:
    """When a request to an endpoint is repeated; times are in seconds.

    The wait before retry n is ``base_delay * backoff_factor ** n``, or what the endpoint asks for,
    but at most ``max_delay``; an endpoint that asks for more ends the import.
    """

    max_retries: int = 3
    base_delay: float = 1.0
    backoff_factor: float = 2.0
    max_delay: float = 60.0


@dataclass(frozen=True, slots=True)
class OpenAIOptions:
    """An endpoint that speaks OpenAI's protocol.

    Without ``dimensions``, vectors keep the model's own; without ``api_key_env``, OPENAI_API_KEY
    is read for OpenAI itself, and no key for others.
    """

    base_url: str = OPENAI_URL
    dimensions: int | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    batch: int = 64
    api_key_env: str | None = None
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class GeminiOptions:
    """Google's Gemini; ``api_key_env`` None is GEMINI_API_KEY, or else GOOGLE_API_KEY."""

    base_url: str = GEMINI_URL
    dimensions: int = 768
    batch: int = 100
    api_key_env: str | None = None
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class StOptions:
    """sentence-transformers; None stands for what the model itself says, or for its default."""

    query_prefix: str | None = None
    document_prefix: str | None = None
    truncate_dim: int | None = None
    backend: Literal["torch", "onnx"] = "torch"
    device: Literal["cpu", "cuda", "mps"] | None = None
    batch: int = 16


@dataclass(frozen=True, slots=True)
class OnnxOptions:
    """onnxruntime; None stands for what the model itself says, or for what is known of it.

    ``file`` is the ONNX file of those that a model has, as a path in its folder.
    """

    file: str | None = None
    pooling: str | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None
    truncate_dim: int | None = None


def _environment() -> Mapping[str, str]:
    return os.environ


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """The options of every family; keys are read from ``environment``, and only from there."""

    openai: OpenAIOptions = OpenAIOptions()
    gemini: GeminiOptions = GeminiOptions()
    st: StOptions = StOptions()
    onnx: OnnxOptions = OnnxOptions()
    retry: RetryOptions = RetryOptions()
    environment: Mapping[str, str] = field(default_factory=_environment, repr=False)


DEFAULT_OPTIONS = BackendOptions()
