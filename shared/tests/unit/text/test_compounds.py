"""Katakana in a text: a word of it, a part of a compound, or letters inside another word."""

from table_of_cases import each

from mdvec.text.whole_words import is_word_of

INSIDE = {
    "ポート": "パスポート レポート サポート", "ログ": "プログラム ブログ ログイン",
    "ライン": "オンライン", "レス": "ストレス", "イン": "デザイン", "ボード": "キーボード",
    "テスト": "コンテスト", "パン": "フライパン", "コード": "レコード バーコード",
    "ツール": "スツール", "キー": "クッキー", "クラス": "グラス", "レンダー": "カレンダー",
    "ライス": "スライス", "ラン": "プラン", "ローン": "クローン", "ペン": "オープン",
    "シート": "レシート", "アート": "スタート", "リング": "スプリング", "タイル": "スタイル",
    "ロック": "ブロック クロック", "タン": "ボタン", "ラック": "トラック", "ベル": "レベル",
}  # fmt: skip
PARTS = {
    "ポート": "ポートフォワーディング ポート番号", "ログ": "ログファイル エラーログ",
    "コンポーネント": "サーバーコンポーネント", "データ": "データベース", "メモ": "チームメモ",
    "リスト": "チェックリスト", "コード": "ソースコード", "テスト": "ユニットテスト",
    "フック": "カスタムフック", "ページ": "ホームページ", "カード": "クレジットカード",
    "アドレス": "メールアドレス", "サーバ": "ウェブサーバ", "マップ": "サイトマップ",
    "ローン": "住宅ローン", "パン": "パン屋", "ノート": "ノートパソコン",
    "ロック": "ファイルロック", "ボタン": "ラジオボタン", "ラック": "サーバーラック",
    "エンジン": "ゲームエンジン", "タイヤ": "スノータイヤ", "ランチ": "ランチセット",
}  # fmt: skip


def pairs(texts: dict[str, str]) -> list[tuple[str, str]]:
    return [(word, text) for word, of_word in texts.items() for text in of_word.split()]


@each(("word", "text"), pairs(INSIDE))
def test_letters_inside_another_word_are_no_word(word, text):
    assert not is_word_of(word, f"昨日の{text}を見た")


@each(("word", "text"), pairs(PARTS))
def test_a_part_of_a_compound_is_a_word(word, text):
    assert is_word_of(word, f"昨日の{text}を見た")
    assert is_word_of(word, f"{word}の話")
