"""The folder of exports: handles, expiry, the size limit and privacy."""

import os
import re
from pathlib import Path

import pytest
from table_of_cases import each

from mdvec.analysis.errors import (
    ExportExceedsTotal,
    ExportFolderUnusable,
    ExportMissing,
    NotAHandle,
)
from mdvec.analysis.exports import Export, ExportFolder

NOON = 1_767_355_200.0  # 2026-01-02T12:00:00Z
HANDLE = "export_20260102T120000Z_00112233445566778899aabbccddeeff.parquet"


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def exports(tmp_path, clock):
    return ExportFolder(tmp_path / "cache" / "exports", 3600, 1000, clock=clock)


def finished(tmp_path, size=10):
    path = tmp_path / f"finished_{os.urandom(4).hex()}"
    path.write_bytes(b"x" * size)
    return path


def placed(exports, tmp_path, size=10, fmt="parquet"):
    return exports.place(finished(tmp_path, size), fmt=fmt)


def names(exports):
    return sorted(path.name for path in exports.folder.iterdir())


def mode(path):
    return path.stat().st_mode & 0o777


def test_a_finished_file_gets_a_handle_and_an_expiry(exports, tmp_path):
    source = finished(tmp_path)
    export = exports.place(source, fmt="csv")
    assert re.fullmatch(r"export_20260102T120000Z_[0-9a-f]{32}\.csv", export.handle)
    assert export == Export(export.handle, size=10, expires=export.expires)
    assert (export.made, export.expires_at) == ("20260102T120000Z", "2026-01-02T13:00:00Z")
    assert not source.exists()
    assert exports.path_of(export.handle).read_bytes() == b"x" * 10


def test_only_the_user_can_read_exports(exports, tmp_path):
    source = finished(tmp_path)
    source.chmod(0o644)
    export = exports.place(source)
    assert mode(exports.folder) == 0o700
    assert mode(exports.path_of(export.handle)) == 0o600


def test_handles_of_one_second_are_unguessable_from_each_other(exports, tmp_path):
    handles = {placed(exports, tmp_path).handle for _ in range(20)}
    assert len({handle[25:] for handle in handles}) == 20


def test_an_open_folder_with_other_files_is_refused_and_unchanged(exports, tmp_path):
    exports.folder.mkdir(parents=True)
    (exports.folder / "letter.txt").write_text("dear")
    exports.folder.chmod(0o755)
    with pytest.raises(ExportFolderUnusable, match="holds other files too; name a folder of its"):
        placed(exports, tmp_path)
    assert mode(exports.folder) == 0o755
    assert names(exports) == ["letter.txt"]


