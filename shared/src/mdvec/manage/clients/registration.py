"""Adds the server to a client's file, or removes it; keeps a backup of the file.

Functions that take a file raise NotRegistered if it cannot be read or written. Functions that take
its text raise FileNotUnderstood if it does not have the client's format.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PureWindowsPath
from typing import cast

import tomlkit
import tomlkit.items
from tomlkit.exceptions import TOMLKitError

from mdvec.errors import MdvecError, not_usable
from mdvec.manage.clients import jsonc
from mdvec.manage.clients.clients import SERVER_NAME, Client, ClientEntry, Machine, Server
from mdvec.platform import followed, replace

_PROGRAM_NAMES = ("mdvec-mcp", "mdvec_mcp", "mdvec_mcp.main")
_MARK = "\ufeff"
_EDIT_ERRORS = (TOMLKitError, ValueError, LookupError, TypeError, AttributeError)
"""What an editor raises over a layout that it cannot change."""
_KEYS_OF_A_PROGRAM = frozenset({"command", "args", "env", "env_vars", "envFile", "cwd"})
_KEYS_OF_A_URL = frozenset(
    {"url", "headers", "http_headers", "env_http_headers", "bearer_token_env_var"}
)
_EXCLUDED_BY: Mapping[str, frozenset[str]] = {
    "--connect": frozenset({
        "--database", "--docs-dir", "--data-dir", "--name", "--all-tools", "--http", "--allow-host",
    }),
    "--database": frozenset({"--connect", "--data-dir"}),
    "--docs-dir": frozenset({"--name"}),
}  # fmt: skip
"""By option: the other options that a new value of it excludes or makes meaningless."""

_Option = tuple[str, ...]
_MAX_BYTES = 100 * 2**20


@dataclass(frozen=True, slots=True)
class RenewedEntry:
    """A new entry for a client's file, and what it keeps and drops of the previous one."""

    entry: ClientEntry
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def renewed_entry(client: Client, server: Server, previous: object) -> RenewedEntry:
    """The server's entry, completed from the previous entry.

    Raises:
        EntryNotUnderstood: it is not known what the previous entry starts.
    """
    fresh = client.entry(server)
    if previous is None:
        return RenewedEntry(fresh)
    previous = _as_entry(previous)
    before = _options(_own_arguments(previous))
    set_anew = (fresh.keys() - client.extras.keys()) | {"command", "args"}
    others = {key: value for key, value in previous.items() if key not in set_anew}
    foreign = _KEYS_OF_A_PROGRAM if "url" in fresh else _KEYS_OF_A_URL
    if foreign & previous.keys():
        foreign |= {"type"}
    keys = {key: value for key, value in others.items() if key not in foreign}
    entry = {**fresh, **keys}
    options: list[_Option] = []
    if "args" in fresh:
        new, options = _merge_options(server, _options(client.arguments(server)), before)
        entry["args"] = [part for option in (*new, *options) for part in option]
    left = {_name(option) for option in _options(_own_arguments(entry))}
    own = (key for key, value in keys.items() if value != fresh.get(key))
    kept_names = [*own, *map(_name, options)]
    dropped = [*(key for key in others if key in foreign - {"type"}),
               *(name for name in map(_name, before) if name not in left)]  # fmt: skip
    return RenewedEntry(entry, tuple(dict.fromkeys(kept_names)), tuple(dict.fromkeys(dropped)))


def _merge_options(
    server: Server, fresh: list[_Option], previous: list[_Option]
) -> tuple[list[_Option], list[_Option]]:
    """The new options, and the previous ones that remain valid with them.

    A previous --data-dir is kept instead of --database, unless the user chose a database.
    """
    if not server.is_database_chosen and "--data-dir" in map(_name, previous):
        fresh = [option for option in fresh if _name(option) != "--database"]
    excluded = [_EXCLUDED_BY.get(_name(new), ()) for new in fresh if new not in previous]
    names = {_name(option) for option in fresh}.union(*excluded)
    return fresh, [option for option in previous if _name(option) not in names]


def _own_arguments(entry: ClientEntry) -> list[str]:
    """The arguments of mdvec-mcp itself, without those of a launcher such as uvx.

    Raises:
        EntryNotUnderstood: they cannot be found, and an option such as --read-only must not get
            lost.
    """
    arguments = entry.get("args", [])
    if not isinstance(arguments, list):
        raise EntryNotUnderstood
    line = [str(entry.get("command", "")), *map(str, arguments)]
    # A Windows path accepts both separators, so this works for paths of any system.
    programs = (PureWindowsPath(part).name.lower().removesuffix(".exe") for part in line)
    starts = [at for at, program in enumerate(programs) if program in _PROGRAM_NAMES]
    if not starts and any(line):
        raise EntryNotUnderstood
    return line[starts[-1] + 1 :] if starts else []


