"""The query process as a user of its own, where the tests run as root with root's rights."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TAKING = "from pathlib import Path; from mdvec.platform import take_own_user; import json, os"
NEEDED = {0, 2, 6, 7}  # to change owners, read any file, and choose a group and a user


def rights():
    """The numbers of the rights in force for this process, as Linux counts them."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            found = int(line.split()[1], 16)
            return {number for number in range(64) if found >> number & 1}
    return set()


ROOT = sys.platform == "linux" and os.geteuid() == 0 and rights() >= NEEDED


@pytest.fixture
def house(tmp_path):
    (tmp_path / "work").mkdir(mode=0o700)
    table = tmp_path / "table.parquet"
    table.write_text("rows")
    table.chmod(0o600)
    return tmp_path


def says(house, expression):
    """What an expression is worth after the process took its own user, or the error's name."""
    script = f"""
{TAKING}
taken = take_own_user(Path({str(house / "work")!r}))
try:
    said = eval({expression!r})
except OSError as error:
    said = type(error).__name__
print(json.dumps([taken, str(said)]))
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], cwd=house, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_the_process_leaves_root_and_is_nobody_it_knows(house):
    taken, user = says(house, "os.getuid()")
    assert taken is ROOT
    assert (int(user) >= 61184) is ROOT


@pytest.mark.parametrize(
    ("expression", "said_as_root"),
    [
        ("open('table.parquet').read()", "rows"),
        ("open(f'/proc/self/fd/{os.open(\"table.parquet\", 0)}').read()", "rows"),
        ("open('work/export.parquet', 'w').write('x')", "1"),
        ("open('table.parquet', 'r+')", "PermissionError"),
        ("open('other', 'w')", "PermissionError"),
        ("os.unlink('table.parquet')", "PermissionError"),
        ("os.kill(os.getppid(), 0)", "PermissionError"),
        ("os.chown('work', 0, 0)", "PermissionError"),
        ("os.setuid(0)", "PermissionError"),
        ("os.setgroups([0])", "PermissionError"),
    ],
)
def test_the_new_user_reads_everything_and_changes_only_its_own_folder(
    house, expression, said_as_root
):
    taken, said = says(house, expression)
    assert taken is ROOT
    if ROOT:
        assert said == said_as_root
