"""Why a file or folder cannot be imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or folder that cannot be imported, and the reason."""

    file_path: str
    reason: str


class PassingProblem(Problem):
    """A problem that may pass without a change of the file: a lock, permissions, an I/O error."""


class UnreadableFile(Exception):
    """A file cannot be imported; the message says why.

    ``may_pass`` is whether it may be readable later although it does not change.
    """

    def __init__(self, message: str, *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.may_pass = may_pass

    @classmethod
    def of_error(cls, error: OSError) -> Self:
        """The exception for an error of the system, which may pass."""
        return cls(f"it cannot be read ({system_message(error)})", may_pass=True)

    @classmethod
    def changed(cls) -> Self:
        """The file changed while the import read it."""
        return cls("it changed while the import read it; import again", may_pass=True)

    def problem(self, path: str) -> Problem:
        """The problem of the file, or of one of its tables, with this path."""
        return (PassingProblem if self.may_pass else Problem)(path, str(self))


def system_message(error: OSError) -> str:
    """The system's message for an error, in lower case, to be part of a sentence."""
    return (error.strerror or type(error).__name__).lower()
