"""Converts Feather and Arrow files to Parquet in a child process, if polars is installed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mdvec.datasets.core.understood import AS_TEXT, ReadColumn, Understood
from mdvec.datasets.interfaces.limits import run_child
from mdvec.datasets.interfaces.parquet import parquet_understood
from mdvec.files import UnreadableFile
from mdvec.installation import this_installation

_MODULE = "mdvec.datasets.interfaces.arrow_child"
_BYTES_A_SECOND = 2_000_000
_MAX_CHARS = 100


def arrow_to_parquet(source: Path, target: Path, columns: Mapping[str, str]) -> Understood:
    """Convert ``source``, an Arrow file or stream, to Parquet; returns how it was read.

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
    done = run_child(
        _MODULE, str(target), *texts,
        source=source, stdout=subprocess.PIPE, bytes_a_second=_BYTES_A_SECOND,
    )  # fmt: skip
    response: dict[str, Any] = json.loads(done.stdout or "{}")
    if "names" in response:
        columns_read = tuple(ReadColumn(name, "") for name in response["names"])
        notes = *response["notes"], *map(str, parquet_understood(target).columns)
        return Understood(columns=columns_read).with_notes(*notes)
    if "why" in response:
        raise UnreadableFile(response["why"])
    reason = response.get("error", "reading it broke the process that did")[:_MAX_CHARS]
    raise UnreadableFile(f"it cannot be read as an Arrow file ({reason})")
