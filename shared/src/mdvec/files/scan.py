"""Finding the files of a source folder, and reading them."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from mdvec.errors import MdvecError
from mdvec.files.endings import DATA_ENDINGS
from mdvec.text.encoding import UnknownEncoding, encoding_of

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
"""Never entered; neither are hidden folders, ``.git`` and ``.rag-index`` among them."""


class SourceMissing(MdvecError):
    """A tool's source folder is not there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"the source folder {folder} is not there; put it back, "
            "or name another with: mdvec tool update -n NAME -s FOLDER"
            if folder.suffix.lower() not in DATA_ENDINGS
            else f"the source file {folder} is not there; put it back, "
            "or name another with: mdvec tool update -n NAME -s FILE"
        )


@dataclass(frozen=True, slots=True)
class ScanRules:
    """Which files count: endings in any case, gitignore-style patterns, a size in bytes."""

    extensions: tuple[str, ...]
    exclude: tuple[str, ...]
    max_bytes: int


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to import; ``path`` counts from the source folder, with '/'."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of the source that cannot be imported, and why."""

    file_path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What a source folder holds.

    ``unseen`` names folders that could not be read (with a closing '/') and files that are
    there but cannot be imported: nothing is known of them, so nothing stored may be dropped.
    ``others`` are the paths of files that only their ending keeps out.
    """

    files: tuple[FoundFile, ...]
    problems: tuple[Problem, ...]
    unseen: tuple[str, ...]
    others: tuple[str, ...] = ()

    def may_still_have(self, path: str) -> bool:
        """Whether a path that was not found may be there still: nothing was seen of its place."""
        return any(
            path == hidden or not hidden or path.startswith(f"{hidden.rstrip('/')}/")
            for hidden in self.unseen
        )


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text, and the SHA-256 of its bytes."""

    content: str
    content_hash: str


class UnreadableFile(Exception):
    """Why one file cannot be imported."""


def scan(source: Path, rules: ScanRules) -> Scan:
    """Find every file under ``source`` that the rules let in, by path.

    Raises:
        SourceMissing: there is no such folder.
    """
    if not source.is_dir():
        raise SourceMissing(source)
    walk = _Walk(source, source.resolve(), rules)
    walk.through()
    return Scan(
        files=tuple(sorted(walk.files, key=lambda file: file.path)),
        problems=tuple(sorted(walk.problems, key=lambda problem: problem.file_path)),
        unseen=tuple(walk.unseen),
        others=tuple(sorted(walk.others)),
    )


def scan_file(source: Path) -> Scan:
    """A source that is one file, as if its folder held nothing else.

    Raises:
        SourceMissing: it is gone.
    """
    try:
        state = source.stat()
    except OSError as error:
        raise SourceMissing(source) from error
    found = FoundFile(source.name, state.st_size, state.st_mtime_ns)
    return Scan(files=(found,), problems=(), unseen=())


def file_hash(source: Path, path: str) -> str:
    """The SHA-256 of a file's bytes.

    Raises:
        UnreadableFile: it is gone or cannot be read.
    """
    return hashlib.sha256(_read(source, path)).hexdigest()


def read_text(source: Path, path: str) -> FileText:
    """A file's text: UTF-8 with or without BOM, cp932, EUC-JP or ISO-2022-JP.

    Line ends stay as they are; a BOM is no part of the text.

    Raises:
        UnreadableFile: it is gone, cannot be read, or is no text that is surely in one of these.
    """
    data = _read(source, path)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableFile("it is UTF-16; save it as UTF-8")
    if b"\0" in data:
        raise UnreadableFile("it holds NUL bytes, so it is no text")
    return FileText(_decoded(data), hashlib.sha256(data).hexdigest())


def _decoded(data: bytes) -> str:
    try:
        return data.decode(encoding_of(lambda: (data,)))
    except UnknownEncoding as error:
        raise UnreadableFile(f"it is {error}; save it as UTF-8") from error


def _read(source: Path, path: str) -> bytes:
    try:
        return (source / path).read_bytes()
    except FileNotFoundError as error:
        raise UnreadableFile("it vanished while the import ran") from error
    except OSError as error:
        raise UnreadableFile(f"it cannot be read ({why(error)})") from error


