"""``[model]`` and its sections: the embedding model, its endpoints and their retries."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from mdvec.embedding import (
    CHOICES,
    FORMS,
    GEMINI_URL,
    OPENAI_URL,
    BackendOptions,
    GeminiOptions,
    OnnxOptions,
    OpenAIOptions,
    RetryOptions,
    StOptions,
    canonical,
    is_model_name,
)
from mdvec.settings.section import SettingsSection

_AN_ADDRESS = "an address such as 'http://127.0.0.1:11434/v1', without a user or a key"
_URL = r"^https?://[^/\s@?#]+(/[^\s@?#]*)?$"
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_MAX_PREFIX = 1_000
# Errors do not show the value of a field that has ``repr=False``: it may be a key, by mistake.


def _known_model(value: str) -> str:
    if value != "auto" and not is_model_name(value):
        raise ValueError(value)
    return canonical(value)


def _without_slash(value: str) -> str:
    return value.rstrip("/")


class OpenAISettings(SettingsSection):
    """``[model.openai]``: an endpoint that speaks OpenAI's protocol."""

    base_url: Annotated[str, AfterValidator(_without_slash)] = Field(
        OPENAI_URL, pattern=_URL, repr=False, description=_AN_ADDRESS
    )
    dimensions: int | None = Field(None, ge=1, le=16_384, description="1 to 16384 numbers")
    query_prefix: str = Field("", max_length=_MAX_PREFIX, description="a text before questions")
    document_prefix: str = Field("", max_length=_MAX_PREFIX, description="a text before passages")
    batch: int = Field(64, ge=1, le=2_048, description="1 to 2048 texts in a request")
    api_key_env: str | None = Field(
        None, pattern=_VARIABLE, repr=False, description="a variable's name, not the key itself"
    )
    timeout_seconds: float = Field(60, gt=0, le=3_600, description="seconds, up to 3600")


class GeminiSettings(SettingsSection):
    """``[model.gemini]``: Google's Gemini."""

    base_url: Annotated[str, AfterValidator(_without_slash)] = Field(
        GEMINI_URL, pattern=_URL, repr=False, description=_AN_ADDRESS
    )
    output_dimensionality: Literal[768, 1536, 3072] = Field(
        768, description="768, 1536 or 3072 numbers"
    )
    batch_size: int = Field(100, ge=1, le=100, description="1 to 100 texts in a request")
    api_key_env: str | None = Field(
        None, pattern=_VARIABLE, repr=False, description="a variable's name, not the key itself"
    )
    timeout_seconds: float = Field(60, gt=0, le=3_600, description="seconds, up to 3600")


class StSettings(SettingsSection):
    """``[model.st]``: sentence-transformers."""

    query_prefix: str | None = Field(
        None, max_length=_MAX_PREFIX, description="a text before questions"
    )
    document_prefix: str | None = Field(
        None, max_length=_MAX_PREFIX, description="a text before passages"
    )
    truncate_dim: int | None = Field(None, ge=1, le=16_384, description="1 to 16384 numbers")
    backend: Literal["torch", "onnx"] = Field("torch", description="'torch' or 'onnx'")
    device: Literal["cpu", "cuda", "mps"] | None = Field(None, description="'cpu', 'cuda' or 'mps'")
    batch: int = Field(16, ge=1, le=1_024, description="1 to 1024 texts at once")


class OnnxSettings(SettingsSection):
    """``[model.onnx]``: models for onnxruntime that the catalogue does not name."""

    file: str | None = Field(
        None, pattern=r"^[^/\\.][^\\]*\.onnx$", max_length=_MAX_PREFIX,
        description="a file of the model such as 'onnx/model_int8.onnx'",
    )  # fmt: skip
    pooling: Literal["cls", "lasttoken", "max", "mean", "weightedmean"] | None = Field(
        None, description="'cls', 'lasttoken', 'max', 'mean' or 'weightedmean'"
    )
    query_prefix: str | None = Field(
        None, max_length=_MAX_PREFIX, description="a text before questions"
    )
    document_prefix: str | None = Field(
        None, max_length=_MAX_PREFIX, description="a text before passages"
    )
    truncate_dim: int | None = Field(None, ge=1, le=16_384, description="1 to 16384 numbers")


class RetrySettings(SettingsSection):
    """``[model.retry]``: when a request to an endpoint is repeated."""

    max_retries: int = Field(3, ge=0, le=20, description="0 to 20 retries")
    base_delay: float = Field(1.0, ge=0, le=60, description="0 to 60 seconds")
    backoff_factor: float = Field(2.0, ge=1, le=10, description="1 to 10")
    max_delay: float = Field(60.0, ge=0, le=3_600, description="0 to 3600 seconds")


class ModelSettings(SettingsSection):
    """``[model]``: the embedding model, and when the server unloads it."""

    name: Annotated[str, AfterValidator(_known_model)] = Field(
        "auto", description=f"'auto', one of: {CHOICES}, or {FORMS}"
    )
    auto_unload_minutes: float = Field(10, gt=0, le=100_000, description="minutes above 0")
    memory_threshold: float = Field(
        0.8, gt=0, le=1, description="a share of the memory, above 0 and up to 1"
    )
    openai: OpenAISettings = OpenAISettings()
    gemini: GeminiSettings = GeminiSettings()
    st: StSettings = StSettings()
    onnx: OnnxSettings = OnnxSettings()
    retry: RetrySettings = RetrySettings()

    def options(self) -> BackendOptions:
        """The options of the users' own models."""
        openai, gemini, st, onnx = self.openai, self.gemini, self.st, self.onnx
        return BackendOptions(
            OpenAIOptions(
                openai.base_url, openai.dimensions, openai.query_prefix, openai.document_prefix,
                openai.batch, openai.api_key_env, openai.timeout_seconds,
            ),
            GeminiOptions(
                gemini.base_url, gemini.output_dimensionality, gemini.batch_size,
                gemini.api_key_env, gemini.timeout_seconds,
            ),
            StOptions(
                st.query_prefix, st.document_prefix, st.truncate_dim, st.backend, st.device,
                st.batch,
            ),
            OnnxOptions(
                onnx.file, onnx.pooling, onnx.query_prefix, onnx.document_prefix,
                onnx.truncate_dim,
            ),
            RetryOptions(**self.retry.model_dump()),
        )  # fmt: skip
