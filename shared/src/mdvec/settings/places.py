"""Finds the settings file, and reads the display language from it before all other settings.

It does not load the modules of the other settings, so that ``mdvec --help`` stays quick.
"""

from __future__ import annotations

import locale
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import platformdirs

from mdvec.errors import MdvecError

APP = "mdvec"
"""The name of the user's folders."""
_PROJECT_FILE = "mdvec.toml"
USERS_FILE = "config.toml"
CONFIG_VARIABLE = "MDVEC_CONFIG"


class SettingsError(MdvecError):
    """A setting is invalid; the message says where it is set and what is allowed."""


def users_file() -> Path:
    """The user's settings file, which may be missing."""
    return platformdirs.user_config_path(APP, appauthor=False) / USERS_FILE


def config_file(
    environment: Mapping[str, str], config: Path | None, project_folder: Path | None
) -> Path | None:
    """The settings file: ``config``, else the one in the environment, the project's, or the user's.

    Raises:
        SettingsError: a named file does not exist.
    """
    named = config or environment.get(CONFIG_VARIABLE)
    if named:
        if not _is_file(expanded(named)):
            raise SettingsError(
                f"there is no settings file {named}; check --config or MDVEC_CONFIG"
            )
        return expanded(named).absolute()
    candidates = [users_file()]
    if project_folder is not None and may_be_entered(project_folder):
        candidates.insert(0, project_folder / _PROJECT_FILE)
    return next((path.absolute() for path in candidates if _is_file(path)), None)


def may_be_entered(folder: Path) -> bool:
    """Whether this user may open the files in a folder.

    With ``sudo -u`` the working folder may be another user's.
    """
    return os.access(folder, os.X_OK)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # the folder may not be entered, or the name is too long
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> SettingsError:
    return SettingsError(f"{path} cannot be read ({error.strerror})")


def expanded(path: str | Path) -> Path:
    """Expand ``~`` and ``~user``; an unknown user's path stays unchanged."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises there


def display_language(
    environment: Mapping[str, str], project_folder: Path, config: Path | None = None
) -> Literal["ja", "en"]:
    """The language of commands' output: the configured one, else the system's.

    A file that is unreadable or names another language is ignored here; loading the settings
    reports it.
    """
    chosen = environment.get("MDVEC_DISPLAY_LANGUAGE") or _of_file(
        environment, config, project_folder
    )
    if chosen in ("ja", "en"):
        return "ja" if chosen == "ja" else "en"
    names = (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    system = next(filter(None, names), None) or locale.getlocale()[0] or ""
    return "ja" if system.lower().startswith("ja") else "en"


def _of_file(environment: Mapping[str, str], config: Path | None, project_folder: Path) -> object:
    try:
        file = config_file(environment, config, project_folder)
        display = None if file is None else toml_of(file).get("display")
    except SettingsError:
        return None
    return display.get("language") if isinstance(display, dict) else None


def toml_of(path: Path) -> dict[str, Any]:
    """The content of a settings file.

    Raises:
        SettingsError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}; correct it there") from error
    except OSError as error:
        raise _unreadable(path, error) from error
