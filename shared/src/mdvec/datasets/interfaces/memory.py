"""How much memory the reading of a data file may take, in whatever library does it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mdvec.files import UnreadableFile
from mdvec.platform import limited_data, machine_memory
from mdvec.sizes import MEGABYTE

_SHARE_OF_MACHINE = 4
_OUT_OF_MEMORY = {"MemoryError", "OutOfMemoryException", "NoMemError"}
"""The errors of Python, DuckDB and SQLite."""
_NO_THREAD = "can't start new thread"
"""What Python says where there is no memory for one."""


@contextmanager
def limited_memory(megabytes: int | None) -> Iterator[None]:
    """Within the block, this process and those that it starts get so much more memory at most.

    Linux alone enforces it. An import is a process of its own, so that no search runs short.

    Args:
        megabytes: None stands for a quarter of the machine's memory.

    Raises:
        UnreadableFile: the block needs more; other errors that it causes are replaced.
    """
    megabytes = megabytes or machine_memory() // _SHARE_OF_MACHINE // MEGABYTE
    try:
        with limited_data(megabytes * MEGABYTE):
            yield
    except Exception as error:  # whoever runs short of it raises what it likes
        if not _is_out_of_memory(error):
            raise
        raise UnreadableFile(
            f"reading it needs more than {megabytes:,} MB of memory; split it, or set "
            "[analytics] max_import_mb higher"
        ) from error


def _is_out_of_memory(error: BaseException | None) -> bool:
    while error is not None:
        if type(error).__name__ in _OUT_OF_MEMORY or str(error) == _NO_THREAD:
            return True
        error = error.__cause__ or error.__context__
    return False
