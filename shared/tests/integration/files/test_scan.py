"""Finds and reads the files of a folder, independent of file modes."""

import hashlib
import os
import socket
import unicodedata
from contextlib import contextmanager

import pytest
from table_of_cases import each

from mdvec.files.problems import Problem, UnreadableFile
from mdvec.files.reading import FileBytes, decode_text, read_bytes
from mdvec.files.scanning import FoundFile, ScanRules, SourceMissing, scan, state_of
from mdvec.text import HAS_NUL

RULES = ScanRules(extensions=(".md", ".markdown", ".txt"), exclude=(), max_bytes=1000)


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def fill(folder, *paths):
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text", encoding="utf-8")


def found(folder, **rules):
    return [file.path for file in scan(folder, changed(**rules), "notes").files]


def changed(**rules):
    return ScanRules(**{"extensions": RULES.extensions, "exclude": (), "max_bytes": 1000, **rules})


def test_a_found_file_has_its_path_size_and_time(source):
    fill(source, "sub/深い/a.md")
    os.utime(source / "sub/深い/a.md", ns=(1, 1_700_000_000_123_456_789))
    result = scan(source, RULES, "notes")
    assert result.files == (FoundFile("sub/深い/a.md", 4, 1_700_000_000_123_456_789),)
    assert (result.problems, result.unseen) == ((), ())


@pytest.mark.parametrize(("times", "stored"), [
    ((10**19, 3), 2**63 - 1), ((-(10**19),), 1 - 2**63), ((3, 5), 5),
])  # fmt: skip
def test_a_time_that_the_database_cannot_store_is_the_nearest_one_it_can(times, stored):
    files = [os.stat_result([0] * 6 + [2] + [0] * 3, {"st_mtime_ns": time}) for time in times]
    assert state_of(*files) == (2 * len(files), stored)


def test_files_are_sorted_by_path_and_other_endings_skipped(source):
    fill(source, "b.md", "a.txt", "c/a.markdown", "d.mdx", "e.md.bak", "md", "x.png", "Z.md")
    assert found(source) == ["Z.md", "a.txt", "b.md", "c/a.markdown"]


def test_endings_match_in_any_case(source):
    fill(source, "A.MD", "b.Txt", "c.md")
    assert found(source, extensions=(".MD",)) == ["A.MD", "c.md"]
    assert found(source) == ["A.MD", "b.Txt", "c.md"]


def test_hidden_and_machine_made_folders_are_not_entered(source):
    fill(
        source, ".git/a.md", ".rag-index/a.md", ".obsidian/a.md", "node_modules/a.md",
        "sub/node_modules/x/a.md", "__pycache__/a.md", "sub/.hidden/a.md", "kept/a.md",
        "node_modules.md", "my_node_modules/a.md",
    )  # fmt: skip
    assert found(source) == ["kept/a.md", "my_node_modules/a.md", "node_modules.md"]


def test_files_that_macos_and_office_write_beside_are_skipped_but_hidden_notes_are_not(source):
    fill(source, "._a.md", "~$a.md", "a.md", ".draft.md")
    assert found(source) == [".draft.md", "a.md"]


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        (("drafts/",), ["a.md", "b.tmp.md", "sub/a.md"]),
        (("*.tmp.md",), ["a.md", "drafts/a.md", "drafts/keep.md", "sub/a.md", "sub/drafts/a.md"]),
        (("/drafts",), ["a.md", "b.tmp.md", "sub/a.md", "sub/drafts/a.md"]),
        (("drafts/*", "!keep.md", "# note", ""),
         ["a.md", "b.tmp.md", "drafts/keep.md", "sub/a.md", "sub/drafts/a.md"]),
        (("**/a.md",), ["b.tmp.md", "drafts/keep.md"]),
        (("*",), []),
    ],
)  # fmt: skip
def test_excluded_patterns_work_as_in_gitignore(source, patterns, left):
    fill(source, "a.md", "b.tmp.md", "drafts/a.md", "drafts/keep.md", "sub/a.md", "sub/drafts/a.md")
    assert found(source, exclude=patterns) == left


