"""The help of mdvec-mcp in the language of the person."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from mdvec.text import display_width

from mdvec_mcp import main

TABLE = tomllib.loads((Path(main.__file__).parent / "help.ja.toml").read_text("utf-8"))
ENGLISH = re.compile(r"(?:[A-Za-z']+ ){3,}[a-z]+")


@pytest.fixture
def help_in(monkeypatch, capsys, tmp_path):
    def shown(language):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("MDVEC_DISPLAY_LANGUAGE", language)
        monkeypatch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit):
            main._arguments(["--help"])
        return capsys.readouterr().out

    return shown


def test_each_line_of_the_help_is_in_japanese_and_fits_the_terminal(help_in):
    lines = help_in("ja").splitlines()
    assert lines[0].startswith("使い方: mdvec-mcp ")
    assert [line for line in lines if ENGLISH.search(line) or display_width(line) > 80] == []


def test_the_table_has_what_the_help_says_and_nothing_else(help_in):
    english = " ".join(help_in("en").split())
    assert [said for said in TABLE if said not in english] == []


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_an_encoding_that_lacks_the_signs_of_the_help_gets_it_with_escapes(encoding, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from mdvec_mcp.entry import main; main()", "--help"],
        env=os.environ | {"PYTHONIOENCODING": encoding, "MDVEC_DISPLAY_LANGUAGE": "ja"},
        cwd=tmp_path, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(rb"\u4f7f\u3044\u65b9: mdvec-mcp")
