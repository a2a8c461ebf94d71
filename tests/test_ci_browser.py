"""CI opens the views of the page; only a browser that cannot be had is forgiven."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NO_BROWSER = 3


@pytest.fixture
def run(tmp_path):
    """Run a script of this repository with few programs: chromium and apt-get are not real."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "dirname", "env", "id", "timeout"):
        (programs / name).symlink_to(shutil.which(name))

    def started(script, *, ci=True, chromium=None, **fakes):
        for name, code in fakes.items():
            program = programs / name.replace("_", "-")
            program.write_text(f'#!/bin/sh\necho "{program.name} $*"\n{code}\n')
            program.chmod(0o755)
        environment = {"PATH": str(programs), "HOME": str(tmp_path)}
        environment |= {"CI": "1"} if ci else {}
        environment |= {"CHROMIUM": chromium} if chromium else {}
        done = subprocess.run(
            [ROOT / script], env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return started


INSTALL = "tools/install_chromium.sh"


def test_elsewhere_nothing_is_installed_and_the_command_is_printed(run):
    code, said = run(INSTALL, ci=False, apt_get="exit 0")
    assert (code, "apt-get install chromium" in said) == (1, True)
    assert "update" not in said


@pytest.mark.parametrize("apt_get", ["exit 100", "exit 0"])
def test_a_browser_that_cannot_be_had_has_a_code_of_its_own(run, apt_get):
    code, said = run(INSTALL, apt_get=apt_get, sudo="exit 1")
    assert (code, "there is no chromium" in said) == (NO_BROWSER, True)


def test_a_wrong_name_of_a_browser_is_not_forgiven(run):
    code, said = run(INSTALL, chromium="/no/such", apt_get="exit 0")
    assert (code, "/no/such" in said) == (1, True)


def test_a_browser_that_is_here_is_used(run):
    assert run(INSTALL, chromium="true-chromium", true_chromium="")[0] == 0


def test_ci_says_loudly_that_it_opened_no_view(run):
    code, said = run(".ci/run", make="", sudo="exit 1")
    assert (code, "*** THE VIEWS OF THE PAGE WERE NOT OPENED" in said) == (0, True)
    assert "test-ui" not in said


@pytest.mark.parametrize(
    ("make", "expected"), [("", 0), ('[ "$1" != test-ui ]', 1), ('[ "$1" != coverage ]', 1)]
)
def test_ci_fails_with_its_tests(run, make, expected):
    code, said = run(".ci/run", chromium="true-chromium", true_chromium="", make=make)
    assert (code, "test-ui" in said) == (expected, "coverage" not in make)