@pytest.mark.parametrize("typed", ["NFC", "NFD"])
@pytest.mark.parametrize("on_disk", ["NFC", "NFD"])
def test_excluded_patterns_may_be_typed_in_either_unicode_form(source, typed, on_disk):
    fill(source, *(unicodedata.normalize(on_disk, name) for name in ("a.md", "ガス/b.md", "ダ.md")))
    patterns = ("ガス/", "*.md", "!a.md", "!ダ.md")
    left = found(source, exclude=[unicodedata.normalize(typed, line) for line in patterns])
    assert left == ["a.md", unicodedata.normalize(on_disk, "ダ.md")]


def test_a_file_over_the_limit_is_reported_and_counts_as_unseen(source):
    (source / "big.md").write_bytes(b"x" * 1001)
    (source / "fits.md").write_bytes(b"x" * 1000)
    result = scan(source, RULES, "notes")
    assert [file.path for file in result.files] == ["fits.md"]
    assert result.unseen == ("big.md",)
    assert result.problems == (
        Problem("big.md", "it has 1,001 bytes, over the limit of 1,000 ([scan] max_bytes)"),
    )


def test_links_within_the_folder_are_followed(source):
    fill(source, "real/a.md")
    (source / "b.md").symlink_to("real/a.md")
    (source / "linked").symlink_to("real", target_is_directory=True)
    result = scan(source, RULES, "notes")
    assert [file.path for file in result.files] == ["b.md", "linked/a.md", "real/a.md"]
    assert result.problems == ()


def test_links_that_leave_the_folder_are_reported_and_not_followed(source, tmp_path):
    fill(tmp_path, "outside/a.md", "notes-2/a.md")
    (source / "out").symlink_to(tmp_path / "outside", target_is_directory=True)
    (source / "sibling").symlink_to(tmp_path / "notes-2", target_is_directory=True)
    (source / "out.md").symlink_to("../outside/a.md")
    (source / "chain.md").symlink_to("out.md")
    (source / "picture.png").symlink_to("../outside/a.md")
    (source / ".git").symlink_to(tmp_path / "outside", target_is_directory=True)
    result = scan(source, RULES, "notes")
    reason = "the link leads out of the source folder; it was not followed"
    assert result.files == ()
    assert result.problems == tuple(
        Problem(path, reason) for path in ["chain.md", "out", "out.md", "sibling"]
    )


def test_broken_links_with_a_documents_ending_are_reported(source):
    (source / "gone.md").symlink_to("no-such-file.md")
    (source / "self.md").symlink_to("self.md")
    (source / "gone.png").symlink_to("no-such-file.png")
    result = scan(source, RULES, "notes")
    assert result.problems == tuple(
        Problem(path, "the link leads nowhere") for path in ["gone.md", "self.md"]
    )
    assert set(result.unseen) == {"gone.md", "self.md"}


def test_circular_links_end(source):
    fill(source, "a/x.md", "b/y.md")
    (source / "a" / "up").symlink_to("..", target_is_directory=True)
    (source / "a" / "to-b").symlink_to("../b", target_is_directory=True)
    (source / "b" / "to-a").symlink_to("../a", target_is_directory=True)
    result = scan(source, RULES, "notes")
    assert {file.path for file in result.files} >= {"a/x.md", "b/y.md"}
    assert len(result.files) <= 6
    up = Problem("a/up", "the link leads back to a folder that it lies in")
    assert up in result.problems


def test_of_two_links_to_a_folder_always_the_same_one_counts(source):
    fill(source, "real/a.md")
    for name in ("z", "m", "k"):
        (source / name).symlink_to("real", target_is_directory=True)
    assert found(source) == ["k/a.md", "real/a.md"]


def test_a_folder_that_is_a_link_itself_is_walked(source, tmp_path):
    fill(source, "a.md")
    (tmp_path / "link").symlink_to(source, target_is_directory=True)
    assert found(tmp_path / "link") == ["a.md"]


def test_pipes_sockets_and_folders_are_not_documents(source, monkeypatch):
    fill(source, "folder.md/a.md")
    os.mkfifo(source / "pipe.md")
    os.mkfifo(source / "pipe")
    monkeypatch.chdir(source)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        result = scan(source, RULES, "notes")
    assert [file.path for file in result.files] == ["folder.md/a.md"]
    assert result.problems == (
        Problem("pipe.md", "it is not a regular file"),
        Problem("socket.md", "it is not a regular file"),
    )


