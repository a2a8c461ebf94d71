"""`mdvec register`, `unregister` and `rules`: other programs' files, changed with care."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
SERVER = str(Path(sys.executable).with_name("mdvec-mcp"))
FILES = {
    "claude-desktop": "config/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": "config/Code/User/mcp.json",
    "copilot-cli": ".copilot/mcp-config.json",
    "codex": ".codex/config.toml",
}


def test_every_client_is_registered_once_and_removed_again(mdvec):
    for client, path in FILES.items():
        file = mdvec.home / path
        first, again = mdvec.each(f"register {client}", f"register {client}")
        assert (first.code, again.code) == (0, 0), first.err
        assert again.err == f"mdvec is registered already in {file}\n"
        text = file.read_text()
        content = tomllib.loads(text) if client == "codex" else json.loads(text)
        ((_, servers),) = content.items()
        entry = servers["mdvec"]
        assert (entry["command"], entry["args"]) == (SERVER, ["--database", str(mdvec.database)])
        assert mdvec("register", client, "--print").out.strip() == text.strip()
        removed, none = mdvec.each(f"unregister {client}", f"unregister {client}")
        assert removed.err.startswith("removed from ")
        assert none.err == f"mdvec is not registered in {file}\n"
        kept = list(file.parent.glob(f"{file.name}.before-mdvec-*"))
        assert [one.read_text() for one in kept] == [text]


def test_a_file_that_cannot_be_read_stays_and_the_entry_is_printed(mdvec):
    file = mdvec.home / FILES["cursor"]
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"a": ')
    done = mdvec("register", "cursor")
    assert done.code == 1
    assert done.json["mcpServers"]["mdvec"]["command"] == SERVER
    assert done.err.startswith(f"error: {file} was left as it is: it is not valid JSON (")
    assert done.err.endswith("; add the entry by hand\n")
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]
    assert file.read_text() == '{"mcpServers": {"a": '


def test_an_odd_entry_stays_with_one_instruction_until_it_is_removed(mdvec):
    file = mdvec.home / FILES["cursor"]
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"mdvec": "x"}}')
    english = mdvec("register", "cursor")
    mdvec.environment["MDVEC_DISPLAY_LANGUAGE"] = "ja"
    japanese = mdvec("register", "cursor")
    assert english.err.endswith("; remove it with mdvec unregister, and register again\n")
    assert japanese.err.endswith("mdvec unregister で消してから、登録し直してください\n")
    assert (english.code, file.read_text()) == (1, '{"mcpServers": {"mdvec": "x"}}')
    examined = mdvec("doctor").out
    assert f"warning  clients: {file} を読み取れません: " in examined
    assert "ok       server: 検索できる文書がありません" in examined
    assert "what it contains" not in examined
    assert mdvec("unregister", "cursor").code == 0
    assert json.loads(file.read_text()) == {"mcpServers": {}}


@pytest.mark.parametrize("encoding", ["cp932", "utf-16"])
def test_a_file_that_is_not_utf_8_is_told_to_be_saved_as_that(mdvec, encoding):
    for path, command in {
        mdvec.work / "own.toml": "status --config own.toml",
        mdvec.home / FILES["cursor"]: "register cursor",
        mdvec.work / "CLAUDE.md": "rules install",
    }.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes("# 設定\n".encode(encoding))
        done = mdvec(*command.split())
        assert done.err == f"error: {path} is not UTF-8; save it as UTF-8\n"


def test_a_place_that_cannot_be_used_is_named_with_what_to_check(mdvec):
    for path, command in {
        mdvec.home / FILES["cursor"]: "register cursor",
        mdvec.work / "CLAUDE.md": "rules install",
    }.items():
        path.mkdir(parents=True)
        assert mdvec(*command.split()).err == (
            f"error: {path} cannot be used (Is a directory); check the path, and your rights and "
            "the space left there\n"
        )


def test_a_link_keeps_its_target_and_a_file_its_mode_and_a_copy(mdvec):
    file = mdvec.home / FILES["claude-code"]
    real = mdvec.home / "dotfiles.json"
    real.write_text('{"numStartups": 3}\n')
    real.chmod(0o640)
    file.symlink_to(real)
    done = mdvec("register", "claude-code", "--http", "http://127.0.0.1:8765/mcp")
    assert done.code == 0
    assert file.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert json.loads(real.read_text()) == {
        "mcpServers": {
            "mdvec": {"type": "http", "url": "http://127.0.0.1:8765/mcp", "alwaysLoad": True}
        },
        "numStartups": 3,
    }
    (kept,) = mdvec.home.glob("dotfiles.json.before-mdvec-*")
    assert kept.read_text() == '{"numStartups": 3}\n'
    wrong = mdvec("register", "codex", "--http", "localhost:8765")
    assert (wrong.code, wrong.out) == (2, "")
    assert "Invalid value for '--http'" in wrong.err


def test_what_the_user_added_to_an_entry_stays_when_it_is_registered_again(mdvec):
    file = mdvec.home / FILES["claude-code"]
    args = ["--database", "/old.sqlite", "--docs-dir", "/my notes", "--name", "n", "--verbose"]
    own = {"env": {"MDVEC_LOG_LEVEL": "debug"}, "disabled": True, "alwaysAllow": ["search"]}
    before = {"type": "stdio", "command": "/old/mdvec-mcp", "args": args, **own}
    file.write_text(json.dumps({"mcpServers": {"mdvec": before}}))
    done, again = mdvec.each("register claude-code", "register claude-code")
    assert json.loads(file.read_text())["mcpServers"]["mdvec"] == {
        "type": "stdio", "command": SERVER,
        "args": ["--database", str(mdvec.database), *args[2:]], "alwaysLoad": True, **own,
    }  # fmt: skip
    kept = (
        "kept from the previous entry: env, disabled, alwaysAllow, --docs-dir, --name, --verbose "
        "(to start anew: mdvec unregister claude-code)\n"
    )
    assert kept in done.err
    assert again.err == f"mdvec is registered already in {file}\n{kept}"  # it serves one folder
    over_http = mdvec("register", "claude-code", "--http", "http://127.0.0.1:8765/mcp")
    assert json.loads(file.read_text())["mcpServers"]["mdvec"] == {
        "type": "http", "url": "http://127.0.0.1:8765/mcp", "disabled": True,
        "alwaysAllow": ["search"], "alwaysLoad": True,
    }  # fmt: skip
    assert "not kept, as it does not go with this entry: env, --database, --docs-dir" in (
        over_http.err
    )


def test_a_folder_is_registered_with_its_absolute_path(mdvec):
    mdvec.write("a.md", "# Water\n\nThree litres a day.\n")
    done = mdvec("register", "cursor", "--docs-dir", "docs")
    assert done.code == 0, done.err
    entry = json.loads((mdvec.home / FILES["cursor"]).read_text())["mcpServers"]["mdvec"]
    assert entry["args"] == [
        "--database", str(mdvec.database), "--docs-dir", str(mdvec.work / "docs"),
    ]  # fmt: skip
    missing, both = mdvec.each(
        "register cursor --docs-dir none",
        "register cursor --docs-dir docs --http http://127.0.0.1:8765/mcp",
    )
    assert (missing.code, both.code) == (2, 2)
    assert "there is no folder none" in missing.err
    assert "give one of the two" in both.err


def test_a_file_keeps_its_byte_order_mark_and_its_line_ends(mdvec):
    texts = {
        "cursor": '{\r\n  "mcpServers": {\r\n    "other": {}\r\n  }\r\n}\r\n',
        "codex": 'model = "m"\r\n\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
    }
    for client, text in texts.items():
        file = mdvec.home / FILES[client]
        file.parent.mkdir()
        file.write_bytes(text.encode("utf-8-sig"))
        assert mdvec("register", client).code == 0
        changed = file.read_bytes().decode()
        assert changed.startswith("\ufeff")
        assert changed.count("\n") == changed.count("\r\n")
        plain = changed.removeprefix("\ufeff")
        found = tomllib.loads(plain) if client == "codex" else json.loads(plain)
        (servers,) = (value for value in found.values() if isinstance(value, dict))
        assert servers["mdvec"]["command"] == SERVER
        assert mdvec("unregister", client).code == 0
        assert file.read_bytes().decode("utf-8-sig").rstrip() == text.rstrip()


def test_the_rules_are_installed_once_and_keep_the_existing_text(mdvec):
    file = mdvec.work / "CLAUDE.md"
    file.write_text("# 私の決まり\n\n日本語で答える。\n")
    first, again = mdvec.each("rules install", "rules install")
    assert (first.err, again.err) == (
        f"wrote the rules into {file}\n", f"{file} has the rules already\n"
    )  # fmt: skip
    text = file.read_text()
    assert text.startswith("# 私の決まり\n\n日本語で答える。\n\n<!-- mdvec rules: begin")
    assert "生の明細を会話に出さない" in text
    file.write_text(text.replace("生の明細", "古い決まり") + "\nあとの文。\n")
    mdvec("rules", "install")
    assert file.read_text() == text + "\nあとの文。\n"
    assert mdvec("rules", "uninstall").err == f"removed the rules from {file}\n"
    assert file.read_text() == "# 私の決まり\n\n日本語で答える。\n\nあとの文。\n"
    assert mdvec("rules", "uninstall").err == f"{file} has no rules of mdvec\n"
    file.write_text(text.partition("<!-- mdvec rules: end")[0])
    damaged = mdvec("rules", "install")
    assert (damaged.code, "are damaged" in damaged.err) == (1, True)


def test_the_rules_make_no_folder_and_leave_no_file_of_their_own(mdvec):
    refused = mdvec("rules", "install", "--path", "none/x.md")
    assert (refused.code, (mdvec.work / "none").exists()) == (1, False)
    assert refused.err == (
        f"error: there is no folder {mdvec.work / 'none'}; make it, or name another place\n"
    )
    mdvec("rules", "install", "--path", "x.md")
    file = mdvec.work / "x.md"
    assert mdvec("rules", "uninstall", "--path", "x.md").err == (
        f"removed the rules from {file}, and the file, as nothing else was in it\n"
    )
    assert not file.exists()


def test_the_script_for_ipython_limits_what_a_cell_prints(mdvec):
    script = mdvec.home / ".ipython/profile_default/startup/50-mdvec-output-guard.py"
    assert mdvec("rules", "install", "--ipython").err == f"wrote {script}\n"
    assert mdvec("rules", "install", "--ipython").err == f"{script} is there already\n"
    shell = subprocess.run(
        [sys.executable, "-m", "IPython", "--colors=nocolor", "-c", "print('x' * 200_000)"],
        env=mdvec.environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert shell.stdout.count("x") < 110_000
    assert "[mdvec] output trimmed" in shell.stdout + shell.stderr
    assert mdvec("rules", "uninstall", "--ipython").err == f"removed {script}\n"
    assert not script.exists()
    script.write_text("print('mine')\n")
    assert mdvec("rules", "uninstall", "--ipython").code == 1
    assert script.exists()


@pytest.mark.parametrize(
    ("command", "args", "level", "more"),
    [
        ("/nowhere/mdvec-mcp", [], "trouble", ""),
        (SERVER, ["--database", "/other"], "warning", ""),
        (SERVER, ["--docs-dir", "/moved/notes"], "trouble", " --docs-dir FOLDER"),
    ],
)
def test_the_doctor_looks_at_registered_entries(mdvec, command, args, level, more, monkeypatch):
    from mdvec.manage.doctor.installed import check_clients
    from mdvec.settings.loading import load_with_origins

    file = mdvec.home / FILES["cursor"]
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"mdvec": {"command": command, "args": args}}}))
    monkeypatch.setenv("HOME", str(mdvec.home))
    loaded = load_with_origins({}, flags={"database": {"path": str(mdvec.database)}})
    (found,) = check_clients(loaded)
    assert (found.level, found.command) == (
        level, f"mdvec register cursor --database {mdvec.database}{more}"
    )  # fmt: skip


def test_samples_are_written_once_and_say_what_is_next(mdvec):
    done, again = mdvec.each("samples try", "samples try")
    assert (done.code, again.code) == (0, 1)
    assert (mdvec.work / "try/notes/home/防災メモ.md").is_file()
    assert list((mdvec.work / "try").rglob(".*")) == []  # an import would tell of unread files
    assert len(list((mdvec.work / "try/household").glob("*.csv"))) > 20
    assert len(list((mdvec.work / "try/household-habits").glob("*.csv"))) > 12
    assert done.err.endswith(f'-d "sample notes" -s {mdvec.work}/try/notes\n')
    assert again.err == f"error: {mdvec.work}/try/notes exists already; choose another folder\n"


def test_the_demo_runs_every_step_in_a_folder_that_it_keeps(mdvec):
    # A setting of the user's, wrong or not, is left out.
    done = mdvec("demo", "kept", MDVEC_SEARCH_K="0")
    assert done.code == 0
    for page in ("README.md", "README.ja.md"):
        _, search = (ROOT / page).read_text(encoding="utf-8").split('備蓄する？" -k 1\n')
        assert search[: search.index("…")] in done.out
    assert "dev/git-worktree.md:5-19" in done.out
    assert "食費\t50550\n" in done.out
    assert done.err.count("\n$ mdvec ") == 7
    assert "error" not in done.err
    assert f"added notes: {mdvec.work}/kept/" in done.err
    assert f"mdvec ui --database {mdvec.work}/kept/demo.sqlite" in done.err
    assert not mdvec.database.exists()
    assert "notes\tyes\tmarkdown\t29" in mdvec("status", "--database", "kept/demo.sqlite").out


@pytest.mark.parametrize("own", ["samples", "config.toml", "demo.sqlite"])
def test_a_demo_is_refused_where_a_file_of_its_name_is(mdvec, own):
    mdvec.write(own, "the user's own")
    before = mdvec.files()
    done = mdvec("demo", "docs")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"error: {mdvec.docs}/{own} exists already; choose another folder\n"
    assert (mdvec.files(), (mdvec.docs / own).read_text()) == (before, "the user's own")


def test_serve_starts_the_server_of_a_folder_and_passes_options_on(mdvec):
    gone = mdvec.process("serve", "nowhere", MDVEC_DISPLAY_LANGUAGE="ja")
    assert gone.code == 1
    assert gone.err.startswith("mdvec-mcp: エラー: フォルダー nowhere がありません")
    wrong = mdvec.process("serve", "docs", "--tools", "x", MDVEC_DISPLAY_LANGUAGE="ja")
    assert wrong.err.startswith("mdvec-mcp: エラー: ")
    assert wrong.err.endswith("'all', 'core' のどれかです (mdvec-mcp --help)\n")
