"""Checks libraries, settings, clients, models, and the sources of tools."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial, reduce
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from operator import getitem
from pathlib import Path

import apsw

from mdvec.database import DatabaseError, open_database, vector_extension_version
from mdvec.embedding import CARDS, BackendOptions, catalog, endpoint_of, family_of
from mdvec.installation import this_installation
from mdvec.manage.clients.clients import CLIENTS, Client, ClientEntry, this_machine
from mdvec.manage.clients.registration import NotRegistered, registered_entry
from mdvec.manage.doctor.findings import Finding
from mdvec.manage.registering import list_tools
from mdvec.manage.service import option_value
from mdvec.manage.tool_import import model_notices, scan_notices
from mdvec.settings import Loaded, expanded
from mdvec.tools import (
    KINDS,
    Tool,
    command_to_finish,
    is_being_imported,
    registry,
    reserved_names_taken,
    still_to_come,
)

_DICTIONARY = ("sudachipy", "sudachidict_small")
_FONT_PACKAGE, _FONT_FILE = "matplotlib_fontja", "fonts/ipaexg.ttf"


def check_libraries(installation: Loaded) -> Iterator[Finding]:
    """Check Python and the libraries."""
    checks: dict[str, Callable[[], Finding]] = {
        "python": lambda: Finding("ok", f"Python {platform.python_version()} at {sys.executable}"),
        "sqlite": _sqlite,
        "sqlite-vec": lambda: Finding("ok", f"sqlite-vec {vector_extension_version()}"),
        "torch": _torch,
        "dictionary": _dictionary,
        "font": partial(_font, installation.settings.charts.font_path),
    }
    for check, find in checks.items():
        yield replace(find(), check=check)


def _sqlite() -> Finding:
    library = f"SQLite {apsw.sqlitelibversion()}, driver apsw {apsw.apswversion()}"
    if "ENABLE_FTS5" in apsw.compile_options:
        return Finding("ok", library)
    remedy = this_installation().repairing("apsw")
    return Finding("trouble", f"{library} has no full-text search (FTS5)", remedy)


def _torch() -> Finding:
    try:
        return Finding("ok", f"torch {version('torch')}")
    except PackageNotFoundError:
        return Finding("ok", "torch is not installed; only the model plamo needs it")


def _dictionary() -> Finding:
    try:
        for name in _DICTIONARY:
            importlib.import_module(name)
    except ImportError as error:
        remedy = this_installation().repairing(" ".join(_DICTIONARY))
        return Finding("warning", f"the Japanese dictionary cannot be loaded ({error})", remedy)
    return Finding("ok", f"SudachiPy {version(_DICTIONARY[0])} with its dictionary")


def _font(chosen: str | None) -> Finding:
    """Check that charts have a font; only the server can tell whether it is Japanese."""
    if chosen is not None:
        if Path(chosen).is_file():
            return Finding("ok", f"charts are drawn with {chosen}")
        remedy = "remove [charts] font_path from the settings, or set it to a font that exists"
        return Finding("trouble", f"the font {chosen} in [charts] font_path does not exist", remedy)
    package = find_spec(_FONT_PACKAGE)
    origin = package.origin if package else None
    if origin is not None and (Path(origin).parent / _FONT_FILE).is_file():
        return Finding("ok", "charts are drawn with the font that comes with mdvec")
    remedy = this_installation().adding("matplotlib-fontja")
    return Finding("warning", "charts have no Japanese font", remedy)


def check_settings(installation: Loaded) -> Iterator[Finding]:
    """List every non-default setting with its origin, and check the log."""
    if installation.file is None:
        yield Finding("ok", "no settings file; what is not named here is a default")
    else:
        yield Finding("ok", f"the settings file is {installation.file}")
    values = installation.settings.model_dump(by_alias=True)
    for (section, key), origin in sorted(installation.origins.items()):
        value = reduce(getitem, section.split("."), values)[key]
        shown = f"[{section}] {key} = {value!r}, set by {origin}"
        yield Finding("ok", shown)
    analytics = installation.settings.analytics
    whose = "the system's" if analytics.time_zone is None else "as set"
    yield Finding("ok", f"the time zone of SQL is {analytics.zone}, {whose}")
    yield replace(_log(installation.settings.log.file), check="log")


def _log(named: str | None) -> Finding:
    if named is None:
        return Finding("ok", "there is no log; [log] file names one")
    file = Path(named)
    path = file if file.exists() else file.parent
    while not path.exists():
        path = path.parent
    if os.access(path, os.W_OK) and (path == file or path.is_dir()):
        return Finding("ok", f"the log is {file}")
    return Finding(
        "warning", f"the log {file} cannot be written", "name another file in [log] file"
    )


def check_clients(installation: Loaded) -> Iterator[Finding]:
    """Check that the clients with an entry for mdvec can start it, with this database."""
    machine = this_machine()
    is_registered = False
    for name, client in CLIENTS.items():
        try:
            entry = registered_entry(client, machine)
        except NotRegistered as error:
            yield Finding("warning", str(error))
            continue
        if entry is not None:
            is_registered = True
            yield _check_entry(name, client, entry, installation.settings.database_path)
    if not is_registered:
        sentence = "no client has an entry for mdvec yet; see: mdvec register -h"
        yield Finding("ok", sentence)


def _check_entry(name: str, client: Client, entry: ClientEntry, database: Path) -> Finding:
    """The finding about one entry."""
    again = f"mdvec register {name} --database {database}"
    if "url" in entry:
        return Finding("ok", f"{client.title} asks the server at {entry['url']}")
    program = str(entry.get("command", ""))
    if shutil.which(program) is None:
        sentence = f"{client.title} starts {program!r}, which is not a program"
        return Finding("trouble", sentence, again)
    arguments = entry.get("args")
    options = [str(option) for option in arguments] if isinstance(arguments, list) else []
    chosen = option_value(options, "--database")
    if chosen is not None and Path(chosen) != database:
        return Finding("warning", f"{client.title} uses another database: {chosen}", again)
    folder = expanded(option_value(options, "--docs-dir") or "")
    # Only the client knows where another path begins, such as ${userHome}/notes.
    if folder.is_absolute() and not folder.is_dir():
        sentence = f"{client.title} starts a server for the folder {folder}, which does not exist"
        return Finding("trouble", sentence, f"{again} --docs-dir FOLDER")
    return Finding("ok", f"{client.title} starts {program}")


def check_models(installation: Loaded) -> Iterator[Finding]:
    """Check that the models of tools and settings, and the reranker, are installed; loads none."""
    needed = _needed_models(installation)
    for card in CARDS.values():
        lack = catalog.missing(card)
        if lack is None:
            yield Finding("ok", f"{card.name} is here")
        elif card.name in needed:
            sentence = f"{card.name} is missing ({lack}); {needed[card.name]}"
            yield Finding("trouble", sentence, card.how_to_get)
        elif card.onnx is None:  # ONNX models are too many to list
            yield Finding("ok", f"{card.name} is not here ({lack}); nothing needs it")
    yield from _of_reranker(installation)
    options = installation.settings.model.options()
    for name in sorted(needed.keys() - CARDS.keys()):
        if family_of(name) is not None:
            yield _of_own(name, needed[name], options)
            continue
        sentence = f"this version has no model {name}; {needed[name]}"
        yield Finding("trouble", sentence, "mdvec import -n NAME --mode replace --model auto")


def _of_own(name: str, reason: str, options: BackendOptions) -> Finding:
    """The finding about a user's own model; nothing is sent to its endpoint."""
    card = catalog.card_named(name, options)
    if lack := catalog.missing(card, options):
        return Finding("trouble", f"{name}: {lack}; {reason}", card.how_to_get)
    endpoint = endpoint_of(name, options)
    if endpoint is None:
        return Finding("ok", f"{name} is here")
    return Finding(
        "ok",
        f"{name} sends texts and questions to {endpoint.host}; "
        f"mdvec model test {name} asks whether it answers",
    )  # fmt: skip


