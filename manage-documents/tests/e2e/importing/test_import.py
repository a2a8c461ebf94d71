"""`mdvec import`: what it imports, updates, refuses and reports."""

import json
import re

from mdvec.converters import NEW_TOOL_ENDINGS
from mdvec.manage.registering import add_tool
from mdvec.text import HAS_NUL

READ = (".md", ".markdown", ".mdx", ".txt", *NEW_TOOL_ENDINGS)
REPORT = [
    "tool", "mode", "model", "added", "updated", "deleted", "unchanged", "failed", "chunks",
    "chunks_embedded", "seconds", "chunks_pending", "undecided", "ledger",
    "duplicate_candidates", "transfer_candidates", "bill_candidates", "dataset", "hints",
]  # fmt: skip


def documents(mdvec):
    """The paths of the documents of ``notes`` with their numbers of chunks."""
    lines = mdvec("status", "-n", "notes", "--format", "json").json["documents"]
    return {line["file_path"]: line["chunks"] for line in lines}


def test_the_first_import_fills_the_tool_and_reports_failed_files(mdvec):
    mdvec.write("sub/deep/a.md", "# 一\n\n最初の文書。")
    mdvec.write("sjis.txt", "Ｓｈｉｆｔ＿ＪＩＳの文書。", encoding="cp932")
    mdvec.write("bom.markdown", "\ufeff# BOM\n\n印のある文書。")
    (mdvec.docs / "nul.md").write_bytes(b"a\0b")
    (mdvec.docs / "utf16.md").write_bytes("あ".encode("utf-16")[:-1])
    (mdvec.docs / "latin.md").write_bytes(b"caf\xe9\xff")
    mdvec.write("big.md", "大" * 100)
    (mdvec.docs / "gone.md").symlink_to("nowhere.md")
    outside = mdvec.work / "outside.md"
    outside.write_text("# 外")
    (mdvec.docs / "out.md").symlink_to(outside)
    for path in ("node_modules/x.md", ".git/x.md", ".rag-index/x.md", ".hidden/x.md", "skip/x.md"):
        mdvec.write(path, "# 入らない")
    for path in ("draft-1.md", "image.png", "__pycache__/x.md"):
        mdvec.write(path, "# 入らない")
    (mdvec.work / "mdvec.toml").write_text(
        '[scan]\nexclude = ["draft-*", "skip/"]\nmax_bytes = 250\n'
    )
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")

    done = mdvec("import", "-n", "notes")

    assert done.code == 0
    assert done.out.startswith(
        "notes: 3 added, 0 updated, 0 deleted, 0 unchanged, 6 failed; "
        "3 chunks, 3 embedded with use in "
    )
    assert done.err.splitlines() == [
        "model: use",
        "failed: big.md: it has 300 bytes, over the limit of 250 ([scan] max_bytes)",
        "failed: gone.md: the link leads nowhere",
        "failed: latin.md: it is neither UTF-8 nor cp932 (Shift_JIS); save it as UTF-8",
        "failed: nul.md: it contains NUL bytes, so it is not text; if it is UTF-16 without a BOM, "
        "save it as UTF-8",
        "failed: out.md: the link leads out of the source folder; it was not followed",
        "failed: utf16.md: it is damaged UTF-16; save it as UTF-8",
        "not read, as mdvec cannot: .png (1 file)",
    ]
    assert documents(mdvec) == {"bom.markdown": 1, "sjis.txt": 1, "sub/deep/a.md": 1}
    *failed, unread = done.err.splitlines()[1:]
    assert mdvec("status", "-n", "notes").err.splitlines() == [*failed, f"note: {unread}"]


def test_a_folder_without_files_to_import_gives_hints(mdvec):
    header = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID"
    (mdvec.docs / "7.csv").write_bytes(f"{header}\r\n".encode("cp932"))
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    assert mdvec("import", "-n", "notes").err.splitlines()[1:] == [
        f"no file in {mdvec.docs} was imported: their names end in .csv (1), "
        f"and this tool reads {', '.join(READ)} ([scan] extensions)",
        "7.csv contains Money Forward transactions; for sums, trends and charts add a household: "
        f"mdvec tool add --kind household -n NAME -d DESCRIPTION -s {mdvec.docs}",
    ]


