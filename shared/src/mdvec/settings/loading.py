"""Loads the settings from the file, the environment and a command's flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from mdvec.platform import followed
from mdvec.section import SettingsSection, allowed
from mdvec.settings.places import (
    CONFIG_VARIABLE,
    USERS_FILE,
    SettingsError,
    config_file,
    expanded,
    may_be_entered,
    toml_of,
    users_file,
)
from mdvec.settings.sections import Settings

Fields = dict[str, FieldInfo]
_OTHER_NAMES: dict[str, dict[str, str]] = {
    "index.hnsw": {
        f"{prefix}{name}": key
        for prefix in ("", "hnsw_", "hnsw:")
        for name, key in (
            ("space", "space"), ("construction_ef", "ef_construction"),
            ("search_ef", "ef_search"), ("M", "max_neighbors"),
        )
    }
}  # fmt: skip
"""Older names of keys, by section: Chroma used them before version 1."""
_PREFIX = "MDVEC_"
_MAX_NAME = 80
_PATHS = (
    ("database", "path"),
    ("charts", "font_path"),
    ("analytics", "folder"),
    ("log", "file"),
    ("server", "token_file"),
)
"""The settings that are paths; in the file they are relative to its folder."""
Layer = Mapping[str, Mapping[str, Any]]
"""Values by section and key, from one origin."""
Origins = Mapping[tuple[str, str], str]
"""The origin of each value that is not a default, by section and key."""
_FLAGS = "command line"


def _sections(model: type[BaseModel], within: str = "") -> Iterator[tuple[str, Fields]]:
    """The sections of the settings file and their keys; nested sections have dotted names."""
    for name, setting in model.model_fields.items():
        section = setting.annotation
        if isinstance(section, type) and issubclass(section, SettingsSection):
            nested = dict(_sections(section, f"{within}{name}."))
            fields = section.model_fields.items()
            inner = {key.rpartition(".")[2] for key in nested}
            yield within + name, {key: key_field for key, key_field in fields if key not in inner}
            yield from nested.items()


KNOWN: dict[str, Fields] = dict(_sections(Settings))
"""The fields of every section, by section and key."""
_NAMED = {
    f"{section}_{key}".replace(".", "_"): (section, key)
    for section, keys in KNOWN.items()
    for key in keys
}
"""The section and the key of every setting, by the variable's name without the prefix."""


