"""A folder that only this user can read, as exports need it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from mdvec.analysis.errors import ExportFolderUnusable

PRIVATE_FILE_MODE = 0o600
_PRIVATE_FOLDER_MODE = 0o700
_GROUP_AND_OTHERS = 0o077


def make_private(folder: Path, is_ours: Callable[[str], bool]) -> None:
    """Create the folder and its parents if needed, and check that it is private.

    Raises:
        ExportFolderUnusable: it cannot be created, or is not private: see ``is_private``.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=_PRIVATE_FOLDER_MODE, exist_ok=True)
    except FileExistsError:
        pass  # not a folder: is_private refuses it
    except OSError as error:
        raise unwritable(error) from error
    is_private(folder, is_ours)


def is_private(folder: Path, is_ours: Callable[[str], bool]) -> bool:
    """Whether the folder exists; if it is not private, make it so, or refuse it.

    Args:
        folder: may not be a link.
        is_ours: whether a file of this name was written by mdvec; with others in it, a folder
            that others can read is left as it is.

    Raises:
        ExportFolderUnusable: it belongs to another user, or is shared, or is not a folder.
    """
    try:
        # Refuses a link, so that the folder checked is the one whose mode is changed.
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ExportFolderUnusable(
            "the exports folder is a link, a file or not readable; name a folder of its own "
            "in [analytics] folder"
        ) from error
    try:
        _close_to_others(opened, is_ours)
    finally:
        os.close(opened)
    return True


def _close_to_others(opened: int, is_ours: Callable[[str], bool]) -> None:
    status = os.fstat(opened)
    if status.st_uid != os.getuid():
        raise ExportFolderUnusable(
            "the exports folder belongs to another user; name one of your own in [analytics] folder"
        )
    if stat.S_IMODE(status.st_mode) & _GROUP_AND_OTHERS == 0:
        return
    if any(not is_ours(name) for name in os.listdir(opened)):
        raise ExportFolderUnusable(
            "the exports folder can be read by others and holds other files too; name a "
            "folder of its own in [analytics] folder"
        )
    os.fchmod(opened, _PRIVATE_FOLDER_MODE)


def unwritable(error: OSError) -> ExportFolderUnusable:
    """The error for a folder that cannot be written."""
    return ExportFolderUnusable(
        f"the exports folder cannot be written ({error.strerror}); check [analytics] folder and "
        "the space left there"
    )
