"""The help of every command, and the messages for a wrong command line."""

import re
from pathlib import Path

import typer
from table_of_cases import each

from mdvec_cli.commands.terminal import GivenPath
from mdvec_cli.main import app

SHARED = "--database --config --verbose -v --help -h"
OPTIONS = {
    "": "--version --install-completion --help -h tool import status model",
    "tool": "--help -h add update rename delete enable disable ls",
    "tool add": f"--name -n --description -d --source -s --kind {SHARED}",
    "tool update": f"--name -n --description -d --source -s --title {SHARED}",
    "tool rename": f"--name -n --to {SHARED}",
    "tool delete": f"--name -n -y --yes {SHARED}",
    "tool enable": f"--name -n {SHARED}",
    "tool disable": f"--name -n {SHARED}",
    "tool ls": f"--all --format {SHARED}",
    "import": (
        "--name -n --mode -m new replace update --model --chunk-strategy heading token "
        f"--chunk-size --chunk-overlap --format {SHARED}"
    ),
    "status": f"--name -n --all --format {SHARED}",
    "get": f"--name -n --from --to --format {SHARED}",
    "register": f"--http --print {SHARED}",
    "unregister": "--help -h",
    "rules install": "--path --ipython --help -h",
    "rules uninstall": "--path --ipython --help -h",
    "demo": "--help -h",
    "samples": "--help -h",
    "serve": "--help -h",
    "doctor": f"--fix --format {SHARED}",
    "model": "--help -h ls pull",
    "model ls": f"--format {SHARED}",
    "model pull": SHARED,
}


def test_the_help_of_every_command_names_every_option_short_and_long(mdvec):
    for command, done in zip(
        OPTIONS, mdvec.each(*(f"{command} --help" for command in OPTIONS)), strict=True
    ):
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"Usage: {f'mdvec {command}'.strip()} ")
        words = set(re.findall(r"[\w-]+", done.out))
        assert set(OPTIONS[command].split()) - words == set(), command
        if command == "import":
            assert "[default: new]" in " ".join(done.out.split())


VERSION_FIRST = """
import sys
from mdvec_cli.main import main
given, sys.argv = sys.argv, ["mdvec", "--version"]
try:
    main()
except SystemExit:
    sys.argv = given
"""


def test_help_and_version_load_no_slow_library(mdvec):
    done = mdvec.process("import", "-h", first=VERSION_FIRST, python=("-X", "importtime"))
    assert done.out.startswith("mdvec ")
    assert "\nUsage: mdvec import " in done.out
    loaded = {line.rpartition("|")[2].strip() for line in done.err.splitlines()}
    assert "mdvec_cli.main" in loaded
    heavy = {"numpy", "torch", "transformers", "apsw", "rich", "sentencepiece"}
    assert loaded & heavy == set()


def test_the_version_is_one_line(mdvec):
    from mdvec import __version__

    done = mdvec("--version")
    assert (done.code, done.out, done.err) == (0, f"mdvec {__version__}\n", "")


def test_a_command_alone_shows_its_help_and_fails_as_wrong_usage(mdvec):
    for done in mdvec.each("", "tool"):
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("Usage: mdvec")


WRONG = {
    "import": "error: Missing option '--name' / '-n'; see: mdvec import --help",
    "import -n a --mode merge": (
        "error: Invalid value for '--mode' / '-m': 'merge' is not one of "
        "'new', 'replace', 'update'; see: mdvec import --help"
    ),
    "import -n a --chunk-size many": (
        "error: Invalid value for '--chunk-size': it should be a valid integer; "
        "see: mdvec import --help"
    ),
    "tool add -n a -d d -s docs --kind tables": (
        "error: Invalid value for '--kind': 'tables' is not one of 'markdown', 'household', "
        "'dataset'; see: mdvec tool add --help"
    ),
    "tool update -n a": (
        "error: Invalid value for --description / --source: name what to change; "
        "see: mdvec tool update --help"
    ),
    "tool add -n Notes -d d -s docs": (
        "error: 'Notes' cannot be a tool's name: use 1 to 63 lower-case letters a-z, digits, "
        "'_' and '-', beginning with a letter or a digit"
    ),
    "tool add -n a -d d -s nowhere": (
        "error: there is no folder nowhere; name one that exists with --source"
    ),
    "model pull gpt": (
        "error: there is no model 'gpt'; choose one of: plamo, use, e5-small, ruri-v3-30m, … "
        "(mdvec model ls lists all), or auto, or your own: openai:<model>, gemini:<model>, "
        "st:<model or folder>, onnx:<model or folder>"
    ),
    "tool list": "error: No such command 'list'. Did you mean 'ls'?; see: mdvec tool --help",
    "import notes": (
        "error: Got unexpected extra argument(s) (notes): a tool is named with -n; "
        "see: mdvec import --help"
    ),
    "search notes 会議": (
        "error: Got unexpected extra argument(s) (会議): a tool is named with -n, and several "
        "words are given in quotes; see: mdvec search --help"
    ),
    "import -n": "error: Option '-n' requires an argument; see: mdvec import --help",
    "tool add -n": "error: Option '-n' requires an argument; see: mdvec tool add --help",
    "household expenses": (
        "error: Missing argument 'which'; choose one of: medical, furusato; "
        "see: mdvec household expenses --help"
    ),
    "tool ls notes": ("error: Got unexpected extra argument(s) (notes); see: mdvec tool ls --help"),
}


