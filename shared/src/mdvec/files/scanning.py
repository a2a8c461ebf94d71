"""Finds the files of a source folder."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pathspec import GitIgnoreSpec

from mdvec.errors import MdvecError
from mdvec.files.endings import DATA_ENDINGS, data_ending
from mdvec.files.problems import Problem, system_message
from mdvec.platform import followed
from mdvec.text import composed, has_long_ending

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
"""Folders that are never entered, like hidden ones."""
_NOT_UNICODE = re.compile("[\ud800-\udfff]")
"""Characters that stand for bytes in a path that are not UTF-8."""
FileState = tuple[int, int]
"""A file's size in bytes and its modification time in nanoseconds."""
_MOST_NS = 2**63 - 1
"""The latest time that the database can store (2262-04-11); file systems may have later ones."""


def state_of(*statuses: os.stat_result) -> FileState:
    """The state of a file, or of files that belong together: total size and latest time."""
    latest = max(status.st_mtime_ns for status in statuses)
    size = sum(status.st_size for status in statuses)
    return size, max(min(latest, _MOST_NS), -_MOST_NS)


class SourceMissing(MdvecError):
    """A tool's source folder or file does not exist."""

    def __init__(self, folder: Path, tool: str) -> None:
        what = "file" if data_ending(folder.name) in DATA_ENDINGS else "folder"
        super().__init__(
            f"the source {what} {folder} does not exist; restore it, or name another with: "
            f"mdvec tool update -n {tool} -s {what.upper()}"
        )


@dataclass(frozen=True, slots=True)
class ScanRules:
    """Which files to import: endings (in any case), gitignore-style patterns, a limit in bytes.

    A file must match one of ``include``, if there are any, and none of ``exclude``. ``formats`` are
    the endings that the user added for this tool, ``has_own_exclude`` says whether ``exclude`` was
    stated for it, None if that is not known: [scan] replaces neither.
    """

    extensions: tuple[str, ...]
    exclude: tuple[str, ...]
    max_bytes: int
    include: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    has_own_exclude: bool | None = False

    def json_fields(self) -> dict[str, object]:
        """The rules as JSON fields; those that only a tool can have are left out if unset."""
        own = ("include", "formats", "has_own_exclude")
        return {name: value for name, value in asdict(self).items() if value or name not in own}


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to import; ``path`` is relative to the source folder, with '/'."""

    path: str
    size: int
    mtime_ns: int

    @property
    def state(self) -> FileState:
        """Its size and modification time; while both are the same, the file is unchanged."""
        return self.size, self.mtime_ns


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of scanning a source folder.

    ``unseen`` lists folders that could not be read (with a trailing '/') and files that exist but
    cannot be imported; their stored content must not be deleted. ``others`` are files left out only
    because of their ending. ``has_left_out`` says whether patterns left out a file that has one of
    the endings. ``empty`` are folders below the source (with a trailing '/') that hold nothing but
    hidden files (such as .DS_Store of macOS), like the mount point of a disk that is not mounted.
    """

    files: tuple[FoundFile, ...]
    problems: tuple[Problem, ...]
    unseen: tuple[str, ...]
    others: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    has_left_out: bool = False

    @property
    def about_left_out(self) -> str:
        """The sentence on what patterns left out; "" if they left out nothing."""
        return (
            "the patterns of the tool (include, exclude) leave out files that are there; "
            "mdvec tool update changes them"
        ) * self.has_left_out

    def emptied(self, stored: Iterable[str]) -> tuple[str, ...]:
        """The empty folders that held ``stored`` paths."""
        had = {path[: end + 1] for path in stored for end, c in enumerate(path) if c == "/"}
        return tuple(folder for folder in self.empty if folder in had)

    def keeping_emptied(self, stored: Iterable[str]) -> Scan:
        """The scan with emptied folders added to ``unseen``, unless the source has no files."""
        return replace(self, unseen=(*self.unseen, *(self.emptied(stored) if self.files else ())))

    def may_still_have(self, path: str) -> bool:
        """Whether a path that the scan did not find may exist in an unreadable folder."""
        return any(
            path == hidden or not hidden or path.startswith(f"{hidden.rstrip('/')}/")
            for hidden in self.unseen
        )


def scan(source: Path, rules: ScanRules, tool: str) -> Scan:
    """Find every file under the ``source`` of a tool that the rules allow, sorted by path.

    Raises:
        SourceMissing: the folder does not exist.
    """
    if not source.is_dir():
        raise SourceMissing(source, tool)
    walk = _Walk(source, followed(source), rules)
    walk.run()
    return Scan(
        files=tuple(sorted(walk.files, key=lambda file: file.path)),
        problems=tuple(sorted(walk.problems, key=lambda problem: problem.file_path)),
        unseen=tuple(walk.unseen),
        others=tuple(sorted(walk.others)),
        empty=tuple(sorted(walk.empty)),
        has_left_out=walk.has_left_out,
    )


