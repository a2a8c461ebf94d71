"""A user's own program that makes Markdown of files, as [convert] names it."""

import shlex
import sys
import time
from dataclasses import replace

import psutil
import pytest
from collection import RULES
from table_of_cases import each

from mdvec.converters import ConversionFailed, Converter, OwnCommands
from mdvec.settings import SettingsError, load_settings

PRINTS = (
    "import pathlib, sys; path = pathlib.Path(sys.argv[-1]); "
    "print('# ' + path.stem + '\\n\\n' + path.read_text('cp932'))"
)


def python(code, *arguments):
    return shlex.join([sys.executable, "-c", code, *arguments])


def converter(code, ending=".rtf", seconds=60, arguments=()):
    return Converter(OwnCommands({ending: python(code, *arguments)}, seconds))


def test_what_it_prints_is_imported_as_markdown_and_updated_when_the_file_changes(collection):
    (collection.folder / "手順 一.rtf").write_bytes("停電の手引き。".encode("cp932"))
    (collection.folder / "他.odt").write_bytes(b"PK")
    collection.rules = replace(RULES, extensions=(".rtf", ".odt"))
    collection.converting = OwnCommands({".rtf": python(PRINTS)})
    report = collection.import_("new")
    (failed,) = report.failed
    assert (failed.file_path, failed.reason) == (
        "他.odt", "files of its ending need a command of yours in [convert]",
    )  # fmt: skip
    hit = collection.search("停電").results[0]
    assert (hit.file_path, hit.heading) == ("手順 一.rtf", "手順 一")
    assert "停電の手引き。" in hit.content
    assert collection.import_("update").unchanged == 1


def test_the_path_stands_where_the_command_says_and_the_copy_is_private():
    code = "import os, sys; print(sys.argv[1:], oct(os.stat(os.path.dirname(sys.argv[2])).st_mode))"
    own = converter(code, ".pdf", arguments=("--in={}", "{}", "-o", "x;y"))
    content = own.convert(b"x", "a/-b.PDF").content
    assert content.count("/-b.PDF'") == 2
    assert "'-o', 'x;y']" in content
    assert content.rstrip().endswith("700")


@each(
    ("code", "reason"),
    [
        ("import sys; print('x'); sys.exit('一行目\\n紙が読めません')", "ended with 1: 紙が読め"),
        ("raise SystemExit(3)", "ended with 3: it said nothing"),
        ("print('  ')", "prints no text for it"),
        ("while True: pass", "took more than 0.5 seconds"),
        ("import sys; sys.stdout.buffer.write(bytes([255, 254, 0, 216]))", "UTF-16"),
        ("import sys; sys.stdout.write('x' * 40_000_001)", "prints more than 40,000,000 bytes"),
    ],
)
def test_what_goes_wrong_is_one_sentence_about_the_file(code, reason):
    with pytest.raises(ConversionFailed, match=reason) as refused:
        converter(code, seconds=0.5 if "while" in code else 60).convert(b"x", "a.rtf")
    assert "\n" not in str(refused.value)


def test_endless_output_ends_with_its_program_and_what_that_started(tmp_path):
    mark = str(tmp_path)
    endless = f"while 1: print('x' * 10**6)  # {mark}"
    code = (
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {endless!r}]); "
        "time.sleep(600)"
    )
    began = time.monotonic()
    with pytest.raises(ConversionFailed, match="prints more than 40,000,000 bytes"):
        converter(code).convert(b"x", "a.rtf")
    assert time.monotonic() - began < 60
    started = [each for each in psutil.process_iter(["cmdline"]) if mark in str(each.info)]
    psutil.wait_procs(started, timeout=60)
    assert not any(each.is_running() for each in started)


def test_a_program_that_is_not_there_is_named():
    own = Converter(OwnCommands({".rtf": "no-such-program --markdown"}))
    with pytest.raises(ConversionFailed, match=r"no-such-program of \[convert\] cannot be started"):
        own.convert(b"x", "a.rtf")


def test_settings_of_a_project_name_no_programs(tmp_path):
    said = "[convert]\nmax_seconds = 5\n[convert.command]\n'.RTF' = 'pandoc -t gfm'\n"
    (tmp_path / "mdvec.toml").write_text(said, encoding="utf-8")
    home = {"MDVEC_CONFIG": ""}
    with pytest.raises(SettingsError, match="a project's file may be another's"):
        load_settings(home, project_folder=tmp_path)
    mine = load_settings(home, config=tmp_path / "mdvec.toml", project_folder=tmp_path)
    assert mine.convert.commands() == OwnCommands({".rtf": "pandoc -t gfm"}, 5)
    assert mine.scan_rules().extensions[-1] == ".rtf"
    for wrong in ("{ '.exe' = 'x' }", "{ '.rtf' = ' ' }", "'pandoc'"):
        (tmp_path / "own.toml").write_text(f"[convert]\ncommand = {wrong}\n", encoding="utf-8")
        with pytest.raises(
            SettingsError, match=r"\[convert\] command cannot be .* allowed: a table such as"
        ):
            load_settings(home, config=tmp_path / "own.toml")
    with pytest.raises(SettingsError, match=r"\[convert\] command"):
        load_settings({"MDVEC_CONVERT_COMMAND": "pandoc"})
