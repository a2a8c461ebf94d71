"""Windows functions that the standard library does not offer.

Names, numbers and structures are from Microsoft's documentation of kernel32. The functions are
called only on Windows.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import wintypes
from typing import Any

_FAIL_IMMEDIATELY, _EXCLUSIVE = 1, 2
_LOCK_VIOLATION, _IO_PENDING = 33, 997
_EXTENDED_LIMITS = 9
_ACTIVE_PROCESS, _PROCESS_MEMORY, _KILL_ON_CLOSE = 0x8, 0x100, 0x2000
_MAX_PATH = 32_768
_NOT_WINDOWS = AssertionError("this system is not Windows")
_LONG, _LONG_SHARE = "\\\\?\\", "\\\\?\\UNC\\"


class _Overlapped(ctypes.Structure):
    _fields_ = (
        ("internal", ctypes.c_void_p), ("internal_high", ctypes.c_void_p),
        ("offset", ctypes.c_uint32), ("offset_high", ctypes.c_uint32), ("event", wintypes.HANDLE),
    )  # fmt: skip


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64), ("job_time", ctypes.c_int64), ("flags", ctypes.c_uint32),
        ("least_working_set", ctypes.c_size_t), ("most_working_set", ctypes.c_size_t),
        ("processes", ctypes.c_uint32), ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32), ("scheduling", ctypes.c_uint32),
    )  # fmt: skip


class _Limits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits), ("io", ctypes.c_uint64 * 6), ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t), ("most_used_by_process", ctypes.c_size_t),
        ("most_used_by_job", ctypes.c_size_t),
    )  # fmt: skip


def lock(descriptor: int, start: int, length: int, *, shared: bool, wait: bool) -> None:
    """Lock bytes of an open file until it is closed; they may lie beyond its end.

    Raises:
        BlockingIOError: another process has locked them, and ``wait`` is False.
        OSError: the file system has no locks.
    """
    flags = (0 if shared else _EXCLUSIVE) | (0 if wait else _FAIL_IMMEDIATELY)
    where = _Overlapped(offset=start & 0xFFFFFFFF, offset_high=start >> 32)
    is_locked = _kernel32().LockFileEx(
        _handle(descriptor), flags, 0, length & 0xFFFFFFFF, length >> 32, ctypes.byref(where)
    )
    if not is_locked:
        number = _last_error()
        if number in {_LOCK_VIOLATION, _IO_PENDING}:
            raise BlockingIOError(number, "another program has locked it")
        raise OSError(number, "it cannot be locked")


def path_of(descriptor: int) -> str:
    """The path of an open file, without links."""
    buffer = ctypes.create_unicode_buffer(_MAX_PATH)
    if not _kernel32().GetFinalPathNameByHandleW(_handle(descriptor), buffer, _MAX_PATH, 0):
        raise OSError(_last_error(), "its path is unknown")
    path = buffer.value
    if path.startswith(_LONG_SHARE):
        return "\\\\" + path.removeprefix(_LONG_SHARE)
    return path.removeprefix(_LONG)


def limit_this_process(memory: int) -> None:
    """Limit the memory of this process, in bytes, and let it start no other process.

    Raises:
        OSError: the system refuses it.
    """
    kernel = _kernel32()
    limits = _Limits(process_memory=memory)
    limits.basic.flags = _ACTIVE_PROCESS | _PROCESS_MEMORY | _KILL_ON_CLOSE
    limits.basic.processes = 1
    # The handle stays open for the life of the process, since closing it would end the job.
    job = wintypes.HANDLE(kernel.CreateJobObjectW(None, None))
    process = wintypes.HANDLE(kernel.GetCurrentProcess())
    size = ctypes.sizeof(limits)
    is_limited = kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), size)
    if not is_limited or not kernel.AssignProcessToJobObject(job, process):
        raise OSError(_last_error(), "the process cannot be limited")


def has_bytes(descriptor: int) -> bool:
    """Whether a pipe holds bytes to read, or has ended."""
    count = ctypes.c_uint32()
    is_open = _kernel32().PeekNamedPipe(
        _handle(descriptor), None, 0, None, ctypes.byref(count), None
    )
    return not is_open or count.value > 0


def _kernel32() -> Any:  # noqa: ANN401 - its functions have no types
    if sys.platform != "win32":
        raise _NOT_WINDOWS
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    # A handle is as wide as a pointer; by default ctypes takes results for ints.
    kernel.CreateJobObjectW.restype = wintypes.HANDLE
    kernel.GetCurrentProcess.restype = wintypes.HANDLE
    return kernel


def _handle(descriptor: int) -> wintypes.HANDLE:
    if sys.platform != "win32":
        raise _NOT_WINDOWS
    import msvcrt  # exists only on Windows

    return wintypes.HANDLE(msvcrt.get_osfhandle(descriptor))


def _last_error() -> int:
    if sys.platform != "win32":
        raise _NOT_WINDOWS
    return ctypes.get_last_error()
