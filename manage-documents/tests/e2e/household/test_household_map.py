"""`mdvec household map`: how a bank's CSV is read, as a table and as JSON."""

import re

UNKNOWN = (
    "取引日,お取引の内容,出金,入金,残高\n"
    "R7.7.1,架空電力,300,,700\nR7.7.2,振込,,50,750\nR7.7.x,架空書店,10,,740\nR7.7.4,架空書店,10,,700\n"
    "R7.7.5,架空食堂,10,,690\n"
)


def household(mdvec):
    done = mdvec(
        "tool", "add", "-n", "kakeibo", "-d", "家計簿", "-s", mdvec.docs, "--kind", "household"
    )
    assert done.code == 0
    mdvec.write("架空信金_202507.csv", UNKNOWN)


def test_a_mapping_is_shown_with_its_rows_then_saved_then_used(mdvec):
    household(mdvec)
    done = mdvec("household", "map", "docs/架空信金_202507.csv")
    assert done.code == 0
    assert 'paid_out = "出金"' in done.out
    assert "\n3\t2025-07-02\t50\t振込\t架空信金\t収入\tyes\n" in done.out
    assert done.err.splitlines() == [
        "4 rows read as 架空信金 (proposed)",
        "balance: 2 of 2 fit the row beside them",
        "failed: line 4: 日付 is not a date like 2025/07/01, 20250701 or 令和7年7月1日",
        "next: the same command with --save, if the rows are right",
    ]
    # The path may also be as the import's report names it.
    saved = mdvec("household", "map", "架空信金_202507.csv", "--save", "--format", "json")
    file = mdvec.docs / "架空信金.mapping.toml"
    assert (saved.json["saved"], saved.json["household"]) == (str(file), "kakeibo")
    assert file.read_text("utf-8") == saved.json["toml"]
    assert saved.err.splitlines()[-2:] == [
        f"saved: {file}", "next: mdvec import -n kakeibo --mode update",
    ]  # fmt: skip
    report = mdvec("import", "-n", "kakeibo", "--format", "json").json["ledger"]
    assert (report["imported"], len(report["failed"])) == (4, 1)


def test_what_is_said_of_a_file_is_in_japanese_but_not_json(mdvec):
    household(mdvec)
    command = ("household", "map", "docs/架空信金_202507.csv")
    done = mdvec(*command, MDVEC_DISPLAY_LANGUAGE="ja")
    assert done.err.splitlines() == [
        "4 行を 架空信金 として読みました（提案）",
        "残高: 2 行のうち 2 行が隣の行と合っています",
        "読めない行: 4 行目。日付を読み取れません"
        "（2025/07/01、20250701、令和7年7月1日 のような形で書いてください）",
        "次に: 行が正しければ、--save を付けて同じコマンドをもう一度",
    ]
    as_json = (*command, "--format", "json")
    assert mdvec(*as_json, MDVEC_DISPLAY_LANGUAGE="ja").json == mdvec(*as_json).json


def test_what_is_undecided_is_asked_in_japanese_but_not_in_json(mdvec):
    household(mdvec)
    mdvec.write(
        "x.csv", "取引日,内容,金額,手数料\n2025/7/1,架空電力,300,20\n2025/7/2,架空書店,50,0\n"
    )
    done = mdvec("household", "map", "docs/x.csv", MDVEC_DISPLAY_LANGUAGE="ja")
    asked = [line for line in done.err.splitlines() if line.startswith("決めること: ")]
    assert asked
    assert not [line for line in asked if re.search("[a-z]+ [a-z]+ [a-z]+ ", line)]
    refused = mdvec("household", "map", "docs/x.csv", "--save", MDVEC_DISPLAY_LANGUAGE="ja")
    assert refused.code == 1
    assert refused.err.startswith("エラー: 決まっていないことがあるので保存しませんでした: ")
    as_json = mdvec(
        "household", "map", "docs/x.csv", "--format", "json", MDVEC_DISPLAY_LANGUAGE="ja"
    )
    assert (
        as_json.json["undecided"]
        == (mdvec("household", "map", "docs/x.csv", "--format", "json").json["undecided"])
    )


def test_a_row_that_the_balance_contradicts_is_pointed_at(mdvec):
    mdvec.write("a.csv", UNKNOWN.replace("R7.7.x", "R7.7.3").replace(",700\n", ",700\n", 1))
    done = mdvec("household", "map", "docs/a.csv")
    assert "balance: 3 of 4 fit the row beside them; look at line 5" in done.err.splitlines()


def test_a_refusal_is_one_sentence(mdvec):
    mdvec.write("a.csv", "氏名,住所\n架空花子,架空市\n")
    (mdvec.docs / "packed.zip").write_bytes(b"PK\x03\x04\xff\xfe\x00")
    for arguments, sentence in (
        (["docs/a.csv"], "if it is a statement, state its date, description and amount"),
        (["docs/b.csv"], "there is no file docs/b.csv; name the CSV file of a bank or card"),
        (["docs/packed.zip"], "docs/packed.zip cannot be read as a statement: line 1 is neither"),
        (["docs/a.csv", "-n", "x"], "there is no database"),
    ):
        done = mdvec("household", "map", *arguments)
        assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
        assert sentence in done.err
    in_japanese = mdvec("household", "map", "docs/packed.zip", MDVEC_DISPLAY_LANGUAGE="ja").err
    assert in_japanese == (
        "エラー: docs/packed.zip を明細として読めません: 1 行目は UTF-8 でも cp932（Shift_JIS）でも"
        "ありません。もう一度ダウンロードしてください\n"
    )
    folder = mdvec("household", "map", "docs", MDVEC_DISPLAY_LANGUAGE="ja").err
    assert folder == "エラー: docs: 読めません（フォルダーです）\n"
