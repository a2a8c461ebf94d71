"""Reads, adds and removes an entry in a client's file; comments and layout stay."""

from __future__ import annotations

import json
import tomllib
from collections.abc import MutableMapping
from typing import Literal, cast

import tomlkit

from mdvec.errors import MdvecError
from mdvec.manage.clients import jsonc
from mdvec.manage.clients.clients import SERVER_NAME, Client, ClientEntry

EntryFormat = Literal["json", "toml"]


class FileNotUnderstood(MdvecError):
    """A client's file cannot be parsed or safely changed; it was not changed."""


def entry_in(client: Client, text: str) -> ClientEntry | None:
    """The entry of mdvec in the text of a client's file, or None.

    Raises:
        FileNotUnderstood: the text is not what the client's file should be.
    """
    return _servers(client, _parsed(client.format, text)).get(SERVER_NAME)


def with_entry(client: Client, text: str, entry: ClientEntry) -> str:
    """The text with mdvec's entry added or replaced.

    Raises:
        FileNotUnderstood: the text is not what the client's file should be.
    """
    before = _parsed(client.format, text)
    servers = {**_servers(client, before), SERVER_NAME: entry}
    path = (client.servers, SERVER_NAME)
    put = _put_toml if client.format == "toml" else _put_json
    return _verified(client, put(text, path, entry), {**before, client.servers: servers})


def without_entry(client: Client, text: str) -> str:
    """The text without mdvec's entry, which must be there.

    Raises:
        FileNotUnderstood: the text is not what the client's file should be.
    """
    before = _parsed(client.format, text)
    servers = {k: v for k, v in _servers(client, before).items() if k != SERVER_NAME}
    path = (client.servers, SERVER_NAME)
    changed = _drop_toml(text, path) if client.format == "toml" else jsonc.drop_member(text, path)
    return _verified(client, changed, {**before, client.servers: servers})


def snippet(client: Client, entry: ClientEntry) -> str:
    """The text of a file that contains only the entry."""
    path = (client.servers, SERVER_NAME)
    if client.format == "toml":
        return _put_toml("", path, entry)
    return json.dumps({path[0]: {path[1]: entry}}, ensure_ascii=False, indent=2) + "\n"


def _verified(client: Client, changed: str, expected: dict[str, object]) -> str:
    """``changed``, after checking that it has the expected content and nothing else."""
    content = _parsed(client.format, changed)
    if {**content, client.servers: _servers(client, content)} != expected:
        raise FileNotUnderstood("the entry cannot be changed without a risk for the rest")
    return changed


def _parsed(form: EntryFormat, text: str) -> dict[str, object]:
    try:
        content = tomllib.loads(text) if form == "toml" else jsonc.parse(text)
    except (ValueError, RecursionError) as error:
        raise FileNotUnderstood(f"it is not valid {form.upper()} ({error})") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise FileNotUnderstood("it is not an object with settings")
    return content


def _servers(client: Client, content: dict[str, object]) -> dict[str, ClientEntry]:
    servers = content.get(client.servers, {})
    if not isinstance(servers, dict):
        raise FileNotUnderstood(f"its {client.servers!r} is not an object with servers")
    return servers


def _put_json(text: str, path: tuple[str, str], entry: ClientEntry) -> str:
    """The text with the entry; members of a previous one that do not change keep their layout."""
    content = cast("dict[str, dict[str, object]]", jsonc.parse(text) or {})
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
        servers[path[1]] = tomlkit.table()
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