def _options(arguments: list[str]) -> list[_Option]:
    """Each option with its values."""
    options: list[_Option] = []
    for argument in arguments:
        if argument.startswith("-"):
            options.append((argument,))
        elif options:
            options[-1] += (argument,)
    return options


def _name(option: _Option) -> str:
    return option[0].partition("=")[0]


class NotRegistered(MdvecError):
    """A client's file was not changed; the message says why and what to do by hand."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """The result of changing a client's file; ``changed`` is False if there was nothing to do.

    ``backup`` is a copy of the old file, if there was one; ``kept`` and ``dropped`` are those of
    ``RenewedEntry``.
    """

    file: Path
    changed: bool
    backup: Path | None = None
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def register(client: Client, machine: Machine, server: Server, now: datetime) -> FileChange:
    """Add the server's entry to the client's file, unless the file has it.

    Additions of the user to a previous entry are kept.
    """
    file = client.file(machine)
    text = _text(file) or ""
    try:
        previous = entry_in(client, text)
        renewed = renewed_entry(client, server, previous)
        if previous == renewed.entry:
            return FileChange(file, changed=False, kept=renewed.kept)
        changed = with_entry(client, text, renewed.entry)
    except FileNotUnderstood as error:
        what_to_do = "" if isinstance(error, EntryNotUnderstood) else "; add the entry by hand"
        raise NotRegistered(f"{file} was left as it is: {error}{what_to_do}") from error
    backup = _write(file, changed, now)
    return FileChange(file, changed=True, backup=backup, kept=renewed.kept, dropped=renewed.dropped)


def unregister(client: Client, machine: Machine, now: datetime) -> FileChange:
    """Remove the server's entry from the client's file, if it is there."""
    file = client.file(machine)
    text = _text(file) or ""
    try:
        if entry_in(client, text) is None:
            return FileChange(file, changed=False)
        changed = without_entry(client, text)
    except FileNotUnderstood as error:
        raise NotRegistered(
            f"{file} was left as it is: {error}; remove the entry by hand"
        ) from error
    return FileChange(file, changed=True, backup=_write(file, changed, now))


def registered_entry(client: Client, machine: Machine) -> dict[str, object] | None:
    """The entry of mdvec in the client's file, or None."""
    file = client.file(machine)
    try:
        entry = entry_in(client, _text(file) or "")
        return None if entry is None else _as_entry(entry)
    except FileNotUnderstood as error:
        raise NotRegistered(f"{file} cannot be understood: {error}") from error


def _form(text: str) -> tuple[str, str]:
    """The byte order mark that a text begins with, if any, and its line ends."""
    is_windows = 0 < text.count("\n") == text.count("\r\n")
    return _MARK * text.startswith(_MARK), "\r\n" if is_windows else "\n"


