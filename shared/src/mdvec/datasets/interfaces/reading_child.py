"""Runs a module of ours that reads a user's file in a process of its own, for a limited time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import IO

from mdvec.files import UnreadableFile
from mdvec.platform import python_child

_SECONDS = 60.0


def run_child(
    module: str, *arguments: str, source: Path | int, stdout: int | IO[bytes], bytes_a_second: int
) -> subprocess.CompletedProcess[bytes]:
    """Run a module to its end, with a file (or its descriptor) as its input.

    Raises:
        UnreadableFile: it took more than a minute and the file's bytes at ``bytes_a_second``, or
            the file could not be opened.
    """
    try:
        with open(source, "rb", closefd=isinstance(source, Path)) as stream:
            return subprocess.run(
                **python_child(module, *arguments),
                stdin=stream,
                stdout=stdout,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS + os.fstat(stream.fileno()).st_size / bytes_a_second,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise UnreadableFile(
            f"reading it was stopped after {error.timeout:,.0f} s", may_pass=True
        ) from error
    except OSError as error:
        raise UnreadableFile.of_error(error) from error