def test_a_link_in_place_of_the_folder_is_refused(exports, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    exports.folder.parent.mkdir()
    exports.folder.symlink_to(tmp_path / "elsewhere")
    for attempt in (lambda: placed(exports, tmp_path), lambda: exports.path_of(HANDLE)):
        with pytest.raises(ExportFolderUnusable, match="is a link, a file or not readable"):
            attempt()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_in_place_of_the_folder_is_refused(exports, tmp_path):
    exports.folder.parent.mkdir()
    exports.folder.write_text("not a folder")
    with pytest.raises(ExportFolderUnusable, match="is a link, a file or not readable"):
        placed(exports, tmp_path)


def test_a_folder_of_another_user_is_refused(tmp_path):
    folder = Path("/usr")
    if os.getuid() == 0:
        folder = tmp_path / "given"
        folder.mkdir(mode=0o700)
        os.chown(folder, 12345, -1)
    with pytest.raises(ExportFolderUnusable, match="belongs to another user"):
        placed(ExportFolder(folder, 3600, 1000), tmp_path)


@each(
    "handle",
    [
        "",
        "/etc/passwd",
        "../" + HANDLE,
        "./" + HANDLE,
        f"sub/{HANDLE}",
        HANDLE + "\n",
        HANDLE + "\0",
        HANDLE.upper(),
        HANDLE.replace("parquet", "duckdb"),
        HANDLE.replace("0", "٠"),
        "export_20260102T120000Z_.parquet",
        "runs",
        None,
        b"export",
    ],
)
def test_text_that_is_not_a_handle_is_refused_unread(exports, handle):
    with pytest.raises(NotAHandle) as refused:
        exports.path_of(handle)
    assert str(refused.value) == (
        "this is not the handle of an export: pass what export gave as 'handle', "
        "export_<time>_<id>.parquet or .csv, without a folder; paths are not read"
    )


def test_an_unknown_handle_says_what_to_do_and_creates_no_folder(exports):
    with pytest.raises(ExportMissing) as missing:
        exports.path_of(HANDLE)
    assert str(missing.value) == (
        f"there is no export {HANDLE}: it expired (exports stay 3600 s), or was made from another "
        "database, on another machine or under another [analytics] folder; call export again"
    )
    assert not exports.folder.exists()


def test_a_database_has_only_its_own_exports_of_the_folder_that_all_share(tmp_path, clock):
    def of(name):
        return ExportFolder(tmp_path / "exports", 3600, 25, tmp_path / name, clock=clock)

    mine, others = of("a.db"), of("b.db")
    handle = placed(mine, tmp_path).handle
    clock.now += 1
    other = placed(others, tmp_path).handle
    assert [export.handle for export in mine.list()] == [handle]
    assert mine.made_from(handle) == {}
    with pytest.raises(ExportMissing, match="from another database"):
        mine.path_of(other)
    assert others.path_of(other).name == other  # and it is still there
    clock.now += 1
    assert placed(others, tmp_path).dropped == (handle,)  # the limit is that of all


def test_a_link_under_a_handles_name_is_not_read(exports, tmp_path):
    placed(exports, tmp_path)
    link = exports.folder / HANDLE
    link.symlink_to(finished(tmp_path))
    os.utime(link, (NOON, NOON), follow_symlinks=False)
    with pytest.raises(ExportMissing):
        exports.path_of(HANDLE)
    assert HANDLE not in [export.handle for export in exports.list()]


def test_an_export_is_deleted_when_it_expires(exports, tmp_path, clock):
    export = placed(exports, tmp_path)
    clock.now += 3599
    assert exports.path_of(export.handle).exists()
    clock.now += 1
    assert exports.list() == []
    with pytest.raises(ExportMissing, match="it expired"):
        exports.path_of(export.handle)
    assert names(exports) == []


def test_servers_that_keep_exports_longer_or_shorter_agree_when_one_expires(
    exports, tmp_path, clock
):
    others = [ExportFolder(exports.folder, ttl, 1000, clock=clock) for ttl in (1, 86_400)]
    own = placed(exports, tmp_path, fmt="csv")
    lasting = exports.place(finished(tmp_path), ttl_seconds=7200)
    for folder in (exports, *others):
        assert [export.expires_at for export in folder.list()] == [
            "2026-01-02T13:00:00Z",
            "2026-01-02T14:00:00Z",
        ]
    clock.now += 3600
    assert [folder.sweep() for folder in (*others, exports)] == [[own.handle], [], []]
    assert others[0].path_of(lasting.handle).exists()


def test_a_clock_set_back_does_not_keep_files_forever(exports, tmp_path, clock):
    export = placed(exports, tmp_path)
    clock.now -= 3600
    assert exports.sweep() == [export.handle]


def test_a_name_with_an_impossible_time_stops_no_export(exports, tmp_path):
    placed(exports, tmp_path)
    odd = exports.folder / f"export_20269999T999999Z_{'0' * 32}.csv"
    odd.write_bytes(b"x")
    placed(exports, tmp_path)
    assert len(exports.list()) == 2
    assert not odd.exists()


def test_a_restart_keeps_the_handles_and_their_time(exports, tmp_path, clock):
    export = placed(exports, tmp_path)
    clock.now += 1800
    restarted = ExportFolder(exports.folder, 3600, 1000, clock=clock)
    assert restarted.path_of(export.handle).exists()
    assert [(one.handle, one.size, one.expires_at) for one in restarted.list()] == [
        (export.handle, 10, "2026-01-02T13:00:00Z")
    ]
    assert restarted.next_expiry() == NOON + 3600


def test_the_oldest_exports_make_room_and_are_named(exports, tmp_path, clock):
    handles = []
    for _ in range(3):
        handles.append(placed(exports, tmp_path, size=300).handle)
        clock.now += 1
    newest = placed(exports, tmp_path, size=500)
    assert newest.dropped == (handles[0], handles[1])
    assert [export.handle for export in exports.list()] == [handles[2], newest.handle]


def test_one_file_over_the_limit_is_refused_and_removed(exports, tmp_path):
    kept = placed(exports, tmp_path)
    source = finished(tmp_path, 1001)
    with pytest.raises(ExportExceedsTotal) as refused:
        exports.place(source)
    assert str(refused.value) == (
        "the result has 1,001 bytes as parquet, and all exports together may have 1,000; select "
        "fewer columns or rows, aggregate, or raise [analytics] max_total_mb"
    )
    assert not source.exists()
    assert names(exports) == [kept.handle]


def test_a_sweep_deletes_expired_exports_and_no_other_files(exports, tmp_path, clock):
    old = placed(exports, tmp_path)
    (exports.folder / "notes.txt").write_text("mine")
    clock.now += 3000
    young = placed(exports, tmp_path)
    clock.now += 600
    assert exports.sweep() == [old.handle]
    assert names(exports) == [young.handle, "notes.txt"]


def test_expired_exports_go_first_when_a_new_one_comes(exports, tmp_path, clock):
    placed(exports, tmp_path, size=900)
    clock.now += 3600
    assert placed(exports, tmp_path, size=900).dropped == ()


def test_before_the_first_export_there_is_no_folder(exports):
    assert (exports.list(), exports.sweep(), exports.next_expiry()) == ([], [], None)
    assert not exports.folder.exists()


def test_an_open_folder_with_only_our_files_is_made_private(exports, tmp_path):
    with_types(exports, tmp_path)
    (exports.folder / "spool_0123456789abcdef").mkdir()
    exports.folder.chmod(0o755)
    assert len(exports.list()) == 1
    assert mode(exports.folder) == 0o700


def test_unfinished_exports_of_query_processes_stay(exports, tmp_path, clock):
    (exports.folder / "spool_0123456789abcdef").mkdir(parents=True)
    clock.now += 10**6
    assert exports.sweep() == []
    assert names(exports) == ["spool_0123456789abcdef"]


def with_types(exports, tmp_path, size=10):
    return exports.place(
        finished(tmp_path, size),
        types={"day": "DATE", "金額": "BIGINT"},
        made_from={"sales": "10 7 3"},
        fmt="csv",
    )


def test_a_csv_file_keeps_its_types_beside_it_as_private_as_itself(exports, tmp_path):
    export = with_types(exports, tmp_path)
    assert exports.types_of(export.handle) == {"day": "DATE", "金額": "BIGINT"}
    assert exports.made_from(export.handle) == {"sales": "10 7 3"}
    beside = [f"{export.handle}.from", f"{export.handle}.types"]
    assert names(exports) == [export.handle, *beside]
    assert [mode(path) for path in exports.folder.iterdir()] == [0o600] * 3
    assert [one.handle for one in exports.list()] == [export.handle]
    plain = placed(exports, tmp_path).handle
    assert (exports.types_of(plain), exports.made_from(plain)) == (None, {})
    with pytest.raises(NotAHandle):
        exports.path_of(f"{export.handle}.types")


def test_the_types_go_with_their_file(exports, tmp_path, clock):
    export = with_types(exports, tmp_path, 600)
    assert with_types(exports, tmp_path, 600).dropped == (export.handle,)
    clock.now += 3600
    with pytest.raises(ExportMissing):
        exports.path_of(names(exports)[0])
    assert names(exports) == []
    with_types(exports, tmp_path)
    clock.now += 3600
    assert len(exports.sweep()) == 1
    assert names(exports) == []


def test_orphaned_types_are_swept_too(exports, tmp_path, clock):
    export = with_types(exports, tmp_path)
    exports.path_of(export.handle).unlink()
    assert exports.sweep() == []
    assert names(exports) == [f"{export.handle}.from", f"{export.handle}.types"]
    clock.now += 3600
    exports.sweep()
    assert names(exports) == []