def _text(file: Path) -> str | None:
    """The text of a file without byte order mark and with LF; None if there is no file."""
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise NotRegistered(f"{file} is too large to be a client's settings")
        text = file.read_bytes().decode("utf-8")
        mark, ends = _form(text)
        return text.removeprefix(mark).replace(ends, "\n")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise NotRegistered(f"{file} is not UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise NotRegistered(not_usable(file, error)) from error


def _write(file: Path, text: str, now: datetime) -> Path | None:
    """Replace a file atomically, keeping its mode and a backup; a symbolic link stays a link."""
    target = followed(file)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        backup = _backup(target, now)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        written = Path(name)
        mark, ends = _form(target.read_bytes().decode("utf-8") if target.exists() else "")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write((mark + text.replace("\n", ends)).encode("utf-8"))
            if backup is not None:
                shutil.copymode(target, written)
            replace(written, target)
        finally:
            written.unlink(missing_ok=True)
    except OSError as error:
        raise NotRegistered(not_usable(file, error)) from error
    return backup


def _backup(file: Path, now: datetime) -> Path | None:
    """Copy a file to an unused name next to it; None if there is no file."""
    if not file.exists():
        return None
    stem = f"{file.name}.before-mdvec-{now:%Y%m%d-%H%M%S}"
    number = 0
    while (backup := file.with_name(f"{stem}-{number}" if number else stem)).exists():
        number += 1
    shutil.copy2(file, backup)
    return backup


class FileNotUnderstood(MdvecError):
    """A client's file cannot be parsed or safely changed; it was not changed."""


class EntryNotUnderstood(FileNotUnderstood):
    """mdvec's entry in the file has an unknown form; the message says what to do about it."""

    def __init__(self) -> None:
        super().__init__(
            "its entry for mdvec does not start mdvec-mcp with a list of arguments, so it is not "
            "known what to keep of it; remove it with mdvec unregister, and register again"
        )


def entry_in(client: Client, text: str) -> object:
    """The entry of mdvec in the text of a client's file, or None."""
    return _servers(client, _parsed_file(client, text)).get(SERVER_NAME)


def with_entry(client: Client, text: str, entry: ClientEntry) -> str:
    """The text with mdvec's entry added or replaced."""
    put = _put_toml if client.format == "toml" else _put_json
    return _verified(client, text, lambda path: put(text, path, entry), {SERVER_NAME: entry})


def without_entry(client: Client, text: str) -> str:
    """The text without mdvec's entry, which must be there."""
    drop = _drop_toml if client.format == "toml" else jsonc.drop_member
    return _verified(client, text, lambda path: drop(text, path), {})


def snippet(client: Client, entry: ClientEntry) -> str:
    """The text of a file that contains only the entry."""
    path = (client.servers, SERVER_NAME)
    if client.format == "toml":
        return _put_toml("", path, entry)
    return json.dumps({path[0]: {path[1]: entry}}, ensure_ascii=False, indent=2) + "\n"


def _verified(
    client: Client,
    text: str,
    change: Callable[[tuple[str, str]], str],
    wanted: Mapping[str, ClientEntry],
) -> str:
    """The text after a change of mdvec's path, if it has the ``wanted`` entry and all others."""
    before = _parsed_file(client, text)
    others = {k: v for k, v in _servers(client, before).items() if k != SERVER_NAME}
    expected = {**before, client.servers: {**others, **wanted}}
    with suppress(*_EDIT_ERRORS, FileNotUnderstood):
        changed = change((client.servers, SERVER_NAME))
        content = _parsed_file(client, changed)
        if {**content, client.servers: _servers(client, content)} == expected:
            return changed
    raise FileNotUnderstood("the entry cannot be changed without a risk for the rest")


def _parsed_file(client: Client, text: str) -> dict[str, object]:
    try:
        content = tomllib.loads(text) if client.format == "toml" else jsonc.parse(text)
    except (ValueError, RecursionError) as error:
        raise FileNotUnderstood(f"it is not valid {client.format.upper()} ({error})") from error
    if not isinstance(content, dict):
        raise FileNotUnderstood("it is not an object with settings")
    return content


def _as_entry(entry: object) -> ClientEntry:
    if not isinstance(entry, dict):
        raise EntryNotUnderstood
    return entry


def _servers(client: Client, content: dict[str, object]) -> dict[str, object]:
    servers = content.get(client.servers, {})
    if not isinstance(servers, dict):
        raise FileNotUnderstood(f"its {client.servers!r} is not an object with servers")
    return servers


def _put_json(text: str, path: tuple[str, str], entry: ClientEntry) -> str:
    """The text with the entry; members of a previous one that do not change keep their layout."""
    content = cast("dict[str, dict[str, object]]", jsonc.parse(text))
    previous = content.get(path[0], {}).get(path[1])
    if not isinstance(previous, dict):
        return jsonc.put_member(text, path, entry)
    for key in previous.keys() - entry.keys():
        text = jsonc.drop_member(text, (*path, key))
    for key, value in entry.items():
        if key not in previous or previous[key] != value:
            text = jsonc.put_member(text, (*path, key), value)
    return text


def _put_toml(text: str, path: tuple[str, str], entry: ClientEntry) -> str:
    document = tomlkit.parse(text)
    if path[0] not in document:
        document[path[0]] = tomlkit.table(is_super_table=True)
    servers = cast("MutableMapping[str, object]", document[path[0]])
    if not isinstance(servers.get(path[1]), MutableMapping):
        inline = isinstance(servers, tomlkit.items.InlineTable)
        servers[path[1]] = tomlkit.inline_table() if inline else tomlkit.table()
    table = cast("MutableMapping[str, object]", servers[path[1]])
    for key in table.keys() - entry.keys():
        del table[key]
    for key, value in entry.items():
        if key not in table or table[key] != value:
            table[key] = value
    return tomlkit.dumps(document)


def _drop_toml(text: str, path: tuple[str, str]) -> str:
    document = tomlkit.parse(text)
    servers = cast("MutableMapping[str, object]", document[path[0]])
    del servers[path[1]]
    return tomlkit.dumps(document)
