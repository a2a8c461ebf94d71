"""The entry of mdvec in the text of a client's file: the rest of the text stays as it is."""

import json
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.manage.clients.clients import CLIENTS, Server
from mdvec.manage.clients.jsonc import parse
from mdvec.manage.clients.registration import FileNotUnderstood, entry_in, with_entry, without_entry

CURSOR, CODEX, DESKTOP, VSCODE = (
    CLIENTS[name] for name in ("cursor", "codex", "claude-desktop", "vscode")
)
ENTRY = CURSOR.entry(Server("/bin/mdvec-mcp", ("--database", "/data/ノート.sqlite")))

COMMENTED = """{
  // my servers
  "mcpServers": {
    "other": {"command": "x", "args": ["// no comment", "/*"]}, // keep
  },
  "inputs": [1, 2,], /* and
  this */
}
"""
WITH_ENTRY = """{
  // my servers
  "mcpServers": {
    "mdvec": {
      "command": "/bin/mdvec-mcp",
      "args": [
        "--database",
        "/data/ノート.sqlite"
      ]
    },
    "other": {"command": "x", "args": ["// no comment", "/*"]}, // keep
  },
  "inputs": [1, 2,], /* and
  this */
}
"""


def test_comments_commas_and_layout_stay_and_removing_gives_the_text_of_before():
    assert with_entry(CURSOR, COMMENTED, ENTRY) == WITH_ENTRY
    assert without_entry(CURSOR, WITH_ENTRY) == COMMENTED


def test_an_old_entry_is_replaced_in_its_place():
    old = '{"mcpServers": {"a": {}, "mdvec": {"command": "old"}, "b": {}}, "x": 1}'
    new = with_entry(CURSOR, old, {"command": "new"})
    assert new == '{"mcpServers": {"a": {}, "mdvec": {"command": "new"}, "b": {}}, "x": 1}'


@each(
    "text", ["", "\n", "// mine", "/* mine */\n\n", "{}", "{ // nothing\n}", '{"mcpServers": {}}']
)
def test_a_file_without_servers_gets_the_entry(text):
    new = with_entry(CURSOR, text, ENTRY)
    assert parse(new) == {"mcpServers": {"mdvec": ENTRY}}
    assert ("mine" in new) == ("mine" in text)


@each(
    "text",
    [
        '{"a": 1', "[1]", '{"mcpServers": []}', '{"a": 1 "b": 2}', "'", "\ufeff{}", "null",
        "// a\nnull",
    ],
)  # fmt: skip
def test_a_text_that_is_no_such_file_is_refused(text):
    for change in (lambda: with_entry(CURSOR, text, ENTRY), lambda: entry_in(CURSOR, text)):
        with pytest.raises(FileNotUnderstood):
            change()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(
    st.dictionaries(st.text(), values, max_size=3),
    st.dictionaries(st.sampled_from(["mdvec", "a", "//", "}"]), st.just({"command": "c"})),
    st.sampled_from([None, 2, "\t"]),
    st.sampled_from(["", " // }\n", "/* , */"]),
)
def test_any_object_keeps_its_other_values(rest, servers, indent, comment):
    before = {**rest, "mcpServers": servers}
    text = json.dumps(before, indent=indent, ensure_ascii=False)
    text = comment + re.sub(r"\{\}$", "{}" + comment, text)
    after = with_entry(CURSOR, text, ENTRY)
    assert parse(after) == {**before, "mcpServers": {**servers, "mdvec": ENTRY}}
    gone = {name: value for name, value in servers.items() if name != "mdvec"}
    assert parse(without_entry(CURSOR, after)) == {**before, "mcpServers": gone}


TOML = """# mine
model = "m"  # keep

[mcp_servers.other]
command = "x"

[profiles.a]
model = "b"  # here too
"""


@each("servers", ["{}", '{other = {command = "x"}}', "{other.command = 'x'}"])
def test_servers_in_one_line_of_toml_get_the_entry_too(servers):
    before = f"mcp_servers = {servers}  # mine\n"
    after = with_entry(CODEX, before, ENTRY)
    known = tomllib.loads(before)["mcp_servers"]
    assert tomllib.loads(after) == {"mcp_servers": {**known, "mdvec": ENTRY}}
    assert after.endswith("  # mine\n")
    assert tomllib.loads(without_entry(CODEX, after)) == tomllib.loads(before)


def test_toml_keeps_its_comments():
    after = with_entry(CODEX, TOML, ENTRY)
    assert tomllib.loads(after)["mcp_servers"] == {"other": {"command": "x"}, "mdvec": ENTRY}
    assert [line for line in TOML.splitlines() if line not in after.splitlines()] == []
    assert tomllib.loads(without_entry(CODEX, after)) == tomllib.loads(TOML)
    alone = with_entry(CODEX, "", ENTRY)
    assert alone == (
        '[mcp_servers.mdvec]\ncommand = "/bin/mdvec-mcp"\n'
        'args = ["--database", "/data/ノート.sqlite"]\n'
    )
    assert tomllib.loads(without_entry(CODEX, alone)).get("mcp_servers", {}) == {}


def test_a_server_at_a_url_is_its_url_or_a_bridge_to_it():
    server = Server("/bin/mdvec-mcp", ("--database", "d"), "http://127.0.0.1:8765/mcp")
    assert CODEX.entry(server) == {"url": "http://127.0.0.1:8765/mcp"}
    assert VSCODE.entry(server) == {"type": "http", "url": "http://127.0.0.1:8765/mcp"}
    assert DESKTOP.entry(server) == {
        "command": "/bin/mdvec-mcp", "args": ["--connect", "http://127.0.0.1:8765/mcp"],
    }  # fmt: skip
