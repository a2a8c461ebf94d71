"""Everyday words of tables in English and Japanese: which names mean the same."""

from __future__ import annotations

import re
import unicodedata

_WORDS = """
sales revenue turnover 売上 売上高 uriage
amount total money 金額 合計 合計金額 総額 kingaku
price 価格 値段 単価 kakaku tanka
quantity qty units 数量 個数 点数 suuryou
date day 日付 日 年月日 取引日 利用日 hiduke hizuke
month 月 年月 tsuki
year 年 年度
week 週
time 時刻 時間 日時 timestamp datetime
weekday 曜日
store shop payee merchant 店舗 店 店名 店舗名 お店 支店 tenpo mise store_name shop_name
customer client buyer 顧客 客 お客様 得意先 取引先 kokyaku
user member 利用者 会員 ユーザー
product item goods 商品 品目 製品 品名 商品名 shouhin product_name item_name
category カテゴリ カテゴリー 分類 区分 部門 大項目 費目 category_major
subcategory 中項目 小分類 中分類 category_minor
kind type 種類 種別 タイプ 区分
region area 地域 地区 エリア chiiki
prefecture 都道府県 県
city 市 市区町村 都市
country 国
address 住所
name 名前 氏名 名称 名 namae
id 番号
age 年齢
sex gender 性別
payment payment_method 支払 支払い 決済 支払方法 支払い方法 決済方法
overtime overtime_hours 残業 残業時間
working_hours work_hours hours_worked 労働時間 勤務時間 稼働時間
payment_method 支払方法 支払い方法 決済方法
account 口座 金融機関 保有金融機関 口座名 bank
description 内容 摘要 明細 説明 details
memo note notes comment remark remarks メモ 備考 コメント
status state 状態 状況 ステータス
order 注文 受注
delivery shipping 配送 配達 発送
stock inventory 在庫 zaiko
cost 原価 費用 コスト
expense spending 支出 出費
income 収入
profit 利益 粗利
tax 税 消費税
discount 割引 値引
budget 予算
employee staff 従業員 社員 スタッフ 担当者 担当
department 部署 部門
company 会社 企業
supplier vendor 仕入先
phone tel 電話 電話番号
email mail メール メールアドレス
score points 点数 得点 ポイント
rating 評価
temperature temp 気温 温度
weather 天気 天候
rainfall precipitation 降水量 雨量
humidity 湿度
weight 重量 重さ 体重
height 身長 高さ
length 長さ
distance 距離
speed 速度
population 人口
rate ratio 率 割合 比率
average 平均
household 家計 世帯 家
transfer 振替
duplicate 重複
visit 来店 訪問
record log 記録 履歴
master マスタ マスター
transactions ledger 家計簿 取引 明細 kakeibo
start 開始
end 終了
open 開店 開業
birthday birth_date 生年月日 誕生日
"""
_SEPARATORS = re.compile(r"[\s_\-・.]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_KANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}


def _key(word: str) -> str:
    return _SEPARATORS.sub("", unicodedata.normalize("NFKC", word).casefold().translate(_KANA))


def _meanings() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _WORDS.strip().splitlines():
        words = line.split()
        for word in words:
            found.setdefault(_key(word), set()).add(words[0])
    return {word: frozenset(meant) for word, meant in found.items()}


_MEANINGS = _meanings()
_MAX_LENGTH = max(map(len, _MEANINGS))
_FILLERS = {"の", "of", "the", "value"}
GENERIC_TABLES = frozenset(
    {"data", "df", "dataset", "table", "mytable", "yourtable", "tablename", "テーブル", "データ"}
)
"""Keys of names that stand for whichever table there is."""


_HARMLESS = frozenset({"sales", "transactions", "record", "unit", "amount"})


def is_harmless(word: frozenset[str]) -> bool:
    """Whether a word narrows nothing: the sales amount is the amount, the tax amount is not."""
    return bool(word & _HARMLESS)


def key(name: str) -> str:
    """A name without width, case, kana and separators."""
    return _key(name)


def meanings(name: str) -> tuple[frozenset[str], ...]:
    """What a name's words may mean, each by all names of the meaning; () if a word is unknown.

    A word that no list holds means itself, unless it is Japanese, where words have no borders.
    """
    whole = _MEANINGS.get(_key(name))
    if whole is not None:
        return (whole,)
    parts = _SEPARATORS.split(_CAMEL.sub("_", unicodedata.normalize("NFKC", name)))
    found: list[frozenset[str]] = []
    for part in filter(None, parts):
        word = _key(part)
        if word in _FILLERS:
            continue
        split = _split(word)
        if split is None:
            return ()
        found.extend(split)
    return tuple(found)


def _split(word: str) -> list[frozenset[str]] | None:
    if word.isascii():
        singular = word.removesuffix("s")
        return [_MEANINGS.get(word) or _MEANINGS.get(singular) or frozenset({singular})]
    found: list[frozenset[str]] = []
    at = 0
    while at < len(word):
        for size in range(min(_MAX_LENGTH, len(word) - at), 0, -1):
            if (meant := _MEANINGS.get(word[at : at + size])) is not None:
                found.append(meant)
                at += size
                break
            if word[at : at + size] in _FILLERS:
                at += size
                break
        else:
            ascii_end = re.match(r"[a-z0-9]+", word[at:])
            if ascii_end is None:
                return None
            found.append(frozenset({ascii_end[0]}))
            at += len(ascii_end[0])
    return found