def flat(read: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The sections, nested ones at the top level too, with every key under its present name."""
    sections: dict[str, dict[str, Any]] = {}
    for section, values in read.items():
        sections[section] = {}
        for key, value in values.items():
            inner = f"{section}.{key}"
            if inner in KNOWN and isinstance(value, dict):
                others = _OTHER_NAMES.get(inner, {})
                sections[inner] = {
                    others.get(name) or name: nested_value for name, nested_value in value.items()
                }
            else:
                sections[section][key] = value
    return sections


def nested(sections: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The reverse of ``flat``."""
    within: dict[str, dict[str, Any]] = {}
    for section, values in sections.items():
        outer, _, inner = section.partition(".")
        if not inner or section not in KNOWN:
            within.setdefault(section, {}).update(values)
        else:
            within.setdefault(outer, {})[inner] = dict(values)
    return within


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, the file they were read from, and where each value was set, if known."""

    settings: Settings
    file: Path | None = None
    origins: Origins = field(default_factory=dict)


class FlagRefused(SettingsError):
    """A command's flag has a value that is not allowed; ``setting`` is its section and key."""

    def __init__(self, setting: tuple[str, str], reason: str) -> None:
        super().__init__(f"command line: [{setting[0]}] {setting[1]} {reason}")
        self.place = setting
        self.reason = reason


def load_settings(
    environment: Mapping[str, str],
    *,
    config: Path | None = None,
    project_folder: Path | None = None,
    flags: Layer | None = None,
) -> Settings:
    """The settings, as ``load_with_origins`` loads them."""
    return load_with_origins(
        environment, config=config, project_folder=project_folder, flags=flags
    ).settings


def load_with_origins(
    environment: Mapping[str, str],
    *,
    config: Path | None = None,
    project_folder: Path | None = None,
    flags: Layer | None = None,
) -> Loaded:
    """Load the settings; flags override the environment, which overrides the file.

    The file is ``config``, else the one that ``MDVEC_CONFIG`` names, else ``mdvec.toml`` in
    ``project_folder`` (commands pass the working folder, the server passes none), else
    ``config.toml`` in the user's configuration folder. Flags that are None are ignored.

    Unknown variables are ignored; ``unknown_variables`` lists them.

    Raises:
        SettingsError: the file cannot be read, or a setting is unknown or not allowed.
    """
    path = config_file(environment, config, project_folder)
    of_file = _file_layer(path)
    if "convert" in of_file and path != config_file(environment, config, None):
        raise SettingsError(
            f"{path}: [convert] names programs to run, and a project's file may be another's; it "
            f"counts in your own settings only, {users_file()}, or in a file named with --config"
        )
    merged: dict[str, dict[str, Any]] = {}
    origins: dict[tuple[str, str], str] = {}
    layers = [
        (of_file, str(path)),
        (_environment_layer(environment), "environment"),
        (flags or {}, _FLAGS),
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
        settings = Settings.model_validate(nested(merged))
    except ValidationError as error:
        raise _settings_error(error, origins) from error
    return Loaded(
        settings, path, {setting: where for setting, where in origins.items() if setting[1]}
    )


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """A warning for each ``MDVEC_…`` variable that is not a setting, with the nearest name."""
    known = [name.upper() for name in _NAMED]
    return [
        f"environment: {name[:_MAX_NAME]} is not a setting of mdvec and is ignored"
        f"{_nearest(name.removeprefix(_PREFIX), known, _PREFIX, list_all=False)}"
        for name in _variables(environment)
        if _place_of(name) is None
    ]


def unread_settings(environment: Mapping[str, str], config: Path | None, folder: Path) -> list[str]:
    """A warning if ``folder`` may not be entered, or has a ``config.toml`` with mdvec's settings.

    Such a file is never read. Many projects have a file of that name, so there is a warning only if
    all of its tables are sections of mdvec and one of their keys is a setting.
    """
    if config is not None or environment.get(CONFIG_VARIABLE):
        return []
    if not may_be_entered(folder):
        return [f"the working folder {folder} may not be entered; settings in it are not read"]
    file = folder / USERS_FILE
    if not file.is_file():
        return []
    if followed(file) == followed(users_file()):
        return []
    try:
        tables = _sections_in(file)
    except SettingsError:
        return []
    if not tables.keys() <= KNOWN.keys() or not any(
        key in KNOWN[section] for section, values in tables.items() for key in values
    ):
        return []
    return [f"{file} has settings of mdvec and is not read; name it with --config {USERS_FILE}"]


def _sections_in(file: Path) -> dict[str, dict[str, Any]]:
    read = toml_of(file)
    for section, values in read.items():
        if not isinstance(values, dict):
            homes = (f"[{name}] {section} = …" for name in KNOWN if section in KNOWN[name])
            form = next(homes, "[section] key = value")
            raise SettingsError(
                f"{file}: {section!r} is outside a section; write settings as {form}"
            )
    return flat(read)


def _file_layer(path: Path | None) -> dict[str, dict[str, Any]]:
    if path is None:
        return {}
    read = _sections_in(path)
    for section, key in _PATHS:
        value = read.get(section, {}).get(key)
        if value and isinstance(value, str):
            if "\0" in value:
                raise SettingsError(
                    f"{path}: [{section}] {key} contains a NUL character; no path can"
                )
            read[section][key] = str(path.parent / expanded(value))
    return read


def _environment_layer(environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    layer: dict[str, dict[str, Any]] = {}
    for name, text in _variables(environment).items():
        if target := _place_of(name):
            section, key = target
            layer.setdefault(section, {})[key] = _from_text(KNOWN[section][key], text)
    for section, key in _PATHS:
        if path := layer.get(section, {}).get(key):
            layer[section][key] = str(expanded(path).absolute())
    return layer


def _variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that start like settings, with their values; empty ones are ignored."""
    return {
        name: text
        for name, text in environment.items()
        if name.startswith(_PREFIX) and name != CONFIG_VARIABLE and text
    }


def _place_of(variable: str) -> tuple[str, str] | None:
    return _NAMED.get(variable.removeprefix(_PREFIX).lower())


def _from_text(field: FieldInfo, text: str) -> object:
    """A variable's text, converted to the type that the settings file would have."""
    value: str | list[str] = text
    wanted: Any = field.annotation
    if any(get_origin(type_) is tuple for type_ in (wanted, *get_args(wanted))):
        value = [item.strip() for item in text.split(",") if item.strip()]
    try:
        return TypeAdapter(wanted).validate_python(value, strict=False)
    except ValidationError:
        return text  # ``Settings`` will refuse it and name its section and key


def _nearest(name: str, known: list[str], prefix: str = "", *, list_all: bool = True) -> str:
    if close := get_close_matches(name[:_MAX_NAME], known, n=1, cutoff=0.5):
        return f"; did you mean {prefix + close[0]!r}?"
    return f"; known names: {', '.join(known)}" if list_all else ""


def _place(location: tuple[int | str, ...]) -> tuple[str, str]:
    """The section and the key of a refused value; the key is "" for a whole section."""
    names = [str(name) for name in location]
    if ".".join(names[:2]) in KNOWN:
        names[:2] = [".".join(names[:2])]
    return names[0], names[1] if len(names) > 1 else ""


def _settings_error(
    error: ValidationError, origins: Mapping[tuple[str, str], str]
) -> SettingsError:
    first = error.errors()[0]
    section, key = _place(first["loc"])
    origin = origins.get((section, key)) or next(
        (origin for (known, _), origin in origins.items() if known == section), "settings"
    )
    if section not in KNOWN:
        return SettingsError(
            f"{origin}: there is no section [{section}]{_nearest(section, [*KNOWN])}"
        )
    if not key:
        return SettingsError(f"{origin}: {section} is a section; write its settings in [{section}]")
    if key not in KNOWN[section]:
        return SettingsError(
            f"{origin}: [{section}] has no setting {key!r}{_nearest(key, [*KNOWN[section]])}"
        )
    known = KNOWN[section][key]
    shown = "what it is" if known.repr is False else f"{first['input']!r:.200}"
    reason = f"cannot be {shown}; allowed: {allowed(known)}"
    if origin == _FLAGS:
        return FlagRefused((section, key), reason)
    return SettingsError(f"{origin}: [{section}] {key} {reason}")
