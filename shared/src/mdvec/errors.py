"""The root of all errors that mdvec raises for its users.

Each error is a class in the module that raises it. Its message, of one or two sentences, says what
is wrong and what to do. The command line and the MCP server each translate ``MdvecError`` in one
place; any other exception is a bug, except a place that the system refuses (``place_refused``).
"""

import errno
import os
from typing import ClassVar

_OF_PLACES = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG,
    errno.ENOSPC, errno.EDQUOT,
}  # fmt: skip


class MdvecError(Exception):
    """Something the user can act on; ``str(error)`` is the message to show.

    ``is_wrong_usage``: the command line itself is wrong; `mdvec` then exits with 2 instead of 1.
    """

    is_wrong_usage: ClassVar[bool] = False

    @property
    def sentences(self) -> tuple[str, ...]:
        """The message, and what else a person should know, each as a sentence of its own."""
        return (str(self),)


def place_refused(error: BaseException) -> str | None:
    """The message where the system refuses a place that the user named; None for a bug."""
    if not isinstance(error, OSError) or error.filename is None or error.errno not in _OF_PLACES:
        return None
    return not_usable(error.filename, error)


def not_usable(place: str | os.PathLike[str], error: OSError) -> str:
    """The message where the system refuses to read or write a place that the user named."""
    return (
        f"{place} cannot be used ({error.strerror}); check the path, and your rights and the space "
        "left there"
    )
