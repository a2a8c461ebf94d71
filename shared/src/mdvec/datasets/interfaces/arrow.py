"""Converts Feather and Arrow files to Parquet in a child process, if polars is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mdvec.datasets.core.understood import AS_TEXT, ReadColumn, Understood
from mdvec.datasets.interfaces.child_environment import child_environment
from mdvec.files import UnreadableFile, why
from mdvec.installation import this_installation
from mdvec.platform import apart

_MODULE = "mdvec.datasets.interfaces.arrow_child"
_SECONDS = 60.0
_BYTES_A_SECOND = 2_000_000
_MAX_CHARS = 100


def arrow_to_parquet(source: Path, target: Path, columns: Mapping[str, str]) -> Understood:
    """Convert ``source``, an Arrow file or stream; some columns become text.

    Raises:
        UnreadableFile: it is not an Arrow file, ends early, holds a type that Parquet lacks, or
            polars is not installed.
    """
    if find_spec("polars") is None:
        raise UnreadableFile(
            "reading .feather and .arrow needs polars; write the table as Parquet, or get it with: "
            f"{this_installation().adding_extra('arrow')}"
        )
    texts = [name for name, choice in columns.items() if choice == AS_TEXT]
    response = _response(source, target, texts)
    if "names" in response:
        return Understood(columns=tuple(ReadColumn(name, "") for name in response["names"]))
    if "why" in response:
        raise UnreadableFile(response["why"])
    said = response.get("error", "reading it broke the process that did")[:_MAX_CHARS]
    raise UnreadableFile(f"it cannot be read as an Arrow file ({said})")


def _response(source: Path, target: Path, texts: list[str]) -> dict[str, Any]:
    try:
        with source.open("rb") as stream:
            size = source.stat().st_size
            done = subprocess.run(  # noqa: S603 - our own module, no shell
                [sys.executable, "-P", "-X", "utf8", "-m", _MODULE, str(target), *texts],
                stdin=stream,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=child_environment(),
                encoding="utf-8",
                timeout=_SECONDS + size / _BYTES_A_SECOND,
                **apart(),
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise UnreadableFile(
            f"reading it was stopped after {error.timeout:,.0f} s", may_pass=True
        ) from error
    except OSError as error:
        raise UnreadableFile(f"it cannot be read ({why(error)})", may_pass=True) from error
    response: dict[str, Any] = json.loads(done.stdout or "{}")
    return response
