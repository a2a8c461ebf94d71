"""The sections of the settings file: their keys, defaults and allowed values."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import platformdirs
from pathspec import GitIgnoreSpec
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from mdvec import embedding
from mdvec.converters import NEW_TOOL_ENDINGS, OwnCommands
from mdvec.files import ScanRules
from mdvec.household import MAX_DATE_TOLERANCE, DetectionOptions
from mdvec.importing import ChunkingSettings
from mdvec.index import ChromaServer
from mdvec.log import LogSettings
from mdvec.platform import followed, shell_words
from mdvec.section import SettingsSection, bounded
from mdvec.settings.places import APP
from mdvec.sizes import MEGABYTE
from mdvec.text import CONVERTED_ENDINGS

_LOCALTIME = Path("/etc/localtime")
_FOLDER = re.compile(r".*/zoneinfo(?:\.default)?/(?:posix/|right/)?")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
_HOUR = 3_600
DATABASE_NAME = "vector-db.sqlite"
"""The database's file name in the user's data folder, or in the one named by ``--data-dir``."""
MAX_EXPORT_ROWS = 5_000_000
"""The upper bound of ``max_rows`` in the settings and in calls of the tool ``export``."""
_MAX_TABLES = 10


def _only(is_allowed: Callable[[Any], bool]) -> AfterValidator:
    """Refuses other values; the message is that of the setting."""

    def check(value: object) -> object:
        if not is_allowed(value):
            raise ValueError(value)
        return value

    return AfterValidator(check)


def _is_picture_size(value: str) -> bool:
    size = re.fullmatch(r"([0-9]{3,4})x([0-9]{3,4})", value)
    return size is not None and 200 <= int(size[1]) <= 1920 and 150 <= int(size[2]) <= 1080


class ChartSettings(SettingsSection):
    """``[charts]``: how charts are drawn and served to a browser on this machine."""

    host: Literal["127.0.0.1", "localhost", "::1"] = Field(
        "127.0.0.1",
        description="this machine alone: '127.0.0.1', 'localhost', '::1'",
    )
    port: Annotated[int, _only(lambda port: port == 0 or 1024 <= port <= 65535)] = Field(
        8080, description="1024 to 65535, or 0 for any free port"
    )
    cache_entries: int = bounded(50, 1, 1000, "charts")
    cache_ttl_seconds: int = bounded(3600, 1, 604_800, "seconds")
    chunk_size: int = bounded(8192, 512, 2**20, "bytes")
    max_size: Annotated[str, _only(_is_picture_size)] = Field(
        "1920x1080", description="'<width>x<height>', 200x150 to 1920x1080 pixels"
    )
    default_format: Literal["png", "jpeg", "svg"] = "png"
    font_path: str | None = Field(None, min_length=1, description="a Japanese font's file")


class ServerSettings(SettingsSection):
    """``[server]``: what the server offers and returns, and the server it may forward to.

    ``structured`` decides which clients get ``structuredContent`` in addition to the text: ``auto``
    sends it only to clients that render MCP Apps, for tools that have an app.
    """

    structured: Literal["auto", "always", "never"] = "auto"
    tools: Literal["all", "core"] = "all"
    read_only: bool = False

    url: str | None = Field(
        None, pattern=r"^https?://[^/\s]+/\S*$",
        description="a server's address, such as 'http://127.0.0.1:8765/mcp'",
    )  # fmt: skip
    token: SecretStr | None = Field(None, description="the token that clients show")
    token_file: str | None = Field(None, min_length=1, description="a file's path")

    @property
    def offers_all(self) -> bool:
        """Whether the server offers all tools."""
        return self.tools == "all" and not self.read_only


class SyncSettings(SettingsSection):
    """``[sync]``: how the server notices that sources have changed, and whether it imports them.

    The folder that a server was started for (``--docs-dir``) is imported unless ``auto`` is false.
    """

    seconds: int = bounded(30, 0, 86_400, "seconds between two looks at a source")
    auto: bool | None = None


def known_zone(name: str | None) -> str | None:
    """Returns a time zone's name if it exists; None stays None.

    Raises:
        ValueError: no time zone has that name.
    """
    if name is None:
        return None
    if _NAME.fullmatch(name) is None or (_is_there("Europe/Paris") and not _is_there(name)):
        raise ValueError(name)
    return name


def _is_there(name: str) -> bool:
    """Whether this system knows the zone; some systems know none."""
    try:
        ZoneInfo(name)
    except (LookupError, OSError, ValueError):
        return False
    return True


def system_zone(environ: Mapping[str, str] = os.environ, localtime: Path = _LOCALTIME) -> str:
    """The name of the system's time zone, from TZ or the link ``localtime``.

    If neither has a name, it is a zone with the current UTC offset, without summer time.
    """
    named = environ.get("TZ", "").removeprefix(":")
    if not named:
        named = str(followed(localtime)) if localtime.is_symlink() else ""
        named = _FOLDER.sub("", named) if _FOLDER.match(named) else ""
    try:
        if zone := known_zone(_FOLDER.sub("", named) or None):
            return zone
    except ValueError:
        pass  # TZ has a form such as JST-9
    hours, rest = divmod(time.localtime().tm_gmtoff, _HOUR)
    return "UTC" if rest or not hours else f"Etc/GMT{-hours:+d}"


class IndexSettings(ChromaServer):
    """``[index]``: what indexes the vectors: the database file, or a Chroma server."""

    engine: Literal["sqlite", "chroma"] = "sqlite"


def _lower_case(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(item.lower() if isinstance(item, str) else item for item in value)
    return value


def _gitignore_pattern(value: str) -> str:
    try:
        GitIgnoreSpec.from_lines([value])
    except re.error as error:
        raise ValueError(value) from error
    return value


def _cross_encoder(value: str | None) -> str | None:
    if value is not None and embedding.family_of(value) not in ("st", "onnx"):
        raise ValueError(value)
    return None if value is None else embedding.canonical(value)


class DatabaseSettings(SettingsSection):
    """``[database]``: where the SQLite file is."""

    path: str | None = Field(None, min_length=1, description="a file's path")


class DisplaySettings(SettingsSection):
    """``[display]``: how commands print, and the language of their help and messages."""

    default_format: Literal["table", "json"] = "table"
    language: Literal["auto", "ja", "en"] = "auto"


class SearchSettings(SettingsSection):
    """``[search]``: the size and mode of an answer."""

    k: int = bounded(5, 1, 50, "hits")
    mode: Literal["hybrid", "vector", "lexical"] = "hybrid"
    max_chars: int = bounded(12_000, 500, 1_000_000, "characters per answer")
    reranker: Annotated[str | None, AfterValidator(_cross_encoder)] = Field(
        None,
        description="'onnx:<cross-encoder>' or 'st:<cross-encoder>': a name on Hugging Face, or a "
        "folder",
    )


def _known_model(value: str) -> str:
    if value != "auto" and not embedding.is_model_name(value):
        raise ValueError(value)
    return embedding.canonical(value)


class ModelSettings(SettingsSection):
    """``[model]``: the embedding model, and when the server unloads it."""

    name: Annotated[str, AfterValidator(_known_model)] = Field(
        "auto", description=f"'auto', one of: {embedding.CHOICES}, or {embedding.FORMS}"
    )
    auto_unload_minutes: float = Field(10, gt=0, le=100_000, description="minutes above 0")
    memory_threshold: float = Field(
        0.8, gt=0, le=1, description="a share of the memory, above 0 and up to 1"
    )
    openai: embedding.OpenAIOptions = embedding.OpenAIOptions()
    gemini: embedding.GeminiOptions = embedding.GeminiOptions()
    st: embedding.StOptions = embedding.StOptions()
    onnx: embedding.OnnxOptions = embedding.OnnxOptions()
    retry: embedding.RetryOptions = embedding.RetryOptions()

    def options(self) -> embedding.BackendOptions:
        """The options of the users' own models."""
        return embedding.BackendOptions(self.openai, self.gemini, self.st, self.onnx, self.retry)


