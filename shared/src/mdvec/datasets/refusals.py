"""Refuses imports that would leave a dataset without the tables that it has."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.datasets.interfaces.tables import FileTable
from mdvec.files.scan import FoundFile, Problem
from mdvec.importing.job import ImportJob
from mdvec.importing.options import ImportRefused
from mdvec.text.counting import counted
from mdvec.text.one_line import shown_name
from mdvec.tools.rows import Tool


def check_mode(job: ImportJob, stored: Sequence[FileTable], found: Sequence[FoundFile]) -> None:
    """Check that the mode fits what is stored, and that there are files.

    Raises:
        ImportRefused: it does not, or there are none.
    """
    name, number = job.tool.name, counted(len(stored), "table")
    if job.request.mode == "new" and stored:
        raise ImportRefused(
            f"the tool {name!r} has {number} already; "
            "use --mode update to follow changes, or --mode replace to build it again"
        )
    if stored and not found and not job.found.unseen:
        raise ImportRefused(
            f"there is no data file in {job.tool.source}, but {name!r} has "
            f"{number}; put the files back (is a disk not mounted?), or "
            f"delete the tool with: mdvec tool delete -n {name}"
        )


def check_outcome(tool: Tool, stored: Sequence[FileTable], failed: Sequence[Problem]) -> None:
    """Check an import that collected no table.

    Raises:
        ImportRefused: it failed, and the tool had tables before.
    """
    if stored and failed:
        first = failed[0]
        raise ImportRefused(
            f"not one file could be imported ({shown_name(first.file_path)}: {first.reason}); "
            f"the tool {tool.name!r} was left as it was"
        )
