"""Adds the server to a client's file, or removes it; keeps a backup of the file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath

from mdvec.errors import MdvecError
from mdvec.manage.clients.clients import Client, ClientEntry, Machine, Server
from mdvec.manage.clients.entries import FileNotUnderstood, entry_in, with_entry, without_entry

_PROGRAM_NAMES = ("mdvec-mcp", "mdvec_mcp", "mdvec_mcp.main")
_KEYS_OF_A_PROGRAM = frozenset({"command", "args", "env", "env_vars", "envFile", "cwd"})
_KEYS_OF_A_URL = frozenset({
    "url", "headers", "http_headers", "env_http_headers", "bearer_token_env_var",
})  # fmt: skip
_EXCLUDED_BY: Mapping[str, frozenset[str]] = {
    "--connect": frozenset({
        "--database", "--docs-dir", "--data-dir", "--name", "--all-tools", "--http", "--allow-host",
    }),
    "--database": frozenset({"--connect", "--data-dir"}),
}  # fmt: skip
"""The server's options that cannot stand, or mean nothing, beside another one."""

_Option = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenewedEntry:
    """An entry for a client's file, and what became of the previous one.

    Attributes:
        entry: what the file should contain.
        kept: the keys and options of the previous entry that stay.
        dropped: those that do not go with the new entry.
    """

    entry: ClientEntry
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def renewed_entry(client: Client, server: Server, previous: object) -> RenewedEntry:
    """The server's entry, with what it does not set itself taken from the previous entry."""
    fresh = client.entry(server)
    if not isinstance(previous, dict):
        return RenewedEntry(fresh)
    set_anew = (fresh.keys() - client.extras.keys()) | {"command", "args"}
    others = {key: value for key, value in previous.items() if key not in set_anew}
    foreign = _keys_of_the_other_transport(fresh, previous)
    keys = {key: value for key, value in others.items() if key not in foreign}
    entry = {**fresh, **keys}
    before = _options(_own_arguments(previous))
    options: list[_Option] = []
    if "args" in fresh:
        new, options = _merged(server, _options(client.arguments(server)), before)
        entry["args"] = [part for option in (*new, *options) for part in option]
    left = {_name(option) for option in _options(_own_arguments(entry))}
    kept_names = [*keys, *map(_name, options)]
    dropped = [*(key for key in others if key in foreign - {"type"}),
               *(name for name in map(_name, before) if name not in left)]  # fmt: skip
    return RenewedEntry(entry, tuple(dict.fromkeys(kept_names)), tuple(dict.fromkeys(dropped)))


def _keys_of_the_other_transport(fresh: ClientEntry, previous: ClientEntry) -> frozenset[str]:
    """The keys of an entry for a program if the new one is a URL, and the reverse."""
    foreign = _KEYS_OF_A_PROGRAM if "url" in fresh else _KEYS_OF_A_URL
    return foreign | {"type"} if foreign & previous.keys() else foreign


def _merged(
    server: Server, fresh: list[_Option], previous: list[_Option]
) -> tuple[list[_Option], list[_Option]]:
    """The options that are set anew, and those of the previous entry that go with them.

    A previous --data-dir stays, instead of --database, unless a database was asked for.
    """
    if not server.is_database_chosen and "--data-dir" in map(_name, previous):
        fresh = [option for option in fresh if _name(option) != "--database"]
    names = {_name(option) for option in fresh}
    names = names.union(*(_EXCLUDED_BY.get(name, ()) for name in names))
    return fresh, [option for option in previous if _name(option) not in names]


def _own_arguments(entry: ClientEntry) -> list[str]:
    """The arguments of mdvec-mcp itself, without those of a program that starts it, such as uvx."""
    arguments = entry.get("args")
    line = [
        str(entry.get("command", "")),
        *map(str, arguments if isinstance(arguments, list) else []),
    ]
    starts = [at for at, part in enumerate(line) if PurePath(part).name in _PROGRAM_NAMES]
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


_MAX_BYTES = 100 * 2**20


class NotRegistered(MdvecError):
    """A client's file was not changed; the message says why and what to do by hand."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """The result of changing a client's file.

    Attributes:
        file: the client's file.
        changed: False if there was nothing to do.
        backup: a copy of the file before the change; None if there was no file.
        kept: the keys and options of the previous entry that are in the new one.
        dropped: those that do not go with the new one.
    """

    file: Path
    changed: bool
    backup: Path | None = None
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def register(client: Client, machine: Machine, server: Server, now: datetime) -> FileChange:
    """Add the server's entry to the client's file, unless it is there already.

    What the user added to a previous entry stays.

    Raises:
        NotRegistered: the file cannot be read or written, or this is Windows.
    """
    file = client.file(machine)
    if machine.platform == "win32":
        raise NotRegistered(f"mdvec writes no files on Windows; add the entry to {file} by hand")
    text = _text(file) or ""
    try:
        previous = entry_in(client, text)
        renewed = renewed_entry(client, server, previous)
        if previous == renewed.entry:
            return FileChange(file, changed=False)
        changed = with_entry(client, text, renewed.entry)
    except FileNotUnderstood as error:
        raise NotRegistered(f"{file} was left as it is: {error}; add the entry by hand") from error
    backup = _write(file, changed, now)
    return FileChange(file, changed=True, backup=backup, kept=renewed.kept, dropped=renewed.dropped)


def unregister(client: Client, machine: Machine, now: datetime) -> FileChange:
    """Remove the server's entry from the client's file, if it is there.

    Raises:
        NotRegistered: the file cannot be read or written.
    """
    file = client.file(machine)
    text = _text(file)
    try:
        if text is None or entry_in(client, text) is None:
            return FileChange(file, changed=False)
        changed = without_entry(client, text)
    except FileNotUnderstood as error:
        raise NotRegistered(
            f"{file} was left as it is: {error}; remove the entry by hand"
        ) from error
    return FileChange(file, changed=True, backup=_write(file, changed, now))


def registered_entry(client: Client, machine: Machine) -> dict[str, object] | None:
    """The entry of mdvec in the client's file, or None.

    Raises:
        NotRegistered: the file cannot be read.
    """
    file = client.file(machine)
    text = _text(file)
    try:
        return None if text is None else entry_in(client, text)
    except FileNotUnderstood as error:
        raise NotRegistered(f"{file} cannot be understood: {error}") from error


def _text(file: Path) -> str | None:
    """The text of a file with its own line ends, without a byte order mark; None if there is none.

    No client needs the mark, so a file that is written again has none.
    """
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise NotRegistered(f"{file} is too large to be a client's settings")
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotRegistered(f"{file} cannot be read ({error})") from error


def _write(file: Path, text: str, now: datetime) -> Path | None:
    """Replace a file atomically, keeping its mode and a backup; a symbolic link stays a link."""
    target = file.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        backup = _backup(target, now)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        written = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode("utf-8"))
            if backup is not None:
                shutil.copymode(target, written)
            written.replace(target)
        finally:
            written.unlink(missing_ok=True)
    except OSError as error:
        raise NotRegistered(f"{file} cannot be written ({error.strerror})") from error
    return backup


def _backup(file: Path, now: datetime) -> Path | None:
    """Copy a file beside itself under an unused name; None if there is no file."""
    if not file.exists():
        return None
    stem = f"{file.name}.before-mdvec-{now:%Y%m%d-%H%M%S}"
    number = 0
    while (backup := file.with_name(f"{stem}-{number}" if number else stem)).exists():
        number += 1
    shutil.copy2(file, backup)
    return backup
