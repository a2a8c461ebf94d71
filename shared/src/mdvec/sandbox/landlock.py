"""Landlock (Linux): this process can open no file but those named, and no network."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_WRITE_FILE, _REMOVE_FILE, _MAKE_FILE = 1 << 1, 1 << 5, 1 << 8
_FIRST_RIGHTS = (1 << 13) - 1
_MOVE, _TRUNCATE = 1 << 13, 1 << 14
_NETWORK = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def restrict_files(readable: Iterable[Path | int], writable: Path | None = None) -> bool:
    """Deny the network and all other files to this thread and the threads that it starts.

    They cannot start programs either.

    Args:
        readable: the files and folders (with all in them) that can be read; a descriptor stands
            for an open file.
        writable: the folder in which files can also be created, written and removed; None
            stands for no folder.

    Returns:
        Whether the kernel supports it and the rules are in force.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    rules = _Ruleset(_rights_of(version), _NETWORK if version >= 4 else 0)
    size = ctypes.sizeof(rules) if version >= 4 else 8
    ruleset = libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        for file in readable:
            if isinstance(file, int):
                _add(libc, ruleset, file, _READ_FILE)
            else:
                _allow(libc, ruleset, file, _READ_FILE | _READ_FOLDER)
        if writable is not None:
            _allow(
                libc, ruleset, writable,
                _READ_FILE | _READ_FOLDER | _WRITE_FILE | _REMOVE_FILE | _MAKE_FILE
                | (_TRUNCATE & rules.files),
            )  # fmt: skip
        none = ctypes.c_ulong(0)
        if libc.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), none, none, none):
            return False
        return bool(libc.syscall(_RESTRICT, ruleset, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(ruleset)


def _rights_of(version: int) -> int:
    rights = _FIRST_RIGHTS
    if version >= 2:
        rights |= _MOVE
    if version >= 3:
        rights |= _TRUNCATE
    return rights


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    """Allow a path, unless it does not exist."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not path.is_dir():
                rights &= _READ_FILE | _WRITE_FILE | _TRUNCATE
            _add(libc, ruleset, descriptor, rights)
        finally:
            os.close(descriptor)


def _add(libc: ctypes.CDLL, ruleset: int, descriptor: int, rights: int) -> None:
    rule = _PathRule(rights, descriptor)
    libc.syscall(_ADD, ruleset, ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))


def code_paths() -> list[Path]:
    """The paths that Python still imports from."""
    return [Path(entry) for entry in {*sys.path, sys.prefix, sys.base_prefix} if entry]