def test_wrong_usage_is_one_line_that_says_where_to_look_and_exit_code_2(mdvec):
    before = mdvec.files()
    for command, done in zip(WRONG, mdvec.each(*WRONG), strict=True):
        assert (done.code, done.out, done.err) == (2, "", f"{WRONG[command]}\n")
    assert mdvec.files() == before


@each(
    "command",
    [
        ["search\u3000水"],
        ["import", "notes\u3000--checksum"],
        ["import", "\u3000-n", "notes"],
        ["import", "−n", "notes"],
        ["import", "-n", "notes\u3000--checksum"],
        ["search", "水\u3000-n", "notes"],
        ["status", "notes\u3000"],
    ],
)
def test_a_space_or_dash_that_only_looks_plain_is_named_where_a_command_failed(notes, command):
    (word,) = (word for word in command if re.search("\u3000|−", word))
    error, note = notes(*command).err.splitlines()
    assert error.startswith("error: ")
    assert note == (
        f"note: '{word}' has a space or dash that is not the plain one; if that was not meant, "
        "type it anew"
    )
    assert notes(*command, MDVEC_DISPLAY_LANGUAGE="ja").err.splitlines()[1] == (
        f"注意: 「{word}」の空白かハイフンは半角ではありません。半角のつもりなら入れ直してください"
    )


def test_a_full_width_space_of_a_search_is_not_what_failed(notes):
    assert "plain one" not in notes("search", "水\u3000備え").err
    done = notes("search", "水\u3000備え", "-n", "nowhere")
    assert done.err == "error: there is no tool 'nowhere'; there are: notes\n"


def every(command, path=("mdvec",)):
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from every(below, (*path, name))


def of_a_path(command):
    return [each for each in command.params if each.type_descriptor.annotation in (Path, GivenPath)]


def test_an_empty_path_is_never_read_as_the_working_folder(mdvec):
    paths = [
        (" ".join(names[1:]), path.opts[-1])
        for names, command in every(typer.main.get_command(app))
        for path in of_a_path(command)
    ]
    assert len(paths) > 50
    own = {(name, option) for name, option in paths if option not in ("--database", "--config")}
    own |= {("status", "--database"), ("tool ls", "--config")}
    before = mdvec.files()
    for name, option in sorted(own):
        given = [option, ""] if option.startswith("-") else [""]
        rest = {"plot": ["q"], "export": ["q"], "register": ["cursor"]}.get(name, [])
        done = mdvec(*name.split(), *rest, *given)
        assert "the path is empty; name a file or a folder; see: mdvec" in done.err, name
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert mdvec.files() == before


def test_a_wrong_command_line_is_said_in_japanese_whatever_is_empty_or_of_full_width(notes):
    said = {
        ("samples", ""): "folder のパスが空です。ファイルかフォルダーを指定してください。",
        ("backup", "b", "--config", ""): "--config のパスが空です。",
        ("household", "expenses"): "引数 which がありません。medical, furusato のどれかです。",
        ("tool", "ls", "", ""): "余分な引数 '' があります。",
        ("serach",): "serach というコマンドはありません。'search', 'service' ではありませんか。",
        ("search", "水", "-n", ""): "ツール「''」はありません。あるツール: notes",
        ("get", "", "-n", "notes"): "notes に文書「''」はありません。",
        ("search", "水", "-k", "５"): "--k（-k）は半角数字の整数です。",
    }
    for command, sentence in said.items():
        done = notes(*command, MDVEC_DISPLAY_LANGUAGE="ja")
        assert done.err.startswith(f"エラー: {sentence}")