def why(error: OSError) -> str:
    """The system's own word for an error, to stand in a sentence."""
    return (error.strerror or type(error).__name__).lower()


@dataclass
class _Walk:
    """One walk through a source folder."""

    source: Path
    root: Path
    rules: ScanRules
    files: list[FoundFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    linked: set[Path] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._excluded = GitIgnoreSpec.from_lines(map(_composed, self.rules.exclude))
        self._endings = {ending.lower() for ending in self.rules.extensions}
        self._to_enter = [(str(self.source), "")]

    def through(self) -> None:
        """Walk the folder and all below it, however deep."""
        while self._to_enter:
            self._look_into(*self._to_enter.pop())

    def _look_into(self, folder: str, prefix: str) -> None:
        if not _storable(prefix):
            self._report(prefix, "its name is not valid Unicode; rename it")
            return
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            self._unseen(prefix, f"the folder cannot be read ({why(error)})")
            return
        for entry in entries:
            path = prefix + entry.name
            if entry.is_symlink():
                self._follow(entry, path)
            elif entry.is_dir(follow_symlinks=False):
                self._enter_folder(entry, path)
            elif self._wanted(path):
                self._take(entry, path)

    def _enter_folder(self, entry: os.DirEntry[str], path: str) -> None:
        if not self._skipped_folder(entry.name, path):
            self._to_enter.append((entry.path, f"{path}/"))

    def _skipped_folder(self, name: str, path: str) -> bool:
        skipped = name.startswith(".") or name in SKIPPED_FOLDERS
        return skipped or self._matches_exclude(f"{path}/")

    def _wanted(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        # "._name" is what macOS leaves beside a file on other disks.
        ending = os.path.splitext(name)[1].lower()  # noqa: PTH122 - called once per file
        if name.startswith("._") or self._matches_exclude(path):
            return False
        if ending not in self._endings and _storable(path):
            self.others.append(path)
        return ending in self._endings

    def _matches_exclude(self, path: str) -> bool:
        return bool(self.rules.exclude) and self._excluded.match_file(_composed(path))

    def _follow(self, entry: os.DirEntry[str], path: str) -> None:
        """Follow a symbolic link that stays within the source; report one that does not."""
        try:
            target = Path(entry.path).resolve(strict=True)
        except (OSError, RuntimeError):
            if self._wanted(path):
                self._unseen(path, "the link leads nowhere")
            return
        is_folder = target.is_dir()
        if self._skipped_folder(entry.name, path) if is_folder else not self._wanted(path):
            return
        if not target.is_relative_to(self.root):
            self._report(path, "the link leads out of the source folder; it was not followed")
        elif is_folder:
            self._follow_folder(entry, path, target)
        else:
            self._take(entry, path)

    def _follow_folder(self, entry: os.DirEntry[str], path: str, target: Path) -> None:
        if Path(entry.path).parent.resolve().is_relative_to(target):
            self._report(path, "the link leads back to a folder that it lies in")
        elif target in self.linked:
            self._report(path, "the link leads to a folder that another link brought in already")
        else:
            self.linked.add(target)
            self._to_enter.append((entry.path, f"{path}/"))

    def _take(self, entry: os.DirEntry[str], path: str) -> None:
        if not _storable(path):
            self._report(path, "its name is not valid Unicode; rename it")
            return
        try:
            state = entry.stat()
        except OSError as error:
            reason = "it vanished" if error.errno == errno.ENOENT else why(error)
            self._unseen(path, f"it cannot be read ({reason})")
            return
        if not stat.S_ISREG(state.st_mode):
            self._report(path, "it is no ordinary file")
        elif state.st_size > self.rules.max_bytes:
            self._unseen(
                path,
                f"it has {state.st_size:,} bytes, over the limit of {self.rules.max_bytes:,} "
                "([scan] max_bytes)",
            )
        else:
            self.files.append(FoundFile(path, state.st_size, state.st_mtime_ns))

    def _unseen(self, path: str, reason: str) -> None:
        self.unseen.append(path)
        self._report(path or ".", reason)

    def _report(self, path: str, reason: str) -> None:
        self.problems.append(Problem(path.encode("utf-8", "backslashreplace").decode(), reason))


def _composed(path: str) -> str:
    """A path as people type it; macOS keeps "が" in names as two characters."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def _storable(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
