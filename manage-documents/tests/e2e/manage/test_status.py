"""`mdvec status`: an overview of all tools, or one in detail."""

import re
import shlex
import subprocess

import pytest
from mdvec.manage.registering import add_tool
from mdvec.text.one_line import local_time

COMMANDS = [
    "status", "tool ls --all", "import -n notes", "tool disable -n notes",
    "tool delete -n notes -y",
]  # fmt: skip
ISO_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def test_commands_on_a_missing_database_say_how_to_add_one_and_create_nothing(mdvec):
    before = mdvec.files()
    for done in mdvec.each(*COMMANDS):
        assert (done.code, done.out) == (1, "")
        assert done.err == (
            f"error: there is no database at {mdvec.database}; begin with: "
            'mdvec tool add -n NAME -d "what it contains" -s FOLDER\n'
        )
    assert mdvec.files() == before


def test_by_default_the_database_is_in_the_users_data_folder(mdvec):
    done = mdvec("tool", "add", "-n", "notes", "-d", "d", "-s", "docs", MDVEC_DATABASE_PATH=None)
    assert done.code == 0
    assert [path for path in mdvec.files() if path.endswith("/mdvec/vector-db.sqlite")] != []
    assert not (mdvec.work / "vector-db.sqlite").exists()


def test_the_overview_lists_all_tools_and_the_files_size(notes):
    add_tool(notes.database, "empty", "d", notes.docs, "markdown")
    notes("tool", "disable", "-n", "empty")
    plain, as_json = notes.each("status", "status --format json")
    found = as_json.json
    imported = found["tools"][1].pop("last_import_at")
    assert ISO_UTC.fullmatch(imported)
    assert found == {
        "database": str(notes.database),
        "file_size": notes.database.stat().st_size,
        "tools": [
            {"name": "empty", "kind": "markdown", "is_active": False, "documents": 0,
             "vectors": 0, "model": None, "last_import_at": None, "tables": None, "rows": None,
             "unfinished": None, "engine": None, "unsent": 0},
            {"name": "notes", "kind": "markdown", "is_active": True, "documents": 3,
             "vectors": 4, "model": "use", "tables": None, "rows": None, "unfinished": None,
             "engine": "sqlite", "unsent": 0},
        ],
        "warnings": [],
    }  # fmt: skip
    size = f"{found['file_size'] / 1024:.1f} kB"
    assert plain.out == (
        f"database: {notes.database} ({size})\n"
        "name\tactive\tkind\tdocuments\tvectors\tmodel\tlast import\n"
        "empty\tno\tmarkdown\t0\t0\t-\t-\n"
        f"notes\tyes\tmarkdown\t3\t4\tuse\t{local_time(imported)}\n"
    )
    assert (plain.code, plain.err) == (0, "")


def test_one_tool_shows_its_documents_and_the_statistics_of_its_vectors(notes):
    details = notes("status", "--name", "notes", "--format", "json").json
    documents = details["documents"]
    assert [(line["file_path"], line["title"], line["chunks"]) for line in documents] == [
        ("git/worktrees.md", "Git worktrees", 1),
        ("water.md", "水の備え", 2),
        ("米.txt", "米", 1),
    ]
    shown = {key: details[key] for key in ("document_count", "vector_count", "dimension", "model")}
    assert shown == {"document_count": 3, "vector_count": 4, "dimension": 512, "model": "use"}
    assert details["fingerprint"].startswith("use@")
    assert details["chunking"] == {
        "strategy": "heading", "size": 192, "overlap": 48, "heading_levels": [1, 2, 3],
        "min_chars": 50, "cut": 2,
    }  # fmt: skip
    numbers = details["statistics"]
    assert (numbers["count"], numbers["embedding_bytes"]) == (4, 4 * 512 * 4)
    assert 0 < numbers["shortest"] < numbers["mean"] < numbers["longest"]


