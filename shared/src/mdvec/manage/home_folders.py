"""The folders within the user's home, among which the source of a tool is chosen."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mdvec.errors import MdvecError
from mdvec.platform import followed
from mdvec.text import is_visible

MAX_FOLDERS = 500
_MAX_PATH_CHARS = 4_096


class OutsideHome(MdvecError):
    """A path is outside the home or does not exist; the message says what to name."""


@dataclass(frozen=True, slots=True)
class HomeFolder:
    """A folder within the home, and its visible subfolders by name.

    ``path`` is relative to the home, "" for the home itself; ``parent`` is None there.
    """

    path: str
    parent: str | None
    folders: tuple[str, ...]
    is_cut: bool


def within_home(typed: str, home: Path) -> Path:
    """Resolve a path that a user typed: absolute, ``~/…``, or relative to the home.

    Raises:
        OutsideHome: it leads out of the home, perhaps by a link, or does not exist.
    """
    refused = OutsideHome(
        f"{typed[:200]!r} is not a folder or file within your home, {home}; name one that is, or "
        "add others in a terminal: mdvec tool add"
    )
    if not typed or len(typed) > _MAX_PATH_CHARS or "\0" in typed:
        raise refused
    relative = typed.removeprefix("~/") if typed != "~" else ""
    try:
        path = Path(os.path.realpath(home / relative, strict=True))
    except (OSError, ValueError) as error:
        raise refused from error
    if not path.is_relative_to(followed(home)):
        raise refused
    return path


def home_folder(path: str, home: Path) -> HomeFolder:
    """The folder at a path relative to the home.

    Raises:
        OutsideHome: there is no such folder, or it cannot be read.
    """
    top = followed(home)
    folder = within_home(path or "~", home)
    shown = folder.relative_to(top).as_posix() if folder != top else ""
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            ]  # fmt: skip
    except OSError as error:
        raise OutsideHome(f"the folder {path!r} cannot be read ({error.strerror})") from error
    parent = None if folder == top else folder.parent.relative_to(top).as_posix().removeprefix(".")
    named = sorted(name for name in names if all(map(is_visible, name)))
    return HomeFolder(shown, parent, tuple(named[:MAX_FOLDERS]), len(named) > MAX_FOLDERS)
