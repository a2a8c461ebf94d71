"""The commands in Japanese: every help, in lines that fit, errors, and JSON as it was."""

import re
import tomllib
from contextlib import closing
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from mdvec import sql
from mdvec.database.connection import open_database
from mdvec.japanese import in_japanese
from mdvec.settings import AnalyticsSettings, display_language
from mdvec.text import display_width, wrapped

import mdvec_cli
from mdvec_cli.commands.terminal import in_own_language
from mdvec_cli.main import app, put_into_japanese

KANA = re.compile(r"[ぁ-んァ-ヶ一-龠]")
ENGLISH = re.compile(r"(?:[A-Za-z']+ ){3,}[a-z]+")
TABLE = tomllib.loads((Path(mdvec_cli.__file__).parent / "help.ja.toml").read_text("utf-8"))


def every(command, path=("mdvec",)):
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from every(below, (*path, name))


@pytest.fixture(scope="module")
def command():
    command = typer.main.get_group(app)  # not get_command, whose commands all tests share
    put_into_japanese(command)
    return command


def test_every_help_is_in_japanese_and_fits_the_terminal(command):
    english, wide = [], []
    for path, each in every(command):
        with each.make_context(
            " ".join(path), [], resilient_parsing=True, terminal_width=80
        ) as ctx:
            text = each.get_help(ctx)
        assert text.startswith(f"使い方: {' '.join(path)}")
        assert "オプション:" in text
        english += [(path, line) for line in text.splitlines() if ENGLISH.search(line)]
        wide += [line for line in text.splitlines() if display_width(line) > 82]
    assert (english, wide) == ([], [])


def test_the_table_has_what_the_commands_say_and_nothing_else():
    command = typer.main.get_command(app)
    said = {"Show this message and exit."}
    for _, each in every(command):
        said |= {each.help, *(getattr(param, "help", None) for param in each.params)} - {None, ""}
    assert {" ".join(text.split()) for text in said} == {" ".join(text.split()) for text in TABLE}
    assert [japanese for japanese in TABLE.values() if not KANA.search(japanese)] == []


@given(st.text(st.sampled_from("水を備える、。（）ab -x"), max_size=80), st.integers(8, 40))
def test_wrapped_lines_lose_nothing_and_begin_with_no_closing_mark(text, width):
    lines = list(wrapped(text, width))
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert not [line for line in lines[1:] if line.startswith(("、", "。", "）"))]


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "MDVEC_DISPLAY_LANGUAGE": "ja"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "MDVEC_CONFIG": "/none/such.toml"}, "ja"),
    ],
)
def test_the_language_is_the_one_set_or_the_systems(tmp_path, environment, language):
    environment = {"HOME": str(tmp_path)} | environment
    assert display_language(environment, tmp_path) == language
    for said, wanted in (("'en'", "en"), ("'ja'", "ja"), ("7", language), ("", language)):
        (tmp_path / "mdvec.toml").write_text(f"[display]\nlanguage = {said}\n", encoding="utf-8")
        chosen = environment.get("MDVEC_DISPLAY_LANGUAGE")
        if "MDVEC_CONFIG" not in environment:
            assert display_language(environment, tmp_path) == (chosen or wanted)


