"""The parts for Windows, and macOS, on a system whose own functions are simulated."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from types import ModuleType, SimpleNamespace
from typing import Any

import psutil
import pytest

from mdvec.database import open_to_others
from mdvec.embedding.backends import hub
from mdvec.embedding.catalog import is_folder
from mdvec.manage.clients.clients import CLIENTS, Machine
from mdvec.platform import OwnFolder, folders_left, limits, locks, opened, processes

LOCKED = 33


class Kernel:
    """kernel32: locks of ranges, one job, and pipes that ``select`` knows."""

    def __init__(self, paths):
        self.paths = paths
        self.locks: list[tuple[int, int, int, bool]] = []
        self.jobs: list[Any] = []
        self.error = 0
        self.has_locks = True
        self.refuses_jobs = False

    def LockFileEx(self, handle, flags, _reserved, low, high, where):  # noqa: N802
        if not self.has_locks:
            self.error = 1
            return 0
        at = where._obj
        start, length = at.offset | at.offset_high << 32, low | high << 32
        is_shared = not flags & 2
        for other, first, count, shared in self.locks:
            overlaps = first < start + length and start < first + count
            if other != handle.value and overlaps and not (shared and is_shared):
                assert flags & 1, "it would wait for ever"
                self.error = LOCKED
                return 0
        self.locks.append((handle.value, start, length, is_shared))
        return 1

    def GetFinalPathNameByHandleW(self, handle, buffer, _size, _flags):  # noqa: N802
        buffer.value = self.paths[handle.value]
        return len(buffer.value)

    def CreateJobObjectW(self, _security, _name):  # noqa: N802
        return 7

    def GetCurrentProcess(self):  # noqa: N802
        return -1

    def SetInformationJobObject(self, _job, kind, given, size):  # noqa: N802
        assert (kind, size) == (9, 144)
        self.jobs.append(given._obj)
        return 1

    def AssignProcessToJobObject(self, _job, _process):  # noqa: N802
        return not self.refuses_jobs

    def PeekNamedPipe(self, handle, _buffer, _size, _read, count, _left):  # noqa: N802
        held = self.paths.get(handle.value, 0)
        if held is None:
            return 0
        count._obj.value = held
        return 1


@pytest.fixture
def kernel(monkeypatch):
    """A Windows whose handles are the descriptors, and whose pipes hold what ``paths`` says."""
    kernel32 = Kernel({})
    functions = {
        name: SimpleNamespace(restype=None, call=getattr(kernel32, name))
        for name in dir(kernel32)
        if name[0].isupper()
    }

    class Library:
        def __getattr__(self, name):
            return _Function(functions[name])

    msvcrt: Any = ModuleType("msvcrt")
    msvcrt.get_osfhandle = lambda descriptor: descriptor
    monkeypatch.setitem(sys.modules, "msvcrt", msvcrt)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", lambda *_, **__: Library(), raising=False)
    monkeypatch.setattr(ctypes, "get_last_error", lambda: kernel32.error, raising=False)
    monkeypatch.setattr(os, "O_BINARY", 0, raising=False)
    return kernel32


class _Function:
    known: SimpleNamespace

    def __init__(self, known):
        object.__setattr__(self, "known", known)

    def __setattr__(self, _name, value):
        self.known.restype = value

    def __call__(self, *arguments):
        return self.known.call(*arguments)


def test_a_lock_of_windows_is_ours_alone_or_shared(kernel, tmp_path):
    file = tmp_path / "mdvec.log"
    file.touch()
    ours, theirs = (os.open(file, os.O_RDWR) for _ in range(2))
    locks.lock_whole(ours)
    with pytest.raises(BlockingIOError):
        locks.lock_whole(theirs)
    # A byte that no file reaches: a lock of Windows keeps others from reading.
    assert {start for _, start, _, _ in kernel.locks} == {2**62}

    kernel.locks.clear()
    locks.lock_bytes(ours, 0x40000002, 510, shared=True)
    locks.lock_bytes(theirs, 0x40000002, 510, shared=True)  # two readers of a SQLite database
    with pytest.raises(BlockingIOError):
        locks.lock_bytes(theirs, 0x40000002, 510, shared=False)
    locks.lock_bytes(ours, 0, 0, shared=True)
    assert kernel.locks[-1][2] == 2**62
    for descriptor in (ours, theirs):
        os.close(descriptor)


def test_a_lock_file_is_held_by_its_first_byte_as_filelock_does(kernel, tmp_path):
    file = tmp_path / "家計.lock"
    assert not locks.is_held(file)
    file.touch()
    assert not locks.is_held(file)
    kernel.locks[:] = [(-5, 0, 1, False)]
    assert locks.is_held(file)


def test_a_file_system_without_locks_says_so(kernel, tmp_path):
    kernel.has_locks = False
    with (tmp_path / "a").open("w") as file, pytest.raises(OSError, match="cannot be locked"):
        locks.lock_whole(file.fileno())
    own = OwnFolder(tmp_path, "own_")  # without one, nobody takes it for a dead process's
    assert folders_left(tmp_path, "own_") == []
    own.close()


def test_a_folder_is_its_processs_while_a_file_in_it_is_locked(kernel, tmp_path):
    own = OwnFolder(tmp_path, "own_")
    assert [path.name for path in own.path.iterdir()] == ["lock"]
    assert len(kernel.locks) == 1
    own.close()


@pytest.mark.parametrize(
    ("told", "path"),
    [
        (r"\\?\C:\Users\花子\メモ\買い物.md", r"C:\Users\花子\メモ\買い物.md"),
        (r"\\?\UNC\nas\共有\買い物.md", r"\\nas\共有\買い物.md"),
        (r"D:\notes.md", r"D:\notes.md"),
    ],
)
def test_an_open_file_tells_its_path_as_people_write_it(kernel, tmp_path, told, path):
    file = tmp_path / "a.md"
    file.write_bytes(b"\r\nabc")
    descriptor = opened.open_to_read(file)
    kernel.paths[descriptor] = told
    assert str(opened.path_of(descriptor)) == str(opened.real_path(descriptor)) == path
    assert opened.read_start(descriptor, 3) == b"\r\na"
    os.close(descriptor)


def test_a_process_of_windows_is_limited_by_a_job_in_which_it_is_alone(kernel):
    limits.limit_process(written=0, open_files=5)
    assert not kernel.jobs  # Windows has no such limits
    limits.limit_process(memory=600 * 2**20, written=0)
    job = kernel.jobs[0]
    assert job.process_memory == 600 * 2**20
    assert (job.basic.flags, job.basic.processes) == (0x2108, 1)
    kernel.refuses_jobs = True
    limits.limit_process(memory=1)  # a child goes on; DuckDB's own limit remains
    with limits.limited_data(1), pytest.raises(ZeroDivisionError):
        raise ZeroDivisionError
    assert limits.data_limit() is None
    assert limits.machine_memory() == psutil.virtual_memory().total


def test_a_pipe_of_windows_is_looked_at_until_it_has_bytes_or_ends(kernel):
    reading, writing = os.pipe()
    assert not processes.can_read(reading, 0.0)
    kernel.paths[reading] = 3
    assert processes.can_read(reading, 0.0)
    kernel.paths[reading] = None  # its other end is closed
    assert processes.can_read(reading, 5.0)
    assert processes.can_write(writing, 0.0)
    processes.never_wait(reading)
    assert os.get_blocking(reading)
    for descriptor in (reading, writing):
        os.close(descriptor)


def test_a_child_of_windows_has_its_own_group_and_ends_with_its_children(kernel, monkeypatch):
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    monkeypatch.setattr(subprocess, "CREATE_NO_WINDOW", 0x8000000, raising=False)
    assert processes.in_own_group() == {"creationflags": 0x8000200}
    monkeypatch.setattr(sys, "platform", "linux")  # to start it, and for psutil
    nested = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    process = subprocess.Popen(
        [sys.executable, "-c", f"print(flush=True); {nested}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    assert process.stdout.readline()
    while not (children := psutil.Process(process.pid).children()):
        pass
    monkeypatch.setattr(sys, "platform", "win32")
    processes.end_with_children(process)
    assert process.returncode
    psutil.wait_procs(children, timeout=30)
    assert not children[0].is_running()
    process.stdin.close()
    process.stdout.close()


def test_users_of_windows_have_no_numbers_and_folders_no_modes(kernel, tmp_path):
    assert not opened.is_root()
    assert opened.user_number() == 0
    status = tmp_path.stat()
    assert opened.is_shut(status)
    assert not opened.is_anothers(status)
    assert opened.open_folder(tmp_path) is None
    link = tmp_path / "link"
    link.symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(NotADirectoryError):
        opened.open_folder(link)
    with pytest.raises(FileNotFoundError):
        opened.open_folder(tmp_path / "none")
    file = tmp_path / "a"
    file.touch()
    opened.take_ownership(file)


def test_a_file_that_a_reader_has_open_is_replaced_when_it_is_free(kernel, tmp_path, monkeypatch):
    new, old = tmp_path / "new", tmp_path / "old"
    new.write_text("新しい")
    replace, refusals = Path.replace, iter([True, True])

    def busy(self, target):
        if next(refusals, False):
            raise PermissionError(13, "another program has it open")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", busy)
    opened.replace(new, old)
    assert old.read_text() == "新しい"


def test_a_share_of_another_machine_is_a_network(kernel):
    share = locks.share_of(r"\\nas\共有\mdvec\vector-db.sqlite")
    assert share is not None
    assert (share.kind, share.point) == ("smb", r"\\nas\共有")
    assert locks.share_of(r"C:\Users\花子\vector-db.sqlite") is None
    assert locks.mount_of(Path("/tmp")) is None


def test_claude_desktop_from_the_store_has_its_own_folder(tmp_path):
    machine = Machine(
        "win32", tmp_path, {"APPDATA": str(tmp_path / "R"), "LOCALAPPDATA": str(tmp_path / "L")}
    )
    file = CLIENTS["claude-desktop"].file
    assert file(machine) == tmp_path / "R" / "Claude" / "claude_desktop_config.json"
    for number, package in enumerate(("Claude_old", "Claude_pzs8sxrjxfjjc")):
        folder = tmp_path / "L" / "Packages" / package / "LocalCache" / "Roaming" / "Claude"
        folder.mkdir(parents=True)
        os.utime(folder, (number, number))
    assert file(machine) == folder / "claude_desktop_config.json"


def test_nothing_outside_the_room_names_what_only_some_systems_have():
    src = Path(__file__).parents[4]
    room = src / "shared" / "src" / "mdvec" / "platform"
    for part in ("shared", "manage-documents", "mcp-server"):
        for file in (src / part / "src").rglob("*.py"):
            if not file.is_relative_to(room):
                text = file.read_text(encoding="utf-8")
                for name in ('"/proc', '"/dev/', 'f"/dev/fd', "start_new_session", "pass_fds"):
                    assert name not in text, f"{PureWindowsPath(file)} names {name}"


def test_windows_modes_tell_nothing_of_others(tmp_path, monkeypatch):
    database = tmp_path / "db.sqlite"
    database.touch(0o644)
    assert open_to_others(database) == {database: 0o644}
    monkeypatch.setattr(sys, "platform", "win32")
    assert open_to_others(database) == {}


def test_words_of_a_command_are_quoted_and_read_as_each_system_has_them(monkeypatch):
    assert processes.shell_line("-s", "/my notes/a'b") == """-s '/my notes/a'"'"'b'"""
    odd = "時\n刻's\t\\n"
    shown = processes.shell_line("--read", odd)
    assert shown == r"--read $'時\n刻\'s\t\\n'"
    done = subprocess.run(["bash", "-c", f"printf %s {shown[7:]}"], capture_output=True, check=True)
    assert done.stdout.decode() == odd
    assert processes.shell_words(r"a\ b 'c d'") == ["a b", "c d"]
    monkeypatch.setattr(sys, "platform", "win32")
    assert processes.shell_line("-s", r"C:\my notes") == r'-s "C:\my notes"'
    assert processes.shell_words(r'"C:\my tools\pandoc.exe" -t gfm {}') == [
        r"C:\my tools\pandoc.exe", "-t", "gfm", "{}",
    ]  # fmt: skip


def test_a_model_in_a_folder_is_known_by_its_drive_on_windows(monkeypatch):
    assert is_folder("onnx:/models/ruri")
    assert not is_folder("onnx:cl-nagoya/ruri")
    monkeypatch.setattr(hub, "Path", PureWindowsPath)
    assert is_folder(r"st:C:\models\ruri")
    assert not is_folder("st:cl-nagoya/ruri")