def scan_file(source: Path, tool: str) -> Scan:
    """The scan of a tool's source that is a single file.

    Raises:
        SourceMissing: the file does not exist.
    """
    try:
        state = source.stat()
    except OSError as error:
        raise SourceMissing(source, tool) from error
    file = FoundFile(source.name, *state_of(state))
    return Scan(files=(file,), problems=(), unseen=())


@dataclass
class _Walk:
    """State of one walk through a source folder."""

    source: Path
    root: Path
    rules: ScanRules
    files: list[FoundFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    linked: set[Path] = field(default_factory=set)
    has_left_out: bool = False

    def __post_init__(self) -> None:
        self._excluded = GitIgnoreSpec.from_lines(map(composed, self.rules.exclude))
        self._included = GitIgnoreSpec.from_lines(map(composed, self.rules.include))
        self._endings = {ending.lower() for ending in self.rules.extensions}
        self._long_endings = tuple(
            ending for ending in self._endings if ending.count(".") > 1 or ending[0] != "."
        )
        self._pending = [(str(self.source), "")]

    def run(self) -> None:
        """Visit the folder and everything below it."""
        while self._pending:
            self._visit(*self._pending.pop())

    def _visit(self, folder: str, prefix: str) -> None:
        if _NOT_UNICODE.search(prefix):
            self._report(prefix, "its name is not valid Unicode; rename it")
            return
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self._unseen(prefix, f"the folder cannot be read ({system_message(error)})")
            return
        if prefix and all(entry.name.startswith(".") for entry in entries):
            self.empty.append(prefix)
        for entry in entries:
            path = prefix + entry.name
            if entry.is_symlink():
                self._follow(entry, path)
            elif entry.is_dir(follow_symlinks=False):
                if not self._skipped_folder(entry.name, path):
                    self._pending.append((entry.path, f"{path}/"))
            elif self._is_wanted(path):
                self._take(entry, path)

    def _skipped_folder(self, name: str, path: str) -> bool:
        skipped = name.startswith(".") or name in SKIPPED_FOLDERS
        return skipped or self._matches_exclude(f"{path}/")

    def _is_wanted(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        # macOS writes "._name" beside a file on disks of other systems, Office "~$name" beside
        # one that it has open.
        ending = os.path.splitext(name)[1].lower()  # noqa: PTH122 - called once per file
        if name.startswith(("._", "~$")):
            return False
        is_taken = ending in self._endings or has_long_ending(name, self._long_endings)
        if self._matches_exclude(path) or not self._is_included(path):
            self.has_left_out |= is_taken
            return False
        if not is_taken and not _NOT_UNICODE.search(path):
            self.others.append(path)
        return is_taken

    def _matches_exclude(self, path: str) -> bool:
        return bool(self.rules.exclude) and self._excluded.match_file(composed(path))

    def _is_included(self, path: str) -> bool:
        return not self.rules.include or self._included.match_file(composed(path))

    def _follow(self, entry: os.DirEntry[str], path: str) -> None:
        """Follow a symbolic link whose target is within the source; report any other."""
        try:
            target = Path(os.path.realpath(entry.path, strict=True))
        except OSError:
            if self._is_wanted(path):
                self._unseen(path, "the link leads nowhere")
            return
        is_folder = target.is_dir()
        if self._skipped_folder(entry.name, path) if is_folder else not self._is_wanted(path):
            return
        if not target.is_relative_to(self.root):
            self._report(path, "the link leads out of the source folder; it was not followed")
        elif is_folder:
            self._follow_folder(entry, path, target)
        else:
            self._take(entry, path)

    def _follow_folder(self, entry: os.DirEntry[str], path: str, target: Path) -> None:
        if followed(Path(entry.path).parent).is_relative_to(target):
            self._report(path, "the link leads back to a folder that it lies in")
        elif target in self.linked:
            self._report(path, "the link leads to a folder that another link brought in already")
        else:
            self.linked.add(target)
            self._pending.append((entry.path, f"{path}/"))

    def _take(self, entry: os.DirEntry[str], path: str) -> None:
        if _NOT_UNICODE.search(path):
            self._report(path, "its name is not valid Unicode; rename it")
            return
        try:
            state = entry.stat()
        except OSError as error:
            reason = "it vanished" if error.errno == errno.ENOENT else system_message(error)
            self._unseen(path, f"it cannot be read ({reason})")
            return
        if not stat.S_ISREG(state.st_mode):
            self._report(path, "it is not a regular file")
        elif state.st_size > self.rules.max_bytes:
            self._unseen(
                path,
                f"it has {state.st_size:,} bytes, over the limit of {self.rules.max_bytes:,} "
                "([scan] max_bytes)",
            )
        else:
            self.files.append(FoundFile(path, *state_of(state)))

    def _unseen(self, path: str, reason: str) -> None:
        self.unseen.append(path)
        self._report(path or ".", reason)

    def _report(self, path: str, reason: str) -> None:
        self.problems.append(Problem(path.encode("utf-8", "backslashreplace").decode(), reason))
