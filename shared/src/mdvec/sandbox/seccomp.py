"""Seccomp (Linux): this process can open no socket, send no signal and start no process.

Landlock says which files; this says which calls of the system. It also holds for UDP and for
signals to processes of the same user, which Landlock leaves open.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys

_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# The second with EPERM, the third with ENOSYS.
_ALLOW, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x00050001, 0x00050026
_NUMBER_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_CLONE3, _CLONE_THREAD = 435, 0x10000
_OTHER_NUMBERS = 0x40000000  # x86-64's second table of the same calls
_ON_BOTH = (424, 425, 434, 438)  # pidfd_send_signal, io_uring_setup, pidfd_open, pidfd_getfd
# socket, connect, socketpair, execve, fork, vfork, kill, ptrace, rt_sigqueueinfo, mount, tkill,
# tgkill, add_key, keyctl, unshare, rt_tgsigqueueinfo, perf_event_open, setns, process_vm_readv,
# process_vm_writev, bpf, execveat, userfaultfd
_X86_64 = (
    41, 42, 53, 59, 57, 58, 62, 101, 129, 165, 200, 234, 248, 250, 272, 297, 298, 308, 310, 311,
    321, 322, 323,
)  # fmt: skip
# The same, without fork and vfork.
_AARCH64 = (
    198, 203, 199, 221, 129, 117, 138, 40, 130, 131, 217, 219, 97, 240, 241, 268, 270, 271, 280,
    281, 282,
)  # fmt: skip
_MACHINES = {
    "x86_64": (0xC000003E, _X86_64, 56),
    "aarch64": (0xC00000B7, _AARCH64, 220),
}
"""By machine: its number, the refused calls, and clone."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def restrict_calls() -> bool:
    """Refuse the calls of ``_MACHINES`` to this thread and the threads that it starts, for good.

    Returns:
        Whether the filter is in force; False on other systems and machines.
    """
    if not sys.platform.startswith("linux") or platform.machine() not in _MACHINES:
        return False
    if sys.maxsize < 2**32:  # 32-bit code on a 64-bit system has other numbers
        return False
    code = _filter(*_MACHINES[platform.machine()])
    text = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    none = ctypes.c_ulong(0)
    if libc.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), none, none, none):
        return False
    mode = ctypes.c_ulong(_FILTER)
    return bool(libc.prctl(_SET_SECCOMP, mode, ctypes.byref(program), none, none) == 0)


def _filter(machine: int, refused: tuple[int, ...], clone: int) -> bytes:
    """The filter: one instruction a call, each of which jumps to the refusal near the end."""
    numbers = (*refused, *_ON_BOTH)
    after = 4 + len(numbers)
    allow, refuse, unknown = after + 4, after + 5, after + 6
    steps = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_IF_EQUAL, 0, refuse - 2, machine),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_IF_AT_LEAST, refuse - 4, 0, _OTHER_NUMBERS),
        *((_IF_EQUAL, refuse - 5 - at, 0, number) for at, number in enumerate(numbers)),
        # Threads are allowed, processes are not. The flags of clone3 are in memory, which a filter
        # cannot read; without it the C library takes clone.
        (_IF_EQUAL, unknown - after - 1, 0, _CLONE3),
        (_IF_EQUAL, 0, allow - after - 2, clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_IF_ANY_BIT, allow - after - 4, refuse - after - 4, _CLONE_THREAD),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _UNKNOWN),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
