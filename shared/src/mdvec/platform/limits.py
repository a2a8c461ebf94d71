"""Limits this process's use of the machine: memory, files and CPU time."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mdvec.platform import windows

_NICENESS = 15
"""Added to the niceness; with 19, the process would get hardly any time beside other work."""

_M_ARENA_MAX = -8
"""The option of glibc's ``mallopt``; its negative number is an ABI."""
_ARENAS = 2

if sys.platform != "win32":
    import resource


def limit_process(
    *, memory: int | None = None, written: int | None = None, open_files: int | None = None
) -> None:
    """Set limits for the rest of this process, as far as the system allows; disables core dumps.

    ``memory`` is in bytes of address space, ``written`` in bytes of each file. macOS does not
    enforce all limits. Windows limits only memory, and then the process cannot start others.
    """
    if sys.platform == "win32":
        if memory is not None:
            with suppress(OSError):
                windows.limit_this_process(memory)
    else:
        for which, value in (
            (resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, written),
            (resource.RLIMIT_NOFILE, open_files), (resource.RLIMIT_CORE, 0),
        ):  # fmt: skip
            if value is not None:
                with suppress(ValueError, OSError):
                    _, most = resource.getrlimit(which)
                    lower = value if most == resource.RLIM_INFINITY else min(value, most)
                    resource.setrlimit(which, (lower, lower))


@contextmanager
def limited_data(more: int) -> Iterator[None]:
    """Within the block, limit the additional memory of this process and of its children.

    Only Linux enforces it.
    """
    if sys.platform == "win32":
        yield
    else:
        before, most = resource.getrlimit(resource.RLIMIT_DATA)
        limit = _data_bytes() + more
        try:
            if before == resource.RLIM_INFINITY or limit < before:
                with suppress(ValueError, OSError):
                    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))
            yield
        finally:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_DATA, (before, most))


def data_limit() -> int | None:
    """The most bytes of memory that this process may take; None if there is no limit."""
    if sys.platform == "win32":
        return None
    else:  # noqa: RET505 - mypy looks for the name resource without it
        limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
        return None if limit == resource.RLIM_INFINITY else limit


def machine_memory() -> int:
    """The bytes of memory that the machine has."""
    if sys.platform == "win32":
        import psutil  # takes 30 ms, and only this system needs it

        return int(psutil.virtual_memory().total)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def return_memory() -> None:
    """Let the C library return unused memory to the system, where that is possible."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def share_arenas() -> None:
    """Let the threads that start from now on share what memory they free, where that is possible.

    glibc gives each thread an arena of its own, up to eight a core, and keeps what is freed there:
    after 5,000 searches of 50 clients a server had 30 MB more, with two arenas 10 MB.
    """
    if sys.platform == "linux":
        set_option = getattr(ctypes.CDLL(None), "mallopt", None)
        if set_option is not None:
            set_option(_M_ARENA_MAX, _ARENAS)


def lower_priority() -> None:
    """Give all other processes priority over this one."""
    if sys.platform == "win32":
        import psutil  # as in machine_memory

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(_NICENESS)


def _data_bytes() -> int:
    """The current data size of this process in bytes; 0 if unknown."""
    if sys.platform == "win32":
        return 0
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[5]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
