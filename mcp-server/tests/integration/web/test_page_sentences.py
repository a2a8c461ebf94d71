"""What the library says in English, on a Japanese page: each sentence of the table is said once."""

import html
import re

import pytest
from collection import Collection
from mdvec.embedding import catalog
from mdvec.japanese import known_sentences
from mdvec.settings import Settings
from mdvec.sql.core.ready import READY
from mdvec.sql.core.refusals import out_of_memory, out_of_time
from page_ledger import ledger
from page_site import page_site, post

from mdvec_mcp.web.page.rows_view import TooManyAtOnce
from mdvec_mcp.web.page.views import translated

JAPANESE = re.compile(r"[ぁ-んァ-ヶ]")
SAID = re.compile(r'<p class="(?:whole )?(?:trouble|note)"[^>]*>(.*?)</p>', re.DOTALL)

SEARCHES = {
    "since=いつか": "「いつか」を読み取れません",
    "since=2025-07-01&until=2025-06-01": "入れ替えて",
    "tags=ない": 'よく使われているタグ: "水"',
    "tags=水道": '似たタグ: "水"',
    "tags=湯": 'フロントマターにはあります: "kind=湯"',
    "path=none/": "パスが「none/」の文書はありません",
    "since=2024-01-01&until=2024-01-02": "2024-01-01〜2024-01-02 の日付の文書はありません",
    "since=2030-01-01": "2030-01-01 以降の日付の文書はありません",
    "until=2001-01-01": "2001-01-01 以前の日付の文書はありません",
    "since=2024-01-03": "日付がなく、期間では見つからない文書が 2 件",
    "tags=水&path=b.md": "すべてを満たすものはありません",
    "links_to=a.md": '"a.md" へリンクしている文書はありません',
    "links_to=none": '"none" という文書も、そこへのリンクもありません',
    "tasks=1": "済んでいないタスクのある文書はありません",
    "where=tags=火": 'よくある値: "水"',
    "where=mood": 'よくある項目: "tags"',
    "where=tags=": "フロントマターの tags の値がありません",
}
TYPED = {
    "水 zyx": '"zyx" は、どの文書にもありません',
    "wataworks": '"wataworks" の代わりに、似た語で検索しました: waterworks',
    "terwork": '"terwork" は、より長い語の一部としてだけ',
    "水 -備える": '"備える" のある段落を notes から 1 件除きました',
    "水 -zyq": '"zyq" で除いたものはありません',
    "話 -水 -備": '"水" のある段落を notes から 2 件除きました',
    "zyx 水を備える": "答えていそうな段落は、ほかにありません",
    '"水を見る" 水': '"水を見る" とそのまま書いた段落はありません',
    '"kind: 湯" 水': '"kind: 湯" をまるごと含む段落がありません。2つの段落にまたがるところか',
    "湯": '"湯" は本文になく、先頭の項目（front matter）にだけあります: a.md',
    "zyv": "答えていそうな段落はありません",
    "zyw": "notes の c.md は取り込めず、回答に含まれません（理由は 「ツール」の画面）",
    "。": "記号だけなので、そのとおりに書いた段落だけを",
    "-水": "-水 はふつうの文字として",
    "話 -水": 'どの段落にも "水" があります',
}
MODELS = ("plamo", "use", "e5-small", "ruri", "static", "e5-small whole", "100 languages")
OTHERS = (
    "left out", "time", "memory", "no tables", "built again", "too many rows", "a long row",
    "no row",
    "a document excluded", "documents excluded", "too much to read", "no pages", "no tool at all",
    "changed meanwhile",
)  # fmt: skip
ADDRESSES = {
    "/?q=48,000円&tool=kakeibo": "検索するのは店名・カテゴリ・メモだけです",
    "/document?tool=notes&path=zzzz": "文書「zzzz」はありません。",
    "/document?tool=notes&path=aa.md": '近い名前: "a.md"',
    "/document?tool=empty&path=a.md": "まだ文書がありません",
    "/document?tool=zzz&path=a.md": "ツール「zzz」はありません。あるツール: ",
    "/document?tool=Notes&path=a.md": "ツール「Notes」はありません。近い名前: notes",
    "/data?sql=DROP TABLE t": "SELECT ではありません",
    "/data?sql=SELECT 1; SELECT 2": "文が 2 個",
    "/data?sql=SELECT %01": "SQL に制御文字があります",
    "/data?sql=SELECT (": "SQL を読み取れません",
    "/data?sql=PIVOT transactions ON memo USING count(*) GROUP BY year(date)": "PIVOT の GROUP BY",
    "/data?sql=SELECT * FROM nothing": "表「nothing」はありません。使える表: transactions",
    "/data?sql=SELECT * FROM 'a.csv'": "ファイルは開けません",
    "/data?sql=SELECT * FROM read_csv('a')": "関数 read_csv() は使えません",
    "/data?sql=SELECT nope FROM transactions": "列「nope」はありません。transactions の列",
    "/data?sql=SELECT * FROM transaction": "近い名前: transactions",
    "/data?sql=SELECT * FROM 'transaction.csv'": "近い名前: transactions",
    "/data?sql=SELECT amont FROM transactions": "列「amont」はありません。近い名前: amount",
    "/data?sql=SELECT amount FROM (SELECT date FROM transactions) AS t": "transactions の列ですが",
    "/data?sql=SELECT t.amont FROM transactions t": "t に列「amont」はありません。近い名前: amount",
    "/data?sql=SELECT id FROM transactions t, transactions": "id は transactions の列です",
    '/data?sql=SELECT 1 FROM transactions WHERE shop = "店"': "一重引用符で囲みます: '店'",
    "/data?sql=SELECT nope FROM (FROM transactions)": "列「nope」はありません。transactions の列: ",
    "/data?sql=SELECT t.nope FROM transactions t": "はありません。transactions の列: ",
    "/data?sql=SELECT 'a' AS x&chart=bar": "はじめの列に横軸",
    "/data?sql=SELECT 'a' AS x, 1 AS y&chart=scatter": "散布図には",
    "/data?sql=SELECT 'a' AS x&chart=histogram": "ヒストグラムには",
    "/data?sql=SELECT 'a' AS x&chart=box": "箱ひげ図には",
    "/data?sql=SELECT 'a' AS x&chart=heatmap": "ヒートマップには",
    "/data?sql=SELECT 'a' AS x, NULL::INT AS y&chart=bar": "グラフにできる値がありません",
    "/data?sql=SELECT * FROM transactions WHERE date > $day::DATE&p.day=x": "値「x」を",
    "/data?sql=SELECT * FROM range(900)": "行はほかにもあります（表示は 500 行まで）",
}
SAVED = {
    "a": "「a」という質問はもうあります",
    "?": "「?」は質問の名前に使えません",
    "trend": "用意された質問の名前",
    "transactions": "表の名前です",
}
RESTORED = {
    "b.zip": "置き換えるなら、「いまの内容を置き換える」を選んでください。",
    "none.zip": "はありません",
    "d.txt": "バックアップではない",
}
ADDED = {
    "/etc": ({}, "ホーム（{home}）の中の"),
    "a": ({"name": "日本"}, "「日本」は名前に使えません"),
    "b": ({"name": "notes"}, "「notes」という名前のツールはもうあります"),
    "b/": ({}, "ツール 'home-b' がこのフォルダー"),
    "c": ({"name": "search"}, "「my-search」のような"),
    "d.txt": ({}, "この種類にはフォルダーを"),
    "e.txt": ({"kind": "dataset"}, "データとして取り込めません"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    for name in "abc":
        (home / name).mkdir()
    for name in ("d.txt", "e.txt"):
        (home / name).write_text("水")
    return home


@pytest.fixture
def client(home, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(home))
    database = ledger(tmp_path, ["1,2025/07/01,店,-100,財布,食費,食料品,,0,a"])
    notes = Collection(tmp_path / "notes", database)
    notes.write("a.md", "---\ntags: [水]\nkind: 湯\n---\n# 水\n\n水を備える。\n")
    notes.write("b.md", "# 水\n\n水の話。waterworks。\n")
    (notes.folder / "c.md").write_bytes(b"\xff")
    notes.import_()
    Collection(tmp_path / "empty", database, "empty")
    Collection(home / "b", database, "home-b")
    with page_site(database) as site, site.client("ja") as client:
        yield client


def said(answer):
    return [html.unescape(one) for one in SAID.findall(answer.text)]


def test_a_japanese_page_says_in_japanese_what_the_library_says_in_english(client, home):
    answers = [
        (client.get(f"/?q=水&tool=notes&tool=kakeibo&{query}"), words)
        for query, words in SEARCHES.items()
    ]
    answers += [(client.get(f"/?q={typed}&tool=notes"), words) for typed, words in TYPED.items()]
    answers += [(client.get(address), words) for address, words in ADDRESSES.items()]
    assert post(client, "/data/save", sql="SELECT 1", name="a").status_code == 200
    answers += [
        (post(client, "/data/save", sql="SELECT 1", name=name), words)
        for name, words in SAVED.items()
    ]
    (home / "b.zip").write_bytes(post(client, "/tools/backup").content)
    answers += [
        (post(client, "/tools/restore", backup=str(home / file)), words)
        for file, words in RESTORED.items()
    ]
    for path, (fields, words) in ADDED.items():
        answer = post(client, "/tools/add", path=path, **fields)
        answers.append((answer, words.format(home=home)))
    wrong = [
        (words, said(answer))
        for answer, words in answers
        if not any(words in one for one in said(answer))
        or not all(JAPANESE.search(one) for one in said(answer))
    ]
    assert wrong == []
    others = (*OTHERS, *READY, *MODELS)
    assert len(answers) + len(others) == len(known_sentences()["sentence"])


def test_models_are_described_in_japanese():
    listed = catalog.list_models(set(), Settings().model.options())
    translated_ones = [translated("ja", model.card.summary) for model in listed]
    assert [one for one in translated_ones if not JAPANESE.search(one)] == []


def test_the_ready_made_questions_are_described_in_japanese(client):
    page = client.get("/data").text
    assert [question.description in page for question in READY.values()] == [False] * len(READY)
    assert "相関係数" in page


def test_limits_of_a_query_are_told_in_japanese():
    assert translated("ja", str(out_of_time(10))).startswith("10 秒の制限に達した")
    assert translated("ja", str(out_of_memory(512))).startswith("メモリーの制限（512 MB）")


def test_what_the_view_of_rows_refuses_is_told_in_japanese(client):
    assert translated("ja", str(TooManyAtOnce(12_345))).startswith("12,345件あります。")
    assert "明細が選ばれていないため" in post(client, "/money/rows/change", do="save").text


def test_a_rebuild_under_way_is_told_in_japanese():
    note = (
        "notes is being built again, 1 document so far; until that is complete, searches read "
        "what was there before"
    )
    assert translated("ja", note).startswith("notes を作り直しています")


def test_what_is_not_in_the_table_and_english_pages_stay_as_they_are():
    sentence = "there is no tool 'a'; nearest: b"
    assert translated("en", sentence) == sentence
    assert translated("ja", f"now {sentence}") == f"now {sentence}"
    assert translated("ja", "there is no tool '{x}<b>'; nearest: b") == (
        "ツール「{x}<b>」はありません。近い名前: b"
    )
