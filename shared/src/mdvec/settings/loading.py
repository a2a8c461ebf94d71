"""The settings: one file, the environment and the flags of a command, checked and frozen."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from mdvec.embedding.cards import CARDS
from mdvec.errors import MdvecError
from mdvec.settings.analytics import AnalyticsSettings
from mdvec.settings.charts import ChartSettings
from mdvec.settings.duplicates import DuplicateSettings

APP = "mdvec"
PROJECT_FILE = "mdvec.toml"
_PREFIX = "MDVEC_"
_PATHS = (("database", "path"), ("charts", "font_path"), ("analytics", "folder"))


class SettingsError(MdvecError):
    """A setting that cannot be used; the message names where it stands and what is allowed."""


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _lower_case(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(item.lower() if isinstance(item, str) else item for item in value)
    return value


def _known_model(value: str) -> str:
    if value != "auto" and value not in CARDS:
        raise ValueError(value)
    return value


def _gitignore_pattern(value: str) -> str:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([value])
    except re.error as error:
        raise ValueError(value) from error
    return value


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class DatabaseSettings(_Section):
    """Where the one SQLite file lies."""

    path: str | None = Field(None, min_length=1, description="a file's path")


class ChunkingSettings(_Section):
    """How documents are cut; what is None follows the model, or what the tool has already."""

    strategy: Literal["heading", "token"] | None = Field(None, description="'heading' or 'token'")
    size: int | None = Field(None, ge=64, le=4096, description="64 to 4096 tokens")
    overlap: int | None = Field(None, ge=0, le=4095, description="0 to size - 1 tokens")
    heading_levels: Annotated[
        tuple[Annotated[int, Field(ge=1, le=6)], ...] | None, BeforeValidator(_as_tuple)
    ] = Field(None, min_length=1, description="a list of heading levels, each 1 to 6")
    min_chars: int | None = Field(None, ge=0, le=10_000, description="0 to 10000 characters")


class DisplaySettings(_Section):
    """How commands print."""

    default_format: Literal["table", "json"] = Field("table", description="'table' or 'json'")


class SearchSettings(_Section):
    """How searches answer."""

    k: int = Field(5, ge=1, le=50, description="1 to 50 hits")
    mode: Literal["hybrid", "vector", "lexical"] = Field(
        "hybrid", description="'hybrid', 'vector' or 'lexical'"
    )
    max_chars: int = Field(
        12_000, ge=500, le=1_000_000, description="500 to 1000000 characters an answer"
    )


class ModelSettings(_Section):
    """Which embedding model is taken, and when the server lets go of it."""

    name: Annotated[str, AfterValidator(_known_model)] = Field(
        "auto", description=f"'auto' or one of: {', '.join(CARDS)}"
    )
    auto_unload_minutes: float = Field(10, gt=0, le=100_000, description="minutes above 0")
    memory_threshold: float = Field(
        0.8, gt=0, le=1, description="a share of the memory, above 0 and up to 1"
    )


class ScanSettings(_Section):
    """Which files of a source folder are imported."""

    extensions: Annotated[
        tuple[Annotated[str, Field(pattern=r"^\.[^./\\]+$")], ...], BeforeValidator(_lower_case)
    ] = Field(
        (".md", ".markdown", ".txt"), min_length=1, description="a list of endings such as '.md'"
    )
    exclude: Annotated[
        tuple[Annotated[str, AfterValidator(_gitignore_pattern)], ...], BeforeValidator(_as_tuple)
    ] = Field((), description="a list of patterns as in .gitignore")
    max_bytes: int = Field(10 * 2**20, ge=1, le=2**30, description="1 to 1073741824 bytes")


class Settings(BaseModel):
    """All settings, with the database's path made absolute."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database: DatabaseSettings = DatabaseSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    display: DisplaySettings = DisplaySettings()
    search: SearchSettings = SearchSettings()
    model: ModelSettings = ModelSettings()
    scan: ScanSettings = ScanSettings()
    charts: ChartSettings = ChartSettings()
    duplicates: DuplicateSettings = DuplicateSettings()
    analytics: AnalyticsSettings = AnalyticsSettings()

    @property
    def database_path(self) -> Path:
        """The database file: the one that is set, or the one in the user's data folder."""
        if self.database.path is not None:
            return Path(self.database.path)
        return platformdirs.user_data_path(APP, appauthor=False) / "vector-db.sqlite"

    @property
    def analytics_folder(self) -> Path:
        """Where exports lie: the folder that is set, or the one in the user's cache."""
        if self.analytics.folder is not None:
            return Path(self.analytics.folder)
        return platformdirs.user_cache_path(APP, appauthor=False) / "analytics"


Layer = Mapping[str, Mapping[str, Any]]


