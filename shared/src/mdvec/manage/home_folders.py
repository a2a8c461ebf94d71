"""The folders within the user's home, for a page that lets the user pick one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mdvec.errors import MdvecError

MAX_FOLDERS = 500
_MAX_PATH_CHARS = 4_096


class OutsideHome(MdvecError):
    """A path does not lie within the home, or there is nothing; the message says what to name."""


@dataclass(frozen=True, slots=True)
class HomeFolder:
    """A folder within the home, and those in it that are not hidden, by name.

    ``path`` is relative to the home, "" for the home itself; ``parent`` is None there.
    """

    path: str
    parent: str | None
    folders: tuple[str, ...]
    is_cut: bool


def within_home(said: str, home: Path) -> Path:
    """The path that a user named, resolved: an absolute one, ``~/…``, or relative to the home.

    Raises:
        OutsideHome: it lies elsewhere, also by a link, or does not exist.
    """
    refused = OutsideHome(
        f"{said[:200]!r} is not a folder or file within your home, {home}; name one that is, or "
        "add others in a terminal: mdvec tool add"
    )
    if not said or len(said) > _MAX_PATH_CHARS or "\0" in said:
        raise refused
    relative = said.removeprefix("~/") if said != "~" else ""
    try:
        place = Path(os.path.realpath(home / relative, strict=True))
    except (OSError, ValueError) as error:
        raise refused from error
    if not place.is_relative_to(os.path.realpath(home)):
        raise refused
    return place


def home_folder(path: str, home: Path) -> HomeFolder:
    """The folder at a path relative to the home.

    Raises:
        OutsideHome: there is no such folder, or it cannot be read.
    """
    top = Path(os.path.realpath(home))
    place = within_home(path or "~", home)
    shown = place.relative_to(top).as_posix() if place != top else ""
    try:
        with os.scandir(place) as entries:
            names = [
                entry.name for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            ]  # fmt: skip
    except OSError as error:
        raise OutsideHome(f"the folder {path!r} cannot be read ({error.strerror})") from error
    parent = None if place == top else place.parent.relative_to(top).as_posix().removeprefix(".")
    named = sorted(name for name in names if name.isprintable())
    return HomeFolder(shown, parent, tuple(named[:MAX_FOLDERS]), len(named) > MAX_FOLDERS)
