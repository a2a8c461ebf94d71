"""The plugin is whole, and every command of its skill runs on the samples."""

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from mdvec_cli.main import app
from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
SKILL = (ROOT / "tools" / "plugin" / "SKILL.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"```bash\n(.*?)```", SKILL, re.DOTALL)
    for line in block.strip().splitlines()
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory, kept_caches, samples):
    home = tmp_path_factory.mktemp("home")
    kept_caches(home)
    database = samples(home)
    homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(home))
    return {**homes, "MDVEC_DATABASE_PATH": str(database), "MDVEC_MODEL_NAME": "use"}


def test_the_skill_is_short_and_says_when_to_use_it():
    assert len(SKILL.splitlines()) < 100
    head = re.match(r"---\nname: mdvec\ndescription: (.+)\n---\n", SKILL)
    assert head
    assert len(head[1]) <= 1024
    assert {command.split()[1] for command in COMMANDS} >= {"search", "get", "query", "status"}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=pytest.mark.soak if "doctor" in command else ())
        for command in COMMANDS
    ],
)
def test_every_command_of_the_skill_runs(command, environment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, shlex.split(command)[1:], env=environment)
    fine = (0, 1) if "doctor" in command else (0,)  # a doctor's findings are its exit code
    assert done.exit_code in fine, done.output
    if "--format json" in command:
        assert json.loads(done.stdout)


@pytest.fixture(scope="module")
def make_plugin():
    spec = importlib.util.spec_from_file_location("make_plugin", ROOT / "tools/make_plugin.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def test_a_plugin_is_made_anew_over_an_earlier_one(tmp_path, make_plugin):
    folder = tmp_path / "dist" / "plugin"
    make_plugin(folder)
    file = folder / "mdvec" / ".mcp.json"
    whole = file.read_text(encoding="utf-8")
    file.write_text("{}", encoding="utf-8")
    make_plugin(folder)
    assert file.read_text(encoding="utf-8") == whole
    assert [path.name for path in folder.parent.iterdir()] == ["plugin"]


@pytest.mark.parametrize("own", ["notes.md", "mdvec/skills/other/SKILL.md"])
def test_a_folder_with_anything_else_is_refused_and_stays(tmp_path, make_plugin, own):
    folder = tmp_path / "plugin"
    make_plugin(folder)
    (folder / own).parent.mkdir(parents=True, exist_ok=True)
    (folder / own).write_text("mine", encoding="utf-8")
    with pytest.raises(SystemExit, match="name a folder that does not exist"):
        make_plugin(folder)
    assert (folder / own).read_text(encoding="utf-8") == "mine"


def test_a_link_to_a_folder_is_refused(tmp_path, make_plugin):
    (tmp_path / "mine").mkdir()
    (tmp_path / "plugin").symlink_to(tmp_path / "mine")
    with pytest.raises(SystemExit):
        make_plugin(tmp_path / "plugin")
    assert (tmp_path / "plugin").is_symlink()


def test_a_plugin_has_its_skill_its_server_and_a_marketplace(tmp_path):
    program = ROOT / "tools" / "make_plugin.py"
    subprocess.run([sys.executable, program, tmp_path / "plugin"], check=True)
    market = json.loads((tmp_path / "plugin" / ".claude-plugin" / "marketplace.json").read_text())
    (listed,) = market["plugins"]
    plugin = tmp_path / "plugin" / listed["source"]
    told = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text())
    assert told["name"] == listed["name"] == "mdvec"
    servers = json.loads((plugin / ".mcp.json").read_text())["mcpServers"]
    assert servers["mdvec"]["command"] == "mdvec-mcp"
    assert (plugin / "skills" / "mdvec" / "SKILL.md").read_text(encoding="utf-8") == SKILL
