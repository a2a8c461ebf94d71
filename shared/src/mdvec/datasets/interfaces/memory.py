"""How much memory the reading of a data file may take, in whatever library does it."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mdvec.files import UnreadableFile
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
    megabytes = megabytes or _quarter_of_machine()
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = _data_bytes() + megabytes * MEGABYTE
    is_lower = before == resource.RLIM_INFINITY or limit < before
    try:
        if is_lower:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_DATA, (limit, most))
        yield
    except Exception as error:  # whoever runs short of it raises what it likes
        if not _is_out_of_memory(error):
            raise
        raise UnreadableFile(
            f"reading it needs more than {megabytes:,} MB of memory; split it, or set "
            "[analytics] max_import_mb higher"
        ) from error
    finally:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (before, most))


def allowed_memory() -> int | None:
    """The bytes that this process may take at most; None if there is no limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return None if limit == resource.RLIM_INFINITY else limit


def _is_out_of_memory(error: BaseException | None) -> bool:
    while error is not None:
        if type(error).__name__ in _OUT_OF_MEMORY or str(error) == _NO_THREAD:
            return True
        error = error.__cause__ or error.__context__
    return False


def _quarter_of_machine() -> int:
    page, pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
    return page * pages // _SHARE_OF_MACHINE // MEGABYTE


def _data_bytes() -> int:
    """What this process has now; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[5]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