def _of_reranker(installation: Loaded) -> Iterator[Finding]:
    """The finding about the reranker of the settings, if there is one; it is not loaded."""
    reranker = installation.settings.reranker()
    if reranker is None:
        return
    if lack := reranker.missing():
        yield Finding(
            "trouble",
            f"the reranker {reranker.name}: {lack}; searches keep their usual order",
            f"mdvec model pull {reranker.name}, or another [search] reranker",
        )  # fmt: skip
    else:
        yield Finding("ok", f"the reranker {reranker.name} is here")


def _needed_models(installation: Loaded) -> dict[str, str]:
    """For each model, by name, what needs it."""
    needed = {}
    if installation.settings.model.name != catalog.AUTO:
        needed[installation.settings.model.name] = "[model] name asks for it"
    try:
        tools = list_tools(installation.settings.database_path, active_only=False)
    except DatabaseError:  # ``check_database`` reports it
        return needed
    for tool in tools:
        if tool.model is not None:
            needed[tool.model] = f"the tool {tool.name} was imported with it"
    return needed


def check_sources(installation: Loaded) -> Iterator[Finding]:
    """Check that each tool's source exists and its last import finished."""
    with open_database(installation.settings.database_path, "read") as connection:
        rows = registry.list_tools(connection)
        stopped = {tool.id: still_to_come(connection, tool) for tool in rows}
        commands = {tool.id: command_to_finish(connection, tool) for tool in rows}
    if not rows:
        remedy = 'mdvec tool add -n NAME -d "what it contains" -s FOLDER'
        yield Finding("warning", "there are no tools yet", remedy)
    for taken in reserved_names_taken([tool.name for tool in rows]):
        yield Finding("warning", taken)
    for tool in rows:
        yield _source(tool)
        for notice in model_notices(installation.settings, tool):
            yield Finding("ok", notice)
        for notice in scan_notices(installation.settings, tool):
            yield Finding("warning", notice)
        if is_being_imported(installation.settings.database_path, tool):
            yield Finding("ok", stopped[tool.id] or f"{tool.name} is being imported")
        elif (sentence := stopped[tool.id]) is not None:
            yield Finding("warning", sentence, commands[tool.id])
        elif tool.last_import_at is None:
            yield Finding(
                "warning", f"{tool.name} was never imported", f"mdvec import -n {tool.name}"
            )


def _source(tool: Tool) -> Finding:
    if tool.source.exists():
        return Finding("ok", f"{tool.name}: {tool.source} is there")
    has_texts = KINDS[tool.kind].has_texts
    effect = "searches find what was imported" if has_texts else "queries cannot read it"
    return Finding(
        "warning" if has_texts else "trouble",
        f"{tool.name}: {tool.source} does not exist; {effect}, imports fail",
        f"mdvec tool update -n {tool.name} -s FOLDER",
    )  # fmt: skip