def load_settings(
    environment: Mapping[str, str],
    *,
    config: Path | None = None,
    project_folder: Path | None = None,
    flags: Layer | None = None,
) -> Settings:
    """Flags beat the environment, the environment beats the file, the file beats the defaults.

    The file is ``config``, else the one that ``MDVEC_CONFIG`` names, else ``mdvec.toml`` in
    ``project_folder`` (commands pass the working folder, the server passes none), else
    ``config.toml`` in the user's configuration folder. Flags that are None do not count.

    Raises:
        SettingsError: the file cannot be read, or a setting is unknown or not allowed.
    """
    path = _config_file(environment, config, project_folder)
    merged: dict[str, dict[str, Any]] = {}
    origins: dict[tuple[str, str], str] = {}
    layers = [
        (_file_layer(path), str(path)),
        (_environment_layer(environment), "environment"),
        (flags or {}, "command line"),
    ]
    for layer, origin in layers:
        for section, values in layer.items():
            merged.setdefault(section, {})
            origins.setdefault((section, ""), origin)
            for key, value in values.items():
                if value is not None:
                    merged[section][key] = value
                    origins[section, key] = origin
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise _refused(error, origins) from error


def _config_file(
    environment: Mapping[str, str], config: Path | None, project_folder: Path | None
) -> Path | None:
    named = config or environment.get("MDVEC_CONFIG")
    if named:
        if not _expanded(named).is_file():
            raise SettingsError(
                f"there is no settings file {named}; check --config or MDVEC_CONFIG"
            )
        return _expanded(named).absolute()
    candidates = [platformdirs.user_config_path(APP, appauthor=False) / "config.toml"]
    if project_folder is not None:
        candidates.insert(0, project_folder / PROJECT_FILE)
    return next((path.absolute() for path in candidates if path.is_file()), None)


def _file_layer(path: Path | None) -> dict[str, dict[str, Any]]:
    if path is None:
        return {}
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}; correct it there") from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror})") from error
    for section, values in read.items():
        if not isinstance(values, dict):
            raise SettingsError(
                f"{path}: {section!r} stands outside a section; settings are written as "
                f"{_section_for(section)}"
            )
    for section, key in _PATHS:
        value = read.get(section, {}).get(key)
        if value and isinstance(value, str):
            read[section][key] = str(path.parent / _expanded(value))
    return read


def _expanded(path: str | Path) -> Path:
    """With ``~`` as the home folder; a ``~name`` that nobody has stays as it is."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises there


def _section_for(key: str) -> str:
    for section, fields in _known().items():
        if key in fields:
            return f"[{section}] {key} = …"
    return "[section] key = value"


def _environment_layer(environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    layer: dict[str, dict[str, Any]] = {}
    for name, text in environment.items():
        if not name.startswith(_PREFIX) or name == "MDVEC_CONFIG" or not text:
            continue
        section, _, key = name.removeprefix(_PREFIX).lower().partition("_")
        layer.setdefault(section, {})[key] = _from_text(name, section, key, text)
    for section, key in _PATHS:
        if path := layer.get(section, {}).get(key):
            layer[section][key] = str(_expanded(path).absolute())
    return layer


def _from_text(name: str, section: str, key: str, text: str) -> object:
    """A setting of the environment in the type that a file would have it."""
    field = _known().get(section, {}).get(key)
    if field is None:
        names = [f"{s}_{k}".upper() for s, keys in _known().items() for k in keys]
        hint = _nearest(name.removeprefix(_PREFIX), names, _PREFIX)
        raise SettingsError(f"environment: {name} is no setting of mdvec{hint}")
    value: str | list[str] = text
    if any("tuple" in str(part) for part in (field.annotation, *get_args(field.annotation))):
        value = [item.strip() for item in text.split(",") if item.strip()]
    try:
        return TypeAdapter(field.annotation).validate_python(value, strict=False)
    except ValidationError:
        return text  # refused with everything else, under its section and key


def _known() -> dict[str, dict[str, Any]]:
    return {
        section: dict(field.annotation.model_fields)  # type: ignore[union-attr]
        for section, field in Settings.model_fields.items()
    }


def _nearest(name: str, known: list[str], prefix: str = "") -> str:
    if close := difflib.get_close_matches(name, known, n=1, cutoff=0.5):
        return f"; did you mean {prefix + close[0]!r}?"
    return f"; known are: {', '.join(prefix + one for one in known)}"


def _refused(error: ValidationError, origins: Mapping[tuple[str, str], str]) -> SettingsError:
    first = error.errors()[0]
    section, key = str(first["loc"][0]), str(first["loc"][1]) if len(first["loc"]) > 1 else ""
    origin = origins.get((section, key)) or next(
        (origin for (known, _), origin in origins.items() if known == section), "settings"
    )
    known = _known()
    if section not in known:
        return SettingsError(
            f"{origin}: there is no section [{section}]{_nearest(section, [*known])}"
        )
    if key not in known[section]:
        return SettingsError(
            f"{origin}: [{section}] has no setting {key!r}{_nearest(key, [*known[section]])}"
        )
    allowed = known[section][key].description
    return SettingsError(
        f"{origin}: [{section}] {key} cannot be {first['input']!r:.200}; allowed: {allowed}"
    )
