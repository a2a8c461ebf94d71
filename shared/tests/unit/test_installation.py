"""The commands that messages name fit the way in which mdvec was installed."""

import pytest

from mdvec.installation import InstalledAs, this_installation

RECEIPT = """[tool]
requirements = [{ name = "mdvec", extras = ["st"] }, { name = "keyring" }]
"""


def installed(prefix, mark=None, content="{}", *, has_pip=False):
    package = prefix / "lib/python3.11/site-packages/mdvec"
    package.mkdir(parents=True)
    if mark is not None:
        (prefix / mark).write_text(content)
    return InstalledAs.at(prefix, package, has_pip=has_pip)


@pytest.mark.parametrize(
    ("folder", "mark", "adds", "repairs"),
    [
        ("pipx/venvs/mdvec-2", "pipx_metadata.json", 'pipx inject mdvec-2 "mdvec-shared[plamo]"',
         "pipx runpip mdvec-2 install --force-reinstall apsw"),
        ("uv/tools/mdvec", "uv-receipt.toml",
         'uv tool install mdvec --with "mdvec-shared[plamo]"',
         "uv tool upgrade mdvec --reinstall-package apsw"),
        ("uv/archive-v0/hk2OgCrX", None, 'uv tool install mdvec --with "mdvec-shared[plamo]"',
         "uvx --reinstall-package apsw mdvec"),
        (".cache/pipx/0f2c", "pipx_metadata.json",
         'pipx install mdvec, then: pipx inject mdvec "mdvec-shared[plamo]"',
         "pipx run --no-cache mdvec"),
    ],
)  # fmt: skip
def test_each_kind_of_tool_has_its_own_commands(tmp_path, folder, mark, adds, repairs):
    here = installed(tmp_path / folder, mark)
    assert (here.adding_extra("plamo"), here.repairing("apsw")) == (adds, repairs)


def test_uv_is_told_again_what_it_would_forget(tmp_path):
    here = installed(tmp_path / "mdvec", "uv-receipt.toml", RECEIPT)
    assert here.adding("mdvec-mcp") == 'uv tool install "mdvec[st]" --with keyring --with mdvec-mcp'


def test_an_environment_names_its_python_and_pip_only_where_it_has_pip(tmp_path):
    plain = installed(tmp_path / "my env", has_pip=True)
    python = f'"{tmp_path}/my env/bin/python"'
    assert plain.adding_extra("e5") == f'{python} -m pip install "mdvec-shared[e5]"'
    assert plain.repairing("apsw") == f"{python} -m pip install apsw --force-reinstall"
    bare = installed(tmp_path / "bare")
    assert bare.adding("pandas") == f"uv pip install --python {tmp_path}/bare/bin/python pandas"


@pytest.mark.parametrize(
    ("folder", "program", "is_kept"),
    [("uv/archive-v0/x", "uvx mdvec", False), ("pipx/.cache/x", "pipx run mdvec", False),
     ("venv", "mdvec", True)],
)  # fmt: skip
def test_an_environment_that_is_cleared_away_is_known(tmp_path, folder, program, is_kept):
    here = installed(tmp_path / folder)
    assert (here.program, here.is_kept) == (program, is_kept)


def test_a_checkout_installs_from_its_own_folder():
    here = this_installation()
    assert here.kind == "checkout"
    assert here.adding_extra("st").startswith("pip install -c constraints.txt -e './shared[st]'")