class ScanSettings(SettingsSection):
    """``[scan]``: which files of a source folder are imported."""

    extensions: Annotated[
        tuple[Annotated[str, Field(pattern=r"^\.[^./\\]+$")], ...], BeforeValidator(_lower_case)
    ] = Field(
        (".md", ".markdown", ".mdx", ".txt", *NEW_TOOL_ENDINGS),
        min_length=1,
        description="a list of endings such as '.md'",
    )
    exclude: tuple[Annotated[str, AfterValidator(_gitignore_pattern)], ...] = Field(
        (), strict=False, description="a list of patterns as in .gitignore"
    )
    max_bytes: int = Field(10 * MEGABYTE, ge=1, le=2**30, description="1 to 1073741824 bytes")


class ConvertSettings(SettingsSection):
    """``[convert]``: the user's own programs that convert files to Markdown."""

    command: dict[
        Annotated[str, AfterValidator(str.lower), _only(lambda end: end in CONVERTED_ENDINGS)],
        Annotated[str, _only(shell_words)],
    ] = Field(
        {},
        description="a table such as { '.pdf' = 'my-converter --markdown' }; its endings are among "
        f"{', '.join(CONVERTED_ENDINGS)}",
    )
    max_seconds: float = Field(300, gt=0, le=86_400, description="seconds for one file, above 0")

    def commands(self) -> OwnCommands:
        """The commands, as a converter takes them."""
        return OwnCommands(self.command, self.max_seconds)


class HouseholdSettings(SettingsSection):
    """``[household]``: the first day of months, and the language of answers."""

    month_starts_on: int = Field(
        1, ge=1, le=31, description="1 to 31, the day on which a month starts"
    )
    language: Literal["ja", "en"] = "ja"


