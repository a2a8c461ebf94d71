"""The root of all errors that mdvec raises for its users.

Each error is a class in the module that raises it. Its message, of one or two sentences, says what
is wrong and what to do. The command line and the MCP server each translate ``MdvecError`` in one
place; any other exception is a bug.
"""

from typing import ClassVar


class MdvecError(Exception):
    """Something the user can act on; ``str(error)`` is the message to show.

    ``is_wrong_usage``: the command line itself is wrong; `mdvec` then exits with 2 instead of 1.
    """

    is_wrong_usage: ClassVar[bool] = False

    @property
    def sentences(self) -> tuple[str, ...]:
        """The message, and what else a person should know, each as a sentence of its own."""
        return (str(self),)
