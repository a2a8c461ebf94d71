"""What is installed and set: libraries, settings, clients."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from functools import reduce
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from operator import getitem
from pathlib import Path

import apsw

from mdvec.database import vector_extension_version
from mdvec.manage.clients.clients import CLIENTS, Client, ClientEntry, Machine
from mdvec.manage.clients.registration import NotRegistered, registered_entry
from mdvec.manage.doctor.findings import Finding, Installation

_DICTIONARY = ("sudachipy", "sudachidict_small")
_FONT_PACKAGE, _FONT_FILE = "matplotlib_fontja", "fonts/ipaexg.ttf"


def check_libraries(installation: Installation) -> Iterator[Finding]:
    """Check Python and the libraries."""
    yield Finding("ok", "python", f"Python {platform.python_version()} at {sys.executable}")
    yield _sqlite()
    yield Finding("ok", "sqlite-vec", f"sqlite-vec {vector_extension_version()}")
    yield _torch()
    yield _dictionary()
    yield _font(installation)


def _sqlite() -> Finding:
    library = f"SQLite {apsw.sqlitelibversion()}, driver apsw {apsw.apswversion()}"
    if "ENABLE_FTS5" in apsw.compile_options:
        return Finding("ok", "sqlite", library)
    return Finding(
        "trouble", "sqlite", f"{library} has no full-text search (FTS5)",
        "pip install --force-reinstall apsw",
    )  # fmt: skip


def _torch() -> Finding:
    try:
        return Finding("ok", "torch", f"torch {version('torch')}")
    except PackageNotFoundError:
        return Finding("ok", "torch", "torch is not installed; only the model plamo needs it")


def _dictionary() -> Finding:
    try:
        for name in _DICTIONARY:
            importlib.import_module(name)
    except ImportError as error:
        return Finding(
            "warning", "dictionary", f"the Japanese dictionary cannot be loaded ({error})",
            f"pip install {' '.join(_DICTIONARY)}",
        )  # fmt: skip
    return Finding("ok", "dictionary", f"SudachiPy {version(_DICTIONARY[0])} with its dictionary")


def _font(installation: Installation) -> Finding:
    """Check that charts have a font; only the server can tell whether it is Japanese."""
    chosen = installation.settings.charts.font_path
    if chosen is not None:
        if Path(chosen).is_file():
            return Finding("ok", "font", f"charts are drawn with {chosen}")
        return Finding(
            "trouble", "font", f"the font {chosen} in [charts] font_path does not exist",
            "remove [charts] font_path from the settings, or set it to a font that exists",
        )  # fmt: skip
    package = find_spec(_FONT_PACKAGE)
    origin = package.origin if package else None
    if origin is not None and (Path(origin).parent / _FONT_FILE).is_file():
        return Finding("ok", "font", "charts are drawn with the font that comes with mdvec")
    return Finding(
        "warning", "font", "charts have no Japanese font", "pip install matplotlib-fontja"
    )


def check_settings(installation: Installation) -> Iterator[Finding]:
    """List every setting that is not a default, with its origin, and check the log."""
    if installation.config is None:
        yield Finding("ok", "settings", "no settings file; what is not named here is a default")
    else:
        yield Finding("ok", "settings", f"the settings file is {installation.config}")
    values = installation.settings.model_dump(by_alias=True)
    for (section, key), origin in sorted(installation.origins.items()):
        value = reduce(getitem, section.split("."), values)[key]
        shown = f"[{section}] {key} = {value!r}, set by {origin}"
        yield Finding("ok", "settings", shown)
    analytics = installation.settings.analytics
    whose = "the system's" if analytics.time_zone is None else "as set"
    yield Finding("ok", "settings", f"the time zone of SQL is {analytics.zone}, {whose}")
    yield _log(installation.settings.log.options().file)


def _log(file: Path | None) -> Finding:
    if file is None:
        return Finding("ok", "log", "there is no log; [log] file names one")
    path = file if file.exists() else file.parent
    while not path.exists():
        path = path.parent
    if os.access(path, os.W_OK) and (path == file or path.is_dir()):
        return Finding("ok", "log", f"the log is {file}")
    return Finding(
        "warning", "log", f"the log {file} cannot be written", "name another file in [log] file"
    )


_CHECK = "clients"


def check_clients(installation: Installation) -> Iterator[Finding]:
    """Check that the clients with an entry for mdvec can start it, with this database."""
    machine = Machine(sys.platform, Path.home(), os.environ)
    is_registered = False
    for name, client in CLIENTS.items():
        try:
            entry = registered_entry(client, machine)
        except NotRegistered as error:
            yield Finding("warning", _CHECK, str(error))
            continue
        if entry is not None:
            is_registered = True
            yield _checked(name, client, entry, installation.database)
    if not is_registered:
        yield Finding("ok", _CHECK, "no client has an entry for mdvec yet; see: mdvec register -h")


def _checked(name: str, client: Client, entry: ClientEntry, database: Path) -> Finding:
    """The finding about one entry."""
    again = f"mdvec register {name} --database {database}"
    if "url" in entry:
        return Finding("ok", _CHECK, f"{client.title} asks the server at {entry['url']}")
    program = str(entry.get("command", ""))
    if shutil.which(program) is None:
        sentence = f"{client.title} starts {program!r}, which is not a program"
        return Finding("trouble", _CHECK, sentence, again)
    arguments = entry.get("args")
    options = [str(option) for option in arguments] if isinstance(arguments, list) else []
    for option, value in zip(options, options[1:], strict=False):
        if option == "--database" and Path(value) != database:
            sentence = f"{client.title} uses another database: {value}"
            return Finding("warning", _CHECK, sentence, again)
    return Finding("ok", _CHECK, f"{client.title} starts {program}")