def test_mode_new_is_the_default_and_refuses_a_tool_that_has_documents(notes):
    for command in (("import", "--name", "notes"), ("import", "-n", "notes", "--mode", "new")):
        done = notes(*command)
        assert (done.code, done.out) == (1, "")
        assert done.err == (
            "error: the tool 'notes' has 3 documents already; use --mode update to follow "
            "changes, or --mode replace to build it again\n"
        )


def test_an_update_without_changes_loads_no_model(notes):
    done = notes("import", "-n", "notes", "-m", "update", "--format", "json")
    assert (done.code, done.err) == (0, "")
    report = done.json
    assert list(report) == REPORT
    assert report.pop("seconds") >= 0
    assert report == {
        "tool": "notes", "mode": "update", "model": "use", "added": 0, "updated": 0,
        "deleted": 0, "unchanged": 3, "failed": [], "chunks": 4, "chunks_embedded": 0,
        "chunks_pending": 0, "undecided": [],
        "ledger": None, "duplicate_candidates": None, "transfer_candidates": None,
        "bill_candidates": None, "dataset": None, "hints": [],
    }  # fmt: skip


def test_an_update_embeds_only_chunks_whose_text_or_title_changed(notes):
    water = notes.docs / "water.md"
    text = water.read_text(encoding="utf-8")
    water.write_text(text.replace("玄関と寝室", "台所と書斎"), encoding="utf-8")
    (notes.docs / "米.txt").rename(notes.docs / "moved.txt")
    (notes.docs / "git" / "worktrees.md").unlink()
    notes.write("broken.md", "\0")
    report = notes("import", "-n", "notes", "--mode", "update", "--format", "json").json
    assert {key: report[key] for key in REPORT[3 : REPORT.index("seconds")]} == {
        "added": 1, "updated": 1, "deleted": 2, "unchanged": 0,
        "failed": [
            {"file_path": "broken.md", "reason": HAS_NUL}
        ],
        "chunks": 3, "chunks_embedded": 2,
    }  # fmt: skip
    assert documents(notes) == {"moved.txt": 1, "water.md": 2}


def test_replace_accepts_other_chunking_and_verbose_logs_the_stages(notes):
    done = notes(
        *("import", "--name", "notes", "--mode", "replace", "--chunk-strategy", "token"),
        *("--chunk-size", "64", "--chunk-overlap", "0", "--model", "use", "--format", "json"),
        *("--database", notes.database, "--verbose"),
    )
    assert done.code == 0
    report = json.loads(done.out)
    assert (report["mode"], report["added"], report["chunks_embedded"]) == ("replace", 3, 4)
    lines = done.err.splitlines()
    timers = [line.split(":")[0] for line in lines if re.match(r"DEBUG \[TIMER\] \w+: ", line)]
    assert timers == [
        f"DEBUG [TIMER] {stage}"
        for stage in (
            "file_scan", "model_load", "read_and_hash", "split", "embed", "write", "import_total",
        )
    ]  # fmt: skip
    assert "DEBUG [import] 米.txt: 1 chunks, chars=[41]" in lines
    assert any(line.startswith("DEBUG [TIMER] 米.txt: read_and_hash ") for line in lines)
    chunking = notes("status", "-n", "notes", "--format", "json").json["chunking"]
    assert (chunking["strategy"], chunking["size"], chunking["overlap"]) == ("token", 64, 0)


