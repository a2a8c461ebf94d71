"""Which errors of the system are a place that the user can change, and which are bugs."""

import errno
import os

from table_of_cases import each

from mdvec.errors import place_refused


@each("number", [errno.EACCES, errno.ENOTDIR, errno.ELOOP, errno.ENOSPC])
def test_a_place_that_the_system_refuses_is_told_with_its_reason(number):
    error = OSError(number, os.strerror(number), "notes/a")
    told = f"notes/a cannot be used ({os.strerror(number)}); check the path, and your rights and "
    assert place_refused(error) == f"{told}the space left there"


@each(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file or directory", "/opt/mdvec/words.toml"),
        FileExistsError(errno.EEXIST, "File exists", "notes/a"),
        PermissionError(errno.EACCES, "Permission denied"),
        ValueError("notes/a"),
    ],
)
def test_any_other_error_is_a_bug_of_ours(error):
    assert place_refused(error) is None