def test_the_details_in_plain_lines_are_names_and_values(notes):
    lines = notes("status", "-n", "notes").out.splitlines()
    assert lines[0] == "fact\tvalue"
    facts = dict(line.split("\t") for line in lines[1:16])
    assert facts["source"] == str(notes.docs)
    assert facts["chunks"] == "heading, up to 192 tokens, overlap 48"
    assert (facts["documents"], facts["vectors"], facts["embeddings"]) == ("3", "4", "8.0 kB")
    assert [line.split("\t")[0] for line in lines[16:]] == [
        "file", "git/worktrees.md", "water.md", "米.txt",
    ]  # fmt: skip


def test_many_documents_are_a_page_unless_all_are_asked_for(mdvec, fill):
    for number in range(52):
        mdvec.write(f"{number:02}.md", f"# {number}\n")
    fill()
    page, whole = mdvec.each("status -n notes", "status -n notes --all")
    assert page.err == "… 2 more; to list them: mdvec status -n notes --all\n"
    assert page.out.splitlines()[-1].startswith("49.md\t")
    assert (whole.err, whole.out.splitlines()[-1].partition("\t")[0]) == ("", "51.md")
    assert len(mdvec("status", "-n", "notes", "--format", "json").json["documents"]) == 52


def test_times_are_local_and_name_their_zone(notes):
    lines = notes.process("status", TZ="Asia/Tokyo").out.splitlines()
    assert lines[2].endswith(" JST")


def test_times_in_json_are_utc_and_say_so(notes):
    one, listed = notes.each("status -n notes --format json", "tool ls --all --format json")
    times = [one.json[name] for name in ("last_import_at", "created_at", "updated_at")]
    times += [one.json["documents"][0]["updated_at"], listed.json["tools"][0]["last_import_at"]]
    assert [time for time in times if not ISO_UTC.fullmatch(time)] == []


def test_a_tool_that_was_never_imported_has_details_too(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    plain, as_json = mdvec.each("status -n notes", "status -n notes --format json")
    assert (plain.code, as_json.code) == (0, 0)
    assert "model\t-\nchunks\t-\n" in plain.out
    assert (as_json.json["last_import_at"], as_json.json["documents"]) == (None, [])


def test_a_file_open_to_others_is_reported_with_the_chmod_command(notes):
    assert notes.database.stat().st_mode & 0o077 == 0
    database = notes.database = notes.database.rename(notes.work / "my notes.sqlite")
    notes.environment["MDVEC_DATABASE_PATH"] = str(database)
    for mode in (0o644, 0o640, 0o602):
        database.chmod(mode)
        plain, as_json = notes.each("status", "status --format json")
        warning = (
            f"other users can open {database} ({mode:04o}); to change that: chmod 600 '{database}'"
        )
        assert (plain.code, plain.err) == (0, f"warning: {warning}\n")
        assert (as_json.err, as_json.json["warnings"]) == ("", [warning])
        notes("tool", "update", "-n", "notes", "-d", "others")
        assert database.stat().st_mode & 0o777 == mode
    subprocess.run(shlex.split(warning.partition("to change that: ")[2]), check=True)
    assert (notes("status").err, database.stat().st_mode & 0o777) == ("", 0o600)


@pytest.mark.parametrize("asked", [[], ["--format", "table"]])
def test_a_database_without_tools_says_how_to_add_one(mdvec, asked):
    mdvec.database.touch(mode=0o600)
    done = mdvec("status", *asked)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"database: {mdvec.database} (0 B)\n"
        'no tools yet; add one with: mdvec tool add -n NAME -d "what it contains" -s FOLDER\n'
    )
    assert mdvec.database.stat().st_size == 0


def test_the_tags_of_a_tool_are_listed_with_their_counts(mdvec, fill):
    mdvec.write("a.md", "---\ntags: [会議, work/a]\n---\n本文。\n")
    mdvec.write("b.md", "本文 #会議 です。\n")
    fill()
    told, as_json = mdvec.each("status -n notes", "status -n notes --format json")
    assert "tags\t会議 (2), work/a (1)" in told.out.splitlines()
    assert as_json.json["tags"] == [
        {"tag": "会議", "documents": 2}, {"tag": "work/a", "documents": 1},
    ]  # fmt: skip
