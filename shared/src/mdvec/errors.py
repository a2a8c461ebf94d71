"""The root of all errors that mdvec raises for its users.

Each error is a class in the module that raises it. Its message, of one or two sentences, says what
is wrong and what to do. The command line and the MCP server each translate ``MdvecError`` in one
place; any other exception is a bug.
"""

from pathlib import Path
from typing import ClassVar, Self


class MdvecError(Exception):
    """Something the user can act on; ``str(error)`` is the message to show.

    ``is_wrong_usage``: the command line itself is wrong; `mdvec` then exits with 2 instead of 1.
    """

    is_wrong_usage: ClassVar[bool] = False

    @property
    def sentences(self) -> tuple[str, ...]:
        """The message, and what else a person should know, each as a sentence of its own."""
        return (str(self),)


class PlaceUnusable(MdvecError):
    """The system refuses a file or folder, which the user named or the settings lead to."""

    @classmethod
    def of(cls, error: BaseException) -> Self | None:
        """The error of the system in our words; None if it is about no file."""
        if not isinstance(error, OSError) or error.filename is None:
            return None
        return cls(
            f"{error.filename} cannot be used ({error.strerror}); check the path, and your rights "
            "and the space left there"
        )


def not_written(path: Path, error: OSError) -> str:
    """The message where the system refuses to write a file or folder that the user named."""
    return f"{path} cannot be written ({error.strerror}); make room, or name another place"
