"""A text in one spelling is found by a question in another."""

import pytest
from collection import Collection, imported_notes
from table_of_cases import each

from mdvec.database.connection import open_database

NOTES = {
    "server.md": "# 構成\n\nサーバが落ちたら再起動。\n",
    "meeting.md": "# 予定\n\n打合せは水曜。\n",
    "parents.md": "# 家系\n\n親の話を聞いた。\n",
    "loop.md": "# 失敗\n\n無限ループになった。\n",
    "state.md": "# フック\n\nuseState と useReducer の違い。\n",
    "name.md": "# 住所録\n\n渡辺さんの電話番号。\n",
    "2024-12-05-standup.md": "# 朝会\n\n話したこと。\n",
    "web.md": "# 公開\n\nウェブの設定。\n",
    "neighbour.md": "# 隣家\n\n髙橋さんの庭。\n",
    "rubbish.md": "# 収集\n\nゴミは月曜。\n",
    "loanword.md": "# 画面\n\nハンドラは一つのフラグメントにまとめる。\n",
    "会議/2025-03-08-定例.md": "# 定例\n\n進み具合。\n",
    "会議/20250409.md": "# 相談\n\n決めたこと。\n",
    "walk.md": "# 犬\n\n散歩は 2 回。\n",
    "feed.md": "# 餌\n\n三回に分ける。\n",
    "tyre.md": "# 車\n\nタイヤは 4 本。\n",
    "python.md": "# 言語\n\nPython 3 を入れる。\n",
    "python-old.md": "# 言語の前\n\nPython 2 と Python 2.7。\n",
    "gas.md": "# 検針\n\nｶﾞｽﾒｰﾀｰは北側。\n",
    "ports.md": "# 通信\n\nhttp2 を使う。\n",
    "effect.md": "# 薬\n\n効用を箱で確かめ、公園へ歩く。\n",
    "other-rubbish.md": "# 町会\n\nごみの話はしない約束になった。ほかのことを長く話した。\n",
}


spelled = imported_notes(NOTES)


@each(
    ("query", "file"),
    [
        ("サーバーについて教えて", "server.md"), ("打ち合わせ", "meeting.md"),
        ("おや", "parents.md"), ("むげんループ", "loop.md"), ("useSatte", "state.md"),
        ("useSatteとは何ですか？", "state.md"), ("渡邊", "name.md"),
        ("2024年12月5日", "2024-12-05-standup.md"), ("December 5, 2024", "2024-12-05-standup.md"),
        ("令和6年12月", "2024-12-05-standup.md"), ("Web", "web.md"), ("高橋", "neighbour.md"),
        ("髙橋", "neighbour.md"), ("ごみ 月曜", "rubbish.md"),
        ("2025年3月8日", "会議/2025-03-08-定例.md"), ("R7.3.8", "会議/2025-03-08-定例.md"),
        ("2025年4月9日", "会議/20250409.md"), ("二回", "walk.md"), ("3回", "feed.md"),
        ("四本", "tyre.md"), ("Python3", "python.md"), ("Python3について教えて", "python.md"),
        ("http2", "ports.md"), ("ガスメータ", "gas.md"), ("ｶﾞｽﾒｰﾀの場所", "gas.md"),
    ],
)  # fmt: skip
def test_another_spelling_is_found_first_and_by_words_alone(spelled, query, file):
    assert spelled.places(query, k=1, mode="lexical") == [file]
    assert spelled.places(query, k=1) == [file]


@each("query", ["紅葉", "講演"])
def test_a_word_in_kanji_is_not_searched_by_another_of_its_reading(spelled, query):
    assert "effect.md" not in spelled.places(query, k=5, mode="lexical")
    assert not spelled.search(query, k=1).confident


def test_a_name_written_apart_from_its_number_is_mentioned(spelled):
    assert spelled.search("Python3とは", k=1).confident
    assert spelled.search("Python3とは", k=1).evidence.absent == ()
    assert spelled.search("R7.3.8", k=1).evidence.absent == ()
    assert spelled.search("Zope3とは", k=1).evidence.absent == ("Zope3",)


COMPOUNDS = {
    "サーバ室": "サーバー室", "打合せ室": "打ち合わせ室", "申込書": "申し込み書",
    "引落日": "引き落とし日", "振込手数料": "振り込み手数料", "子供会": "子ども会",
    "引越業者": "引っ越し業者", "払戻手続": "払い戻し手続き", "齋藤商店": "斉藤商店",
}  # fmt: skip  # fmt: skip
PARTS = {
    "wifi": "Wi-Fi", "email": "e-mail", "vscode": "VS Code", "nodejs": "Ｎｏｄｅ．ｊｓ",
    "cicd": "CI/CD", "typec": "Type-C", "GitHub": "Git Hub", "TCPIP の設定": "TCP/IP",
}  # fmt: skip


@pytest.fixture(scope="module")
def compounds(tmp_path_factory) -> Collection:
    """A note of each compound and word in parts, which walks outnumber, and one of their words."""
    notes = {
        f"{at}.md": f"# 覚え {at}\n\n今日は{written}の設定を確認した。担当者へ連絡した。\n"
        for at, written in enumerate((COMPOUNDS | PARTS).values())
    }
    walks = {f"z{at}.md": f"散歩をした。{at} 番目の公園で犬を見た。\n" for at in range(60)}
    apart = (
        "サーバーの棟、組み立てた図。割り引いて券を買う。金額は確定。申告は春、年末の調整もする。"
        "暫定申請。海外の出張で外出した。\n"
    )
    return Collection.of(
        tmp_path_factory.mktemp("compounds"), {**notes, **walks, "apart.md": f"# 別\n\n{apart}"}
    )


