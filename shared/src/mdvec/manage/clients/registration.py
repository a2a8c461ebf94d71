"""Adds the server to a client's file, or removes it; keeps a backup of the file."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from mdvec.errors import MdvecError
from mdvec.manage.clients.clients import Client, Machine, Server
from mdvec.manage.clients.entries import FileNotUnderstood, entry_in, with_entry, without_entry
from mdvec.manage.clients.renewing import renewed_entry

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
