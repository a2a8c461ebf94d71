"""What stays of an entry when the server is registered again."""

import tomllib

import pytest
from table_of_cases import each

from mdvec.manage.clients.clients import CLIENTS, Server
from mdvec.manage.clients.jsonc import parse
from mdvec.manage.clients.registration import FileNotUnderstood, renewed_entry, with_entry

PROGRAM = "/bin/mdvec-mcp"
LOCAL = Server(PROGRAM, ("--database", "/d"))
CHOSEN = Server(PROGRAM, ("--database", "/d"), is_database_chosen=True)
FOLDER = Server(PROGRAM, ("--database", "/d", "--docs-dir", "/n"))
SHARED = Server(PROGRAM, ("--database", "/d"), "http://127.0.0.1:8765/mcp")
BRIDGE = ["--connect", "http://127.0.0.1:8765/mcp"]


@each(
    ("server", "before", "after"),
    [
        (LOCAL, ["--database", "/old"], ["--database", "/d"]),
        (LOCAL, ["--database=/old", "--verbose"], ["--database", "/d", "--verbose"]),
        (LOCAL, ["--config", "/c", "--allow-host", "a", "--allow-host", "b"],
         ["--database", "/d", "--config", "/c", "--allow-host", "a", "--allow-host", "b"]),
        (LOCAL, ["--docs-dir", "/n", "--data-dir", "/x"], ["--docs-dir", "/n", "--data-dir", "/x"]),
        (CHOSEN, ["--docs-dir", "/n", "--data-dir", "/x"],
         ["--database", "/d", "--docs-dir", "/n"]),
        (SHARED, ["--docs-dir", "/n", "--log-level", "INFO"], [*BRIDGE, "--log-level", "INFO"]),
        (FOLDER, ["--docs-dir", "/n", "--name", "a"],
         ["--database", "/d", "--docs-dir", "/n", "--name", "a"]),
        (FOLDER, ["--docs-dir", "/other", "--name", "a", "--all-tools"],
         ["--database", "/d", "--docs-dir", "/n", "--all-tools"]),
        (FOLDER, ["--docs-dir", "/other", "--data-dir", "/x"],
         ["--docs-dir", "/n", "--data-dir", "/x"]),
        (FOLDER, BRIDGE, ["--database", "/d", "--docs-dir", "/n"]),
        (LOCAL, [*BRIDGE, "--token-file", "/t"], ["--database", "/d", "--token-file", "/t"]),
    ],
)  # fmt: skip
def test_options_that_are_not_set_anew_stay_unless_they_exclude_each_other(server, before, after):
    previous = {"command": "mdvec-mcp", "args": before}
    assert renewed_entry(CLIENTS["claude-desktop"], server, previous).entry["args"] == after


def test_only_the_options_of_mdvec_itself_are_taken_from_a_program_that_starts_it():
    previous = {"command": "uvx", "args": ["--from", "mdvec", "mdvec-mcp", "--docs-dir", "/n"]}
    renewed = renewed_entry(CLIENTS["cursor"], LOCAL, previous)
    assert renewed.entry == {
        "command": PROGRAM, "args": ["--database", "/d", "--docs-dir", "/n"],
    }  # fmt: skip
    windows = {"command": r"C:\py\Scripts\MDVEC-MCP.EXE", "args": ["--docs-dir", "C:\\n"]}
    assert renewed_entry(CLIENTS["cursor"], LOCAL, windows).kept == ("--docs-dir",)


@each(
    "previous",
    [
        {"command": "mdvec-mcp", "args": "--read-only"},
        {"command": "mdvec-mcp --read-only"},
        {"command": "wrapper.sh", "args": ["--read-only"]},
        {"args": {"--read-only": True}},
        "mdvec-mcp --read-only",
    ],
)
def test_an_entry_whose_options_cannot_be_told_is_refused_and_none_gets_lost(previous):
    with pytest.raises(FileNotUnderstood, match="remove it with mdvec unregister"):
        renewed_entry(CLIENTS["cursor"], LOCAL, previous)


def test_a_user_who_switched_loading_off_keeps_that():
    client = CLIENTS["claude-code"]
    assert client.entry(LOCAL)["alwaysLoad"] is True
    previous = {**client.entry(LOCAL), "alwaysLoad": False}
    renewed = renewed_entry(client, LOCAL, previous)
    assert (renewed.entry, renewed.kept) == (previous, ("alwaysLoad",))


def test_a_token_goes_with_its_url_and_a_token_is_not_named_with_its_value():
    previous = {
        "url": "http://old",
        "http_headers": {"Authorization": "Bearer secret"},
        "enabled": 1,
    }
    renewed = renewed_entry(CLIENTS["codex"], SHARED, previous)
    assert renewed.entry == {**previous, "url": SHARED.url}
    assert renewed.kept == ("http_headers", "enabled")
    local = renewed_entry(CLIENTS["codex"], LOCAL, previous)
    assert local.entry == {"command": PROGRAM, "args": ["--database", "/d"], "enabled": 1}
    assert local.dropped == ("url", "http_headers")


def test_what_does_not_change_keeps_its_layout_and_its_comments():
    text = """{"mcpServers": {"mdvec": {
  "command": "/bin/mdvec-mcp", // mine
  "env": {"A": "1"}, // why
  "args": []
}}}"""
    client = CLIENTS["cursor"]
    entry = renewed_entry(client, LOCAL, parse(text)["mcpServers"]["mdvec"]).entry
    assert with_entry(client, text, entry) == text.replace(
        "[]", '[\n    "--database",\n    "/d"\n  ]'
    )
    toml = """[mcp_servers.mdvec]
command = "/bin/mdvec-mcp"  # mine
args = []

[mcp_servers.mdvec.env]
A = "1"  # why
"""
    previous = tomllib.loads(toml)["mcp_servers"]["mdvec"]
    renewed = renewed_entry(CLIENTS["codex"], LOCAL, previous)
    changed = with_entry(CLIENTS["codex"], toml, renewed.entry)
    assert changed == toml.replace("[]", '["--database", "/d"]')