def test_errors_and_findings_are_in_japanese(mdvec):
    def japanese(*arguments):
        return mdvec(*arguments, MDVEC_DISPLAY_LANGUAGE="ja")

    mdvec("tool", "add", "-n", "notes", "-d", "メモ", "-s", "docs")
    assert japanese("import", "-n", "none").err == (
        "エラー: ツール「none」はありません。近い名前: notes\n"
    )
    assert japanese("import").err == (
        "エラー: オプション --name（-n）がありません。mdvec import --help をご覧ください\n"
    )
    assert japanese("search", "水", "-k", "0").err == (
        "エラー: --k（-k）に 0 は使えません（1 から 50 件まで）。"
        "mdvec search --help をご覧ください\n"
    )
    (mdvec.work / "ja.toml").write_text('[display]\nlanguage = "ja"\n', encoding="utf-8")
    named = ("--config", mdvec.work / "ja.toml")
    assert mdvec("import", "-n", "none", *named, MDVEC_DISPLAY_LANGUAGE="").err.startswith("エラー")
    mdvec.write("a.md", "# 水\n")
    imported = japanese("import", "-n", "notes")
    assert imported.out.startswith("notes: 追加 1、更新 0、削除 0、変更なし 0、失敗 0。断片 1 個、")
    mdvec("tool", "add", "-n", "sales", "-d", "売上", "-s", "docs", "--kind", "dataset")
    mdvec.write("s.csv", '日,店,額\n2025/6/1,茶屋,"1,234"\n2025/6/2,茶屋,-\n※ 税込,,\n')
    mdvec.write("t.csv", ",1回,2回\n田,欠,欠\n佐,8,9\n")
    first, second, *_ = japanese("import", "-n", "sales").err.splitlines()
    assert second.endswith("2 行目は値として読みました; 列名なら --header-row 1-2")
    assert first == (
        '読み方: s.csv: 日: "※ 税込" (1) があるため、日付 2 個とともに文字列です; '
        "--read '日=na:※ 税込' で NULL になります; "
        '額: "1,234" → BIGINT、NA などの 1 セルは NULL; '
        '最後の行は文字列が一つずつです: "※ 税込"; 注記なら --read notes=out で除けます'
    )
    exported = japanese("household", "export", "-n", "notes", "--since", "2025-13-01")
    assert exported.err.startswith("エラー: --since に 2025-13-01 は使えません。")
    assert japanese("household", "expenses", "medical", "-n", "notes").err == (
        "エラー: ツール「notes」は markdown で、家計簿ではありません\n"
    )
    mdvec.write("b.md", "# 米\n")
    with open_database(mdvec.database, "write") as connection:
        connection.execute("DELETE FROM fts_1_1 WHERE rowid = 1")
    done = japanese("doctor", "--fix")
    assert done.err == "直しました: notes: 検索の索引を作り直しました\n"
    examined = done.out.splitlines()
    (newer,) = [n for n, line in enumerate(examined) if "新しいファイルが 1 個" in line]
    assert examined[newer + 1].strip() == "→ mdvec import -n notes --mode update"
    lines = [line.partition(": ")[2] for line in examined]
    assert [line for line in lines if ENGLISH.search(line)] == []
    assert sum(bool(KANA.search(line)) for line in lines) > 10


def test_why_a_file_is_not_read_or_a_query_fails_is_said_in_japanese(mdvec):
    for name in ("a.pdf", "a.docx", "a.html", "a.odt", "a.xlsx", "a.parquet", "a.duckdb", "a.zip"):
        mdvec.write(name, "no such file")
    mdvec.write("a.csv", "a,b\n1,2\n3\n")
    mdvec.write("b.csv", "a,b\n1,2\n")
    mdvec.write("c.json", '[{"a": 1, "a": 2}]')
    for name, kind in (("notes", "markdown"), ("sales", "dataset")):
        mdvec("tool", "add", "-n", name, "-d", "売上", "-s", "docs", "--kind", kind)
    done = mdvec.each(
        "import -n notes", "import -n sales", "import -n sales --mode update --header-row 9",
        ["query", "SELECT nope FROM sales__b"], "profile sales__b --from x --to y",
        MDVEC_DISPLAY_LANGUAGE="ja",
    )  # fmt: skip
    lines = [line for each in done for line in each.err.splitlines()]
    assert [line for line in lines if ENGLISH.search(line.partition(": mdvec ")[0])] == []
    assert done[3].err.splitlines() == [
        "エラー: 列「nope」はありません。sales__b の列: a, b",
        "警告: sales の a.csv, a.duckdb, a.parquet ほか 2 個 は取り込めず、回答に含まれません"
        "（理由は mdvec status -n 名前）。",
    ]


def test_what_a_query_or_chart_warns_of_is_in_japanese_but_not_json(mdvec):
    rows = [f"2025-01-{n % 28 + 1:02} 09:30,東京,{n if n % 5 else ''},{n}" for n in range(90)]
    mdvec.write("a.csv", "\n".join(["日時,店,枝番,金額", *rows]))
    mdvec("tool", "add", "-n", "sales", "-d", "売上", "-s", "docs", "--kind", "dataset")
    mdvec("import", "-n", "sales")
    wheres = (
        "日時 BETWEEN '2025-01-01' AND '2025-01-05'",
        "日時 NOT BETWEEN '2025-01-01' AND '2025-01-05'",
        "日時 <= '2025-01-05'", "日時 > '2025-01-05'", "日時 = '2025-01-05'",
        "日時 IN (DATE '2025-01-05', DATE '2025-01-06')", "日時 <> '2025-01-05'", "店 = '東亰'",
        "店 LIKE '%ん%'", "枝番 = NULL", "枝番 <> NULL", "店 NOT IN ('東京', NULL)",
        "金額 NOT IN (SELECT 枝番 FROM sales__a)",
    )  # fmt: skip
    queries = [f"SELECT count(*) FROM sales__a WHERE {where}" for where in wheres]
    analytics = sql.analytics_over(
        mdvec.database, mdvec.work / "queries", AnalyticsSettings(), None, 1
    )
    with closing(analytics.queries):  # a command for each query would start a process for each
        answers = [
            analytics.questions.answer(sql.Prepared(query))
            for query in (*queries, "SUMMARIZE sales__a")
        ]
        several = sql.Prepared("SELECT count(*) FROM sales__a WHERE 店 = '東亰' AND 枝番 = NULL")
        assert len(analytics.questions.answer(several)["warnings"]) == 2
    plot = ["plot", "SELECT 店, 金額 FROM sales__a", "--kind", "bar", "--replace", "-o", "a.png"]
    drawn = mdvec(*plot, MDVEC_DISPLAY_LANGUAGE="ja")
    said = [in_japanese(answer["warnings"][0]) for answer in answers] + [drawn.out]
    assert [each for each in said if not KANA.search(each) or ENGLISH.search(each)] == []
    assert mdvec(*plot, "--size", "10x10", MDVEC_DISPLAY_LANGUAGE="ja").err.startswith(
        "エラー: 画像"
    )
    assert "only the first" in mdvec(*plot, "--format", "json", MDVEC_DISPLAY_LANGUAGE="ja").out


