"""What this process may take of the machine: memory, files, and the processor's time."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mdvec.platform import windows

_NICENESS = 15
"""What is added to the niceness: with 19 it would starve beside any other work."""

if sys.platform != "win32":
    import resource


def limit_process(
    *, memory: int | None = None, written: int | None = None, open_files: int | None = None
) -> None:
    """Lower limits of this process for good, as far as the system allows; it dumps no core.

    macOS does not enforce all of them. Windows has the memory's alone; there the process can also
    start no other from then on. ``memory`` is in bytes of address space, ``written`` in bytes of
    each file.
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
    """Within the block, limit the further memory of this process and of those that it starts.

    Linux alone enforces it.
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
    """The bytes that this process may take at most; None if there is no limit."""
    if sys.platform == "win32":
        return None
    else:  # noqa: RET505 - mypy looks for the name resource without it
        limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
        return None if limit == resource.RLIM_INFINITY else limit


def machine_memory() -> int:
    """The bytes of memory that the machine has."""
    if sys.platform == "win32":
        import psutil  # 30 ms of start-up, which the other systems are spared

        return int(psutil.virtual_memory().total)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def return_memory() -> None:
    """Let the C library return the memory that it keeps to the system, where it can be told to."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def lower_priority() -> None:
    """Let all other work of the machine go before this process."""
    if sys.platform == "win32":
        import psutil  # as in machine_memory

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(_NICENESS)


def _data_bytes() -> int:
    """What this process has now; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[5]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