class DuplicateSettings(SettingsSection):
    """``[duplicates]``: the defaults for detecting duplicate transactions."""

    default_date_tolerance: int = bounded(4, 0, MAX_DATE_TOLERANCE, "days")
    default_amount_tolerance_abs: float = bounded(0, 0, 1_000_000, "yen")
    default_amount_tolerance_pct: float = bounded(10, 0, 100, "per cent")
    min_similarity_score: float = bounded(0.5, 0, 1)
    auto_detect_on_import: bool = True

    def options(self) -> DetectionOptions:
        """The settings as the household's DetectionOptions."""
        return DetectionOptions(
            self.default_date_tolerance,
            Decimal(str(self.default_amount_tolerance_abs)),
            Decimal(str(self.default_amount_tolerance_pct)),
            self.min_similarity_score,
        )


class AnalyticsSettings(SettingsSection):
    """``[analytics]``: the limits of SQL queries, their exports and materialized tables."""

    folder: str | None = Field(None, min_length=1, description="a folder's path")
    export_ttl_seconds: int = bounded(3_600, 1, 30 * 86_400, "seconds that an export is kept")
    table_ttl_seconds: int = bounded(3_600, 1, 30 * 86_400, "seconds that a table is kept")
    max_tables: int = bounded(_MAX_TABLES, 1, _MAX_TABLES, "materialized tables")
    max_rows: int = bounded(
        100_000, 1, MAX_EXPORT_ROWS, "rows per export, unless the call names another limit"
    )
    max_export_mb: int = bounded(1_024, 1, 100_000, "megabytes per export")
    max_total_mb: int = bounded(4_096, 1, 1_000_000, "megabytes for all exports together")
    max_memory_mb: int = bounded(
        2_048, 512, 1_000_000, "megabytes for each of the two query processes"
    )
    max_import_mb: int | None = bounded(
        None, 256, 1_000_000,
        "megabytes for the import of a data file; default: a quarter of the machine's memory",
    )  # fmt: skip
    max_seconds: float = bounded(10, 0.1, 3_600, "seconds per query")
    max_output_bytes: int = bounded(1_024, 512, 1_000_000, "bytes of JSON per answer")
    max_output_rows: int = bounded(10, 1, 1_000, "rows per answer")
    max_printed_bytes: int = bounded(
        100_000, 512, 100_000_000, "bytes that a notebook's cell prints"
    )
    max_query_bytes: int = bounded(4_000, 512, 1_000_000, "bytes of JSON from query")
    time_zone: Annotated[str | None, AfterValidator(known_zone)] = Field(
        None, description="the name of a time zone, such as Asia/Tokyo; default: the system's"
    )
    max_query_rows: int = bounded(20, 1, 1_000, "rows from query")

    @property
    def zone(self) -> str:
        """The time zone of SQL: the configured one, or the system's."""
        return self.time_zone or system_zone()

    @property
    def max_total_bytes(self) -> int:
        """``max_total_mb`` in bytes."""
        return self.max_total_mb * MEGABYTE


class Settings(BaseModel):
    """All sections of the settings file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    database: DatabaseSettings = DatabaseSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    display: DisplaySettings = DisplaySettings()
    search: SearchSettings = SearchSettings()
    model: ModelSettings = ModelSettings()
    scan: ScanSettings = ScanSettings()
    convert: ConvertSettings = ConvertSettings()
    charts: ChartSettings = ChartSettings()
    household: HouseholdSettings = HouseholdSettings()
    duplicates: DuplicateSettings = DuplicateSettings()
    analytics: AnalyticsSettings = AnalyticsSettings()
    log: LogSettings = LogSettings()
    server: ServerSettings = ServerSettings()
    sync: SyncSettings = SyncSettings()
    index: IndexSettings = IndexSettings()

    def scan_rules(self) -> ScanRules:
        """The scan rules, with the endings of files that a user's command converts."""
        scan = self.scan
        own = [ending for ending in self.convert.command if ending not in scan.extensions]
        return ScanRules((*scan.extensions, *own), scan.exclude, scan.max_bytes)

    @property
    def database_path(self) -> Path:
        """The database file: the configured one, or the default in the user's data folder.

        A link is followed: SQLite's log and the locks of imports are next to the real file.
        """
        if self.database.path is None:
            return platformdirs.user_data_path(APP, appauthor=False) / DATABASE_NAME
        path, real = Path(self.database.path), followed(self.database.path)
        # os.path, because the tests of Path raise OSError for names that are too long. A link into
        # a missing folder is not followed, so that opening it reports the error.
        is_followed = os.path.islink(path) and os.path.isdir(real.parent)  # noqa: PTH112, PTH114
        return real if is_followed else path

    @property
    def vector_engine(self) -> ChromaServer | None:
        """The server that indexes the vectors; None if the database file does."""
        return None if self.index.engine == "sqlite" else self.index

    def reranker(self) -> embedding.Reranker | None:
        """A reranker, not loaded yet; None if none is configured."""
        name = self.search.reranker
        return None if name is None else embedding.Reranker(name, self.model.options())

    @property
    def analytics_folder(self) -> Path:
        """The folder of exports: the configured one, or the default in the user's cache folder."""
        if self.analytics.folder is not None:
            return Path(self.analytics.folder)
        return platformdirs.user_cache_path(APP, appauthor=False) / "analytics"
