"""A private file that leads a browser to a one-time address of the local page.

The arguments of a process can be seen by every user of the machine, and a browser is started with
the address that it shall open. So it is given a file that only its user can read.
"""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import subprocess
from contextlib import suppress
from html import escape
from pathlib import Path

from mdvec.errors import MdvecError

_PRIVATE = 0o600
_SECONDS = 5.0
_PAGE = (
    '<!doctype html><html><head><meta charset="utf-8"><title>mdvec</title>'
    '<meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0;url={address}"></head>'
    '<body><a href="{address}">mdvec</a></body></html>\n'
)


class OpeningFileUnwritable(MdvecError):
    """The file for the browser cannot be written; the message says why."""


def opening_file(database: Path) -> Path:
    """Where the file of a database's page is: beside it, or where a confined browser can read."""
    folder = _folder_of_snap(Path.home()) or database.parent
    return folder / f"{database.name}-page.html"


def write_opening(file: Path, address: str) -> None:
    """Write the file that leads to an address, in place of an earlier one, for this user alone.

    Raises:
        OpeningFileUnwritable: its folder cannot be written.
    """
    new = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w") as written:  # noqa: PTH123
            written.write(_PAGE.format(address=escape(address)))
        new.replace(file)
    except OSError as error:
        with suppress(OSError):
            new.unlink()  # it leads to the page as well
        raise OpeningFileUnwritable(
            f"the file that opens the page, {file}, cannot be written ({error}); open the printed "
            "address in a browser"
        ) from error


def reads_files_of_this_system() -> bool:
    """Whether the browser can open a file of ours; under WSL, Windows' browser cannot."""
    return "microsoft" not in platform.release().lower()


def _folder_of_snap(home: Path) -> Path | None:
    """The folder that the default browser may read if it is a snap: no hidden folder of the home.

    The desktop file of a snap is named after it, as in ``firefox_firefox.desktop``.
    """
    program = shutil.which("xdg-settings")
    if program is None:
        return None
    try:
        asked = subprocess.run(  # noqa: S603 - found in the user's own path
            [program, "get", "default-web-browser"],
            capture_output=True, encoding="utf-8", errors="replace", timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    name, underscore, _ = asked.stdout.strip().partition("_")
    folder = home / "snap" / Path(name).name / "common"
    return folder if name and underscore and folder.is_dir() else None