def test_an_update_with_other_options_than_the_tool_has_is_refused(notes):
    refused = {
        "--chunk-size 128": (
            "error: the tool 'notes' was chunked with size = 192; to change it to 128, "
            "build it again with: mdvec import -n notes --mode replace --model use "
            "--chunk-size 128; to keep it, name no other in the command, nor as [chunking] size "
            "in the settings\n"
        ),
        "--chunk-strategy token --take-scan": (
            "error: the tool 'notes' was chunked with strategy = heading; to change it to token, "
            "build it again with: mdvec import -n notes --mode replace --model use "
            "--chunk-strategy token --take-scan; to keep it, name no other in the command, nor as "
            "[chunking] strategy in the settings\n"
        ),
        "--model e5-small": (
            "error: the tool 'notes' was imported with the model 'use'; to change it to "
            "'e5-small', build it again with --mode replace; to keep it: --model use\n"
        ),
    }
    for options, message in refused.items():
        done = notes("import", "-n", "notes", "--mode", "update", *options.split())
        assert (done.code, done.out, done.err) == (1, "", message)
    assert len(documents(notes)) == 3


def test_impossible_chunking_is_refused_before_anything_is_written(mdvec):
    add_tool(mdvec.database, "notes", "d", mdvec.docs, "markdown")
    mdvec.write("a.md", "# A\n\n本文。")
    small, overlap, unknown = mdvec.each(
        "import -n notes --chunk-size 63",
        "import -n notes --chunk-size 64 --chunk-overlap 64",
        "import -n notes --model gpt",
    )
    assert small.err == (
        "error: Invalid value for --chunk-size: it cannot be 63; allowed: 64 to 4096 tokens; "
        "see: mdvec import --help\n"
    )
    assert overlap.err.endswith(
        "error: an overlap of 64 is not possible with chunks of 64 tokens: choose 0 to 63\n"
    )
    assert unknown.err == (
        "error: Invalid value for --model: it cannot be 'gpt'; "
        "allowed: 'auto', one of: plamo, use, e5-small, ruri-v3-30m, … (mdvec model ls lists "
        "all), or openai:<model>, gemini:<model>, st:<model or folder>, onnx:<model or folder>; "
        "see: mdvec import --help\n"
    )
    assert [done.code for done in (small, overlap, unknown)] == [2, 2, 2]
    assert documents(mdvec) == {}


def test_a_missing_source_folder_is_one_sentence_and_loses_nothing(notes):
    notes.docs.rename(notes.work / "elsewhere")
    done = notes("import", "-n", "notes", "-m", "replace")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"error: the source folder {notes.docs} does not exist; restore it, "
        "or name another with: mdvec tool update -n notes -s FOLDER\n"
    )
    assert len(documents(notes)) == 3


def test_all_active_tools_are_imported_even_if_one_fails(mdvec):
    mdvec.write("a.md", "# 一\n\n本文。\n")
    gone = mdvec.work / "gone"
    gone.mkdir()
    for name, folder in (("gone", gone), ("here", mdvec.docs), ("off", mdvec.docs)):
        mdvec("tool", "add", "-n", name, "-d", "d", "-s", folder)
    mdvec("tool", "disable", "-n", "off")
    gone.rmdir()
    done, as_json, both, misread = mdvec.each(
        "import --all", "import --all --checksum --format json", "import --all -n here",
        "import --all --read bogus",
    )  # fmt: skip
    assert (done.code, done.out[:22]) == (1, "here: 1 added, 0 updat")
    assert "error: gone could not be imported: the source folder" in done.err
    japanese = mdvec("import", "--all", MDVEC_DISPLAY_LANGUAGE="ja")
    why = f"取り込み元のフォルダー {gone} がありません"
    assert f"エラー: gone を取り込めませんでした: {why}" in japanese.err
    assert "1 of 2 tools could not be imported" in done.err
    failed, report = as_json.json["imports"]
    assert (as_json.code, failed["tool"], report["tool"], report["unchanged"]) == (
        1, "gone", "here", 1,
    )  # fmt: skip
    assert both.code == 2
    assert (misread.code, misread.err.count("'bogus' is not COLUMN=TYPE")) == (2, 1)
