"""`mdvec compact` frees unused space and says how much."""

import re
import signal

from mdvec.manage.registering import find_tool
from mdvec.manage.status import overview
from mdvec.tools import only_import_of

WAITS = "an import of 'notes' (or mdvec compact) is running; waiting for it to end …\n"


def test_it_says_how_many_bytes_it_freed_as_text_and_as_json(notes, fill):
    fill("other")
    notes("tool", "delete", "-n", "other", "-y")
    before = notes.database.stat().st_size
    done, again = notes.each("compact", "compact --format json")
    after = notes.database.stat().st_size
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"{notes.database}: {before - after:,} bytes freed "
        f"({before / 1024:.1f} kB before, {after / 1024:.1f} kB now)\n"
    )
    assert before - after > 20_000
    assert again.json == {
        "database": str(notes.database), "size_before": after, "size_after": after,
        "bytes_given_back": 0, "is_complete": True,
    }  # fmt: skip
    assert "water.md:1-3" in notes("search", "-n", "notes", "水の備え").out
    assert sorted(path.name for path in notes.work.iterdir()) == ["db.sqlite", "docs"]


def test_it_waits_for_an_import_and_ctrl_c_ends_the_wait(notes):
    tool = find_tool(notes.database, "notes")
    with only_import_of(notes.database, tool, print):
        process = notes.start("compact")
        assert process.stderr.readline() == WAITS
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=60)
        assert (process.returncode, out) == (130, "")
        assert said == ("stopped; the database is unchanged, and mdvec compact can be repeated\n")
        process = notes.start("compact")
        assert process.stderr.readline() == WAITS
    out, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "")
    assert re.fullmatch(r".*: [\d,]+ bytes freed \(.*\)\n", out)
    assert overview(notes.database).tools[0].vectors == 4


def test_without_a_database_it_says_how_to_add_one(mdvec):
    done = mdvec("compact")
    assert (done.code, done.out) == (1, "")
    assert "begin with: mdvec tool add" in done.err
    assert not mdvec.database.exists()