def test_what_has_no_translation_is_in_english_as_a_whole(monkeypatch):
    monkeypatch.setenv("MDVEC_DISPLAY_LANGUAGE", "ja")
    assert in_own_language("error: Binder Error: no such function") == (
        "error: Binder Error: no such function"
    )


def test_tables_and_lines_are_in_japanese_and_what_is_the_users_stays(mdvec):
    def japanese(*arguments):
        return mdvec(*arguments, MDVEC_DISPLAY_LANGUAGE="ja").out

    mdvec("tool", "add", "-n", "name", "-d", "source", "-s", "docs")
    mdvec.write("a.md", "# 水\n\n備える。\n")
    mdvec("import", "-n", "name")
    overview = japanese("status")
    assert overview.startswith("データベース: ")
    assert "名前\t有効\t種類\t文書\tベクトル\tモデル\t最後の取り込み\n" in overview
    assert "\nname\tはい\tmarkdown\t1\t1\t" in overview
    details = japanese("status", "-n", "name")
    assert "項目\t値\n説明\tsource\n取り込み元\t" in details
    explained = japanese("search", "水", "--explain")
    lines = [*details.splitlines(), *explained.splitlines()]
    assert [line for line in lines if ENGLISH.search(line)] == []
    assert "saved.zip にバックアップしました" in japanese("backup", "saved.zip")
    assert "バイトを空けました" in japanese("compact")
    assert mdvec("tool", "ls", "--all", MDVEC_DISPLAY_LANGUAGE="en").out.startswith("name\tactive")


def test_what_lists_charts_and_options_say_is_in_japanese_as_well(mdvec):
    def japanese(line, *more):
        return mdvec(*line.split(), *more, MDVEC_DISPLAY_LANGUAGE="ja")

    assert "what it contains" not in japanese("search -n notes a").err
    mdvec("tool", "add", "-n", "sales", "-d", "売上", "-s", "docs", "--kind", "dataset")
    mdvec.write("s.csv", "日,額\n2025-06-01,1\n2025-06-02,2\n")
    mdvec("import", "-n", "sales")
    saved = japanese(
        "query --save q", "SELECT 1 AS a", "--description", "the user's own words of it"
    )
    taken = japanese("query --save q", "SELECT 1 AS a").err
    assert saved.code == 0
    assert taken.endswith("別の名前にするか、--replace で置き換えてください。\n")
    listed = japanese("query --saved").out.splitlines()
    assert listed[:2] == ["名前\tパラメーター\t説明", "q\tnone\tthe user's own words of it"]
    assert [line for line in listed[2:] if ENGLISH.search(line.split("\t")[2])] == []
    assert japanese("query --saved --format csv").out.startswith("name,parameters,description\n")
    assert japanese("profile sales__s").err == "2 行、2025-06-01 〜 2025-06-02\n"
    drawn = japanese("plot --kind line -o a.png", "SELECT 日, 額 FROM sales__s").out
    assert drawn.splitlines()[:3] == ["項目\t値", "ファイル\ta.png", "種類\tline"]
    assert [line for line in japanese("model ls").out.splitlines() if "million" in line] == []
    assert "none" not in japanese("search --where a").err
    usage = japanese("search -h").out
    assert usage.startswith("使い方: mdvec search [オプション] ")
    assert "[既定値: chunk]" in usage
    assert "[必須]" in japanese("get -h").out
    mdvec("tool", "add", "-n", "home", "-d", "家計", "-s", "docs", "--kind", "household")
    splitting = (
        "whose files are not split; leave --chunk-strategy, --chunk-size and --chunk-overlap out"
    )
    for name, kind, option, why in (
        ("sales", "dataset", "--chunk-size 100", splitting),
        ("home", "household", "--chunk-size 100", splitting),
        ("sales", "dataset", "--model use", "whose files get no vectors; leave --model out"),
    ):
        done = mdvec("import", "-n", name, "--mode", "update", *option.split())
        assert (done.code, done.err) == (1, f"error: the tool '{name}' is a {kind}, {why}\n")