def test_names_that_are_not_unicode_are_reported_if_they_end_like_documents(source):
    folder = os.fsencode(source)
    try:
        os.mkdir(folder + b"/d\xff")  # noqa: PTH102 - bytes
    except OSError:
        return  # this file system has Unicode names only
    os.mkdir(folder + b"/.\xff")  # noqa: PTH102
    for name in (b"\xff.md", b"\xff.png", b".\xff/a.md", b"d\xff/a.md"):
        os.close(os.open(folder + b"/" + name, os.O_CREAT))
    result = scan(source, RULES, "notes")
    assert result.files == ()
    assert result.problems == (
        Problem("\\udcff.md", "its name is not valid Unicode; rename it"),
        Problem("d\\udcff/", "its name is not valid Unicode; rename it"),
    )


@contextmanager
def below(folder, name, depth):
    """The innermost of nested folders, deeper than the longest possible path."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        above, here = here, os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(above)
    try:
        yield here
    finally:
        for _ in range(depth):
            lower, here = here, os.open("..", os.O_RDONLY, dir_fd=here)
            os.close(lower)
            os.rmdir(name, dir_fd=here)
        os.close(here)


def test_a_folder_too_deep_to_read_is_reported_and_the_rest_is_found(source):
    fill(source, "a.md")
    name = "d" * 250
    with below(source, name, 20):
        result = scan(source, RULES, "notes")
    assert [file.path for file in result.files] == ["a.md"]
    (problem,) = result.problems
    assert problem.reason == "the folder cannot be read (file name too long)"
    assert problem.file_path.endswith(f"/{name}/")
    assert result.unseen == (problem.file_path,)


def test_a_folder_is_walked_however_deep_it_goes(source):
    with below(source, "d", 1200) as lowest:
        os.close(os.open("a.md", os.O_CREAT, dir_fd=lowest))
        paths = found(source)
        os.unlink("a.md", dir_fd=lowest)
    assert paths == ["d/" * 1200 + "a.md"]


def test_a_missing_folder_is_refused(source, tmp_path):
    fill(tmp_path, "file")
    for missing in (source / "none", tmp_path / "file"):
        with pytest.raises(SourceMissing, match="mdvec tool update -n notes -s FOLDER"):
            scan(missing, RULES, "notes")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("猫 😀 ～①".encode(), "猫 😀 ～①"),
        (b"\xef\xbb\xbf" + "猫".encode(), "猫"),
        ("①㈱髙～ｶﾞ\\ 猫".encode("cp932"), "①㈱髙～ｶﾞ\\ 猫"),
        (b"a\r\nb\rc\n", "a\r\nb\rc\n"),
        (b"", ""),
        (b"\xef\xbb\xbf", ""),
        ("nbsp\u00a0\u0080".encode(), "nbsp\u00a0\u0080"),
    ],
)
def test_text_is_read_exactly_with_the_hash_of_its_bytes(source, data, text):
    (source / "a.md").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    assert read_bytes(source, "a.md") == FileBytes(data, digest)
    assert decode_text(data) == text


@each("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_its_mark_is_read_as_notepad_saves_it(encoding):
    assert decode_text("\ufeff# 猫\r\n".encode(encoding)) == "# 猫\r\n"


@each(
    ("data", "reason"),
    [
        (b"caf\xe9", "it is neither UTF-8 nor cp932 (Shift_JIS); save it as UTF-8"),
        (b"\xffabc", "it is neither UTF-8 nor cp932 (Shift_JIS); save it as UTF-8"),
        (b"price\xa0100", "it is neither UTF-8 nor cp932 (Shift_JIS); save it as UTF-8"),
        ("猫".encode() + b"\xfc", "it is neither UTF-8 nor cp932 (Shift_JIS); save it as UTF-8"),
        (b"text\0text", HAS_NUL),
        ("猫".encode("utf-16")[:-1], "it is damaged UTF-16; save it as UTF-8"),
        ("猫\0".encode("utf-16"), "it contains NUL characters, so it is not text"),
        ("cat".encode("utf-16-le"), HAS_NUL),
    ],
)
def test_files_that_are_not_text_are_refused_with_the_reason(data, reason):
    with pytest.raises(UnreadableFile) as refused:
        decode_text(data)
    assert str(refused.value) == reason


def test_a_file_that_vanished_and_one_that_cannot_be_read_are_told_apart(source):
    with pytest.raises(UnreadableFile, match="it vanished while the import ran"):
        read_bytes(source, "gone.md")
    with pytest.raises(UnreadableFile, match=r"it cannot be read \(file name too long\)"):
        read_bytes(source, "x" * 300)
