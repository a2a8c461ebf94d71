"""Decides what stays of an entry in a client's file when the server is registered again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from mdvec.manage.clients.clients import Client, ClientEntry, Server

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
    kept = [*keys, *map(_name, options)]
    dropped = [*(key for key in others if key in foreign - {"type"}),
               *(name for name in map(_name, before) if name not in left)]  # fmt: skip
    return RenewedEntry(entry, tuple(dict.fromkeys(kept)), tuple(dict.fromkeys(dropped)))


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
    found = entry.get("args")
    line = [str(entry.get("command", "")), *map(str, found if isinstance(found, list) else [])]
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
