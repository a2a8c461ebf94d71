"""Tells the words that carry a question's content from those that only ask (教えて, how)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum


class Role(Enum):
    """The role of a word in a sentence.

    Grammar (particles, auxiliaries, symbols) is never indexed. A request (教えて, 使い方, 何) is
    indexed like any other word, but a search uses it only if the question has no content words. A
    manner (の概要, を理解したい, the basics of) is content that counts little beside what it is
    about.
    """

    CONTENT = "content"
    MANNER = "manner"
    REQUEST = "request"
    GRAMMAR = "grammar"


_GRAMMAR = frozenset({"助詞", "助動詞", "補助記号", "空白"})
_REQUEST_CLASSES = frozenset({"代名詞", "連体詞", "接続詞", "感動詞"})  # 感動詞: ねえ, ありがとう
_REQUEST_SUBCLASSES = frozenset({("形状詞", "助動詞語幹")})  # よう, そう

# About line by line: verbs of asking and answering; politeness; light verbs; verbs in について,
# に関して, に対して, という; nouns of manner, and nouns that only link clauses; question words.
_REQUESTS = """
教える 知る 分かる 願う 聞く 尋ねる 伺う 説明 解説 紹介 質問 詳しい 簡単 具体
存じる 確認 感じ 良く ねえ もしもし 御免 今日は 今晩は 御早う
下さる 頂く 頂戴 申す 貰う 呉れる 致す 御座る すむ 済む 申し訳 宜しい 欲しい
為る 有る 居る 成る 出来る 遣る 見る 見せる 言う 思う 困る 良い 無い 使う 遣う
つく 付く 就く 関する 対する 因る 於く 置く 仕舞う
方 方法 仕方 遣り方 使い方 意味 場合 時 事 こと 物 もの 者 所 ところ 訳 わけ 為 風
点 話 件 様 よう 助かる 御 旨い 行く 易い 奴 恐縮 手数 とこ おく 自分 筈
何 何故 どう どんな 如何 幾ら 幾つ 何処 何時 誰 どれ どちら 一体 抑 ちょっと 一寸 えーと
"""
_REQUEST_WORDS = frozenset(_REQUESTS.split())
# How something is to be told, and in which form; how far it is known; where it is to be found.
_MANNERS = """
概要 概略 全体 詳細 要点 要約 纏め 纏める 簡潔 基本 基礎 初心 初歩 入門 例 実例 サンプル 参考
理解 把握 勉強 復習 学習 学ぶ 習得 知識 必要 初めて 一通り 案内 指南 もう 一度 再度
記述 記載 掲載 載る 章 箇所 該当 内容 情報 資料 文書 文献 ドキュメント マニュアル ガイド
見付ける 探す 捜す
basics beginner beginners chapter check cover covered covers detail details docs documentation
example examples explained first guide introduction learn overview pointers sample samples
struggling summary talks try tutorial tutorials understand
"""
MANNERS = frozenset(_MANNERS.split())
_ENGLISH = """
a about an and any are as at be been being by can could did do does doing don explain find for from
get give had has have how i if in into is it its just know let like ll look m may me mean means
might my need of on or our please re read regarding s should show so some t tell than that the their
them then there these they this those to us ve want was way we were what when where which while who
whom whose why will with would you your
am anywhere somewhere hi hey kindly thanks wonder wondering
anybody anyone anything somebody someone something
really never actually honestly got getting help hearing heard
kwsk plz pls thx asap lol
"""
ENGLISH_FILLERS = frozenset(_ENGLISH.split())
"""Words in nearly every English question, greetings, and what chat makes of them."""


def role_of(normal_form: str, part_of_speech: Sequence[str]) -> Role:
    """The role of a word, given Sudachi's normalised form and part of speech."""
    if part_of_speech[0] in _GRAMMAR:
        return Role.GRAMMAR
    if (
        part_of_speech[0] in _REQUEST_CLASSES
        or tuple(part_of_speech[:2]) in _REQUEST_SUBCLASSES
        or normal_form in _REQUEST_WORDS
    ):
        return Role.REQUEST
    if part_of_speech[0] == "副詞" or normal_form in MANNERS:
        return Role.MANNER
    return Role.CONTENT