@each("query", [*COMPOUNDS, *PARTS])
def test_a_compound_in_another_spelling_or_in_parts_is_found_and_not_denied(compounds, query):
    answer = compounds.search(query, k=1)
    assert answer.results[0].file_path == f"{[*COMPOUNDS, *PARTS].index(query)}.md"
    assert (answer.confident, answer.notes) == (True, ())


@each("query", ["確定申告", "サーバ棟", "組立図", "割引券", "引落室", "打合せ書", "年末調整"])
def test_a_compound_is_denied_where_its_words_stand_apart(compounds, query):
    assert f'nothing here mentions "{query}"' in compounds.search(query).notes


def test_a_compound_of_known_pairs_is_not_denied_where_no_stands_between_its_words(compounds):
    assert compounds.search("海外出張").notes == ()


def test_a_word_as_two_is_found_beside_the_word_itself_and_words_that_meet_are_none(collection):
    collection.write("a.md", "# 一\n\nwifi を直した。\n")
    collection.write("b.md", "# 二\n\nWi-Fi を買った。\n")
    collection.write("c.md", "# 三\n\nThis is land of the city's park. Red, hat.\n")
    for at in range(60):
        collection.write(f"z{at}.md", f"散歩をした。{at} 番目の公園で犬を見た。\n")
    collection.import_("new")
    assert set(collection.places("wifi", k=2, mode="lexical")) == {"a.md", "b.md"}
    for absent in ("island", "Spark", "redhat"):
        assert f'nothing here mentions "{absent}"' in collection.search(absent).notes


def test_an_english_word_is_found_in_katakana(spelled):
    assert spelled.places("event handlers", k=1, mode="lexical") == ["loanword.md"]
    found = spelled.search("What is a fragment?", k=1, mode="lexical").results[0]
    assert (found.file_path, found.explanation.matched_words) == ("loanword.md", ())
    assert found.explanation.matched_terms == ("fragment",)


def test_an_explanation_names_the_words_found_in_both_families(spelled):
    why = spelled.search("打ち合わせについて", k=1).results[0].explanation
    assert (why.matched_words, why.matched_terms) == (("打ち合わせ",), ("打", "合"))


def test_an_answer_gives_the_title_that_is_asked_for_before_a_text_that_mentions_it(collection):
    collection.write("a.md", "# 予定\n\n創作料理の店。料理、料理。\n")
    collection.write("b.md", "# 料理\n\n塩と砂糖の割合。\n")
    collection.import_("new")
    assert collection.places("料理について教えて", k=1, mode="lexical") == ["b.md"]


ANALYSED_BEFORE = "UPDATE counts_1_1 SET counts = CAST('1 another' AS BLOB) WHERE chunk_id = 0"
OLD_INDEX = (
    "DROP TABLE terms_1_1",
    "DROP TABLE fts_1_1",
    "DROP TABLE counts_1_1",
    "DROP TABLE vocabulary_1_1",
    "CREATE VIRTUAL TABLE fts_1_1 USING fts5(terms, content='', contentless_delete=1, "
    "tokenize=\"ascii tokenchars '_'\")",
    "CREATE VIRTUAL TABLE terms_1_1 USING fts5vocab(fts_1_1, row)",
    "INSERT INTO fts_1_1 (rowid, terms) SELECT id, '電池 池は 電 池' FROM vectors_notes",
)


@pytest.mark.parametrize("earlier", [OLD_INDEX, (ANALYSED_BEFORE,)])
def test_words_of_another_version_are_searched_by_pairs_until_the_next_import_embedding_nothing(
    collection, earlier
):
    collection.write("a.md", "# 防災\n\n電池は単三。\n")
    collection.import_("new")
    with open_database(collection.database, "write") as connection:
        for statement in earlier:
            connection.execute(statement)
    signatures = collection.rows("SELECT * FROM signatures_1_1")
    (old,) = collection.search("電池", mode="lexical").results
    assert (old.explanation.matched_words, old.explanation.matched_terms[0]) == ((), "電池")
    collection.backend.embedded.clear()
    said: list[str] = []
    collection.import_(on_notice=said.append)
    assert said == ["building the index of words of 'notes' for this version of mdvec …"]
    assert collection.backend.embedded == []
    assert collection.rows("SELECT * FROM signatures_1_1") == signatures
    collection.check()
    (new,) = collection.search("電池", mode="lexical").results
    assert new.explanation.matched_words == ("電池",)


def test_a_word_that_no_text_has_any_more_is_forgotten(collection):
    collection.write("a.md", "# 一\n\n秘密の合言葉。\n")
    collection.import_("new")
    collection.write("a.md", "# 一\n\n別の話。\n")
    collection.import_()
    words = {str(term) for (term,) in collection.rows("SELECT term FROM vocabulary_1_1")}
    assert words >= {"=別", "=話"}
    assert not any("秘密" in word or "合言葉" in word for word in words)
