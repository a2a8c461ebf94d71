"""Sixty kinds of invented files after public descriptions: read right, or refused; none wrong.

A figure is never guessed: what would change one is named by its column until a person states it,
or until the file's running balance allows only one reading.
"""

import tomllib
from datetime import date
from importlib import resources
from typing import NamedTuple

from table_of_cases import each

from mdvec.household import in_english
from mdvec.household.core.cells import records_of
from mdvec.household.core.mapped_rows import read_mapped
from mdvec.household.core.mapping import Mapping
from mdvec.household.core.mapping_sentences import MappingSentence
from mdvec.household.core.passed_over import PassedOver
from mdvec.household.core.proposal import proposal_with
from mdvec.household.core.statement_kinds import Mappings, read_statement
from mdvec.household.interfaces.mappings import only_ready_made
from mdvec.text import shown_name

TODAY = date(2025, 8, 15)


class Kind(NamedTuple):
    """A file, the amounts that it means, and what a person must state (None: nothing)."""

    text: str
    amounts: list[int]
    column: str = ""
    stated: dict[str, object] = {}


KINDS = {
    "card-names-its-spending": Kind(
        "利用日,利用店名,利用金額\n2025/7/1,架空書店,1000\n2025/7/2,架空電気,2000\n",
        [-1000, -2000],
    ),
    "jcb-correction": Kind(
        "ご利用日,ご利用先など,ご利用金額(￥),訂正サイン\n2025/7/1,架空書店,1000,\n2025/7/2,架空書店,1000,-\n"
        "2025/7/3,架空電気,300,\n",
        [-1000, 1000, -300], "訂正サイン", {"reversals": {"訂正サイン": ["-"]}},
    ),
    "cancelled-by-state": Kind(
        "利用日,利用店名,利用金額,状態\n2025/7/1,架空書店,1000,確定\n2025/7/2,架空電気,2000,取消\n",
        [-1000], "状態", {"skipped": {"状態": ["取消"]}},
    ),
    "one-state-today": Kind(
        "利用日,利用店名,利用金額,ステータス\n2025/7/1,架空書店,1000,確定\n",
        [-1000], "ステータス", {"ignored": ["ステータス"]},
    ),
    "no-correction-yet": Kind(
        "利用日,利用店名,利用金額,訂正サイン\n2025/7/1,架空書店,1000,\n2025/7/2,架空書店,500,\n",
        [-1000, -500],
    ),
    "failed-by-a-word-of-its-own": Kind(
        "利用日,利用店名,利用金額,処理\n2025/7/1,架空書店,1000,完了\n2025/7/2,架空電気,2000,失敗\n",
        [-1000], "処理", {"skipped": {"処理": ["失敗"]}},
    ),
    "more-kinds-than-six": Kind(
        "利用日,利用店名,利用金額,種類\n" + "".join(
            f"2025/7/{day},架空書店,{day}00,{word}\n"
            for day, word in enumerate(["一", "二", "三", "四", "五", "六", "七", "無効"], 1)
        ),
        [-100, -200, -300, -400, -500, -600, -700], "種類", {"skipped": {"種類": ["無効"]}},
    ),
    "opening-balance": Kind(
        "取引日,摘要,出金,入金,残高\n2025/7/1,開始残高,,50000,50000\n2025/7/2,架空電力,3000,,47000\n",
        [-3000], "摘要", {"skipped": {"摘要": ["開始残高"]}},
    ),
    "opening-balance-without-an-amount": Kind(
        "取引日,摘要,出金,入金,残高\n2025/7/1,開始残高,,,50000\n2025/7/2,架空電力,3000,,47000\n"
        "2025/7/3,架空電力,2000,,45000\n",
        [-3000, -2000],
    ),
    "minus-in-a-column-of-money-that-goes-out": Kind(
        "取引日,摘要,出金,入金\n2025/7/1,架空電力,-3000,\n2025/7/2,給与,,30000\n",
        [-3000, 30000], "出金", {"paid_in": ["入金", "出金"]},
    ),
    "minus-that-is-given-back": Kind(
        "取引日,摘要,出金,入金\n2025/7/1,架空電力,3000,\n2025/7/2,架空電力,-300,\n",
        [-3000, 300], "出金", {"paid_out": "出金"},
    ),
    "minus-by-the-balance": Kind(
        "取引日,摘要,出金,入金,残高\n2025/7/1,給与,,30000,30000\n2025/7/2,架空電力,-3000,,27000\n",
        [30000, -3000],
    ),
    "given-back-by-the-balance": Kind(
        "取引日,摘要,出金,入金,残高\n2025/7/1,水道,3000,,27000\n2025/7/2,水道,-3000,,30000\n",
        [-3000, 3000],
    ),
    "undone-by-a-word-though-the-balance-fits": Kind(
        "取引日,摘要,出金,入金,残高\n2025/7/1,水道,3000,,27000\n2025/7/2,水道 取消,,3000,30000\n",
        [-3000, 3000], "摘要", {"refunds": {"摘要": ["*取消"]}},
    ),
    "oldest-row-goes-the-other-way": Kind(
        "日時,取引,店舗,金額,残高\n2025/7/1,支払,架空書店,540,9460\n2025/7/3,入れた,架空駅,3000,12460\n",
        [-540, 3000], "取引", {"outgoing": {"取引": ["支払"]}},
    ),
    "oldest-row-has-a-word-of-its-own-beside-ways-by-the-balance": Kind(
        "取引日,取引区分,金額,残高,摘要\n2024/11/3,カード出金,10000,113456,ＡＴＭ\n"
        "2024/11/5,入金,250000,363456,給与\n2024/11/10,振込出金,5500,357956,家賃\n"
        "2024/11/12,入金,3000,360956,利息\n",
        [-10000, 250000, -5500, 3000], "取引区分", {"outgoing": {"取引区分": ["カード出金"]}},
    ),
    "newest-row-first-and-several-words-that-go-out-by-the-balance": Kind(
        "取引日,取引名,金額,残高,摘要\n2024/11/12,振替支払,2000,355956,架空信販\n"
        "2024/11/10,支払,5500,357956,架空電力\n2024/11/5,入金,250000,363456,給与\n"
        "2024/11/3,支払,10000,113456,現金\n",
        [-2000, -5500, 250000, -10000],
    ),
    "oldest-row-of-each-account-has-a-word-of-its-own": Kind(
        "取引日,口座名,取引,金額,残高,摘要\n2025/7/1,甲,支払,500,9500,書店\n2025/7/2,甲,支払,300,9200,電力\n"
        "2025/7/1,乙,受け取った,700,700,友人\n2025/7/2,乙,支払,100,600,売店\n",
        [-500, -300, 700, -100], "取引", {"outgoing": {"取引": ["支払"]}},
    ),
    "undone-by-its-kind-though-the-balance-fits": Kind(
        "取引日,取引,金額,残高,摘要\n2025/7/1,使用,500,9500,架空書店\n2025/7/2,使用,300,9200,架空電気\n"
        "2025/7/3,取消,300,9500,架空電気\n",
        [-500, -300, 300], "取引", {"refunds": {"取引": ["取消"]}},
    ),
    "undone-payment-in-a-column-of-payments-though-the-balance-fits": Kind(
        "取引日,摘要,出金,入金,残高\n2025/7/1,架空書店,500,,9500\n"
        "2025/7/2,取消 架空書店,500,,10000\n",
        [-500, 500], "摘要", {"reversals": {"摘要": ["取消*"]}},
    ),
    "oldest-row-before-a-word-that-goes-both-ways": Kind(
        "取引日,取引区分,金額,残高,摘要\n2024/11/1,カード,10000,90000,ＡＴＭ\n"
        "2024/11/5,振込,250000,340000,給与\n2024/11/10,自払,5500,334500,ガス\n"
        "2024/11/12,振込,20000,314500,家賃\n",
        [-10000, 250000, -5500, -20000], "取引区分",
        {"outgoing": {"摘要": ["ＡＴＭ", "ガス", "家賃"]}, "ignored": ["取引区分"]},
    ),
    "two-rows-of-one-word-that-move-nothing-together": Kind(
        "取引日,取引区分,金額,残高,摘要\n2024/11/1,自払,10000,90000,ガス\n"
        "2024/11/5,振込,250000,340000,給与\n2024/11/6,振込,250000,90000,積立\n"
        "2024/11/10,自払,5500,84500,ガス\n",
        [-10000, 250000, -250000, -5500], "取引区分",
        {"outgoing": {"摘要": ["ガス", "積立"]}, "ignored": ["取引区分"]},
    ),
    "negative-correction-beside-a-word-of-the-oldest-row": Kind(
        "取引日,取引区分,金額,残高,摘要\n2024/11/3,カード出金,10000,113456,ＡＴＭ\n"
        "2024/11/5,入金,250000,363456,給与\n2024/11/10,振込出金,5500,357956,家賃\n"
        "2024/11/12,振込出金,-5500,363456,家賃\n2024/11/13,入金,3000,366456,利息\n",
        [-10000, 250000, -5500, 5500, 3000], "取引区分", {"outgoing": {"取引区分": ["カード出金"]}},
    ),
    "several-accounts-by-the-balance": Kind(
        "口座名,取引日,取引区分,金額,残高,摘要\n甲,2024/11/3,引落し,10000,90000,ＡＴＭ\n"
        "甲,2024/11/5,振込,250000,340000,給与\n甲,2024/11/10,引落し,5500,334500,家賃\n"
        "乙,2024/11/3,振込,10000,30000,甲\n乙,2024/11/5,引落し,5000,25000,乙\n",
        [-10000, 250000, -5500, 10000, -5000],
    ),
    "several-headers-by-the-balance": Kind(
        "取引日,取引区分,金額,残高,摘要\n2024/11/3,引落し,10000,90000,ＡＴＭ\n"
        "2024/11/5,振込,250000,340000,給与\n2024/11/10,引落し,5500,334500,家賃\n\n"
        "取引日,取引区分,金額,残高,摘要\n2024/11/3,振込,10000,30000,甲\n2024/11/5,引落し,5000,25000,乙\n",
        [-10000, 250000, -5500, 10000, -5000],
    ),
    "more-words-than-six-by-the-balance": Kind(
        "取引日,取引区分,金額,残高,摘要\n2024/11/1,給与,1,1,甲\n2024/11/3,給与,10000,10001,甲\n"
        "2024/11/5,引落し,500,9501,甲\n" + "".join(
            f"2024/11/{day},{word},100,{9001 + day * 100},乙\n"
            for day, word in enumerate(["利息", "年金", "配当", "還付", "預入"], 6)
        ),
        [1, 10000, -500, 100, 100, 100, 100, 100],
    ),
    "way-of-paying-with-a-word-for-balances-though-the-balance-fits": Kind(
        "日付,取引内容,支払方法,出金,入金,残高\n2024/11/3,書店,ウォレット残高,500,,9500\n"
        "2024/11/4,売店,ポイント,300,,9200\n",
        [-500, -300],
    ),
    "given-back-by-its-kind-though-the-balance-fits": Kind(
        "取引日,取引,金額,残高,摘要\n2025/7/1,使用,1000,9000,架空書店\n2025/7/2,返金,1000,10000,架空書店\n"
        "2025/7/3,使用,2000,8000,架空電気\n2025/7/4,受取り,100,8100,友人\n",
        [-1000, 1000, -2000, 100], "取引", {"refunds": {"取引": ["返金"]}},
    ),
    "rides-by-the-balance": Kind(
        "日付,種別,入場駅,出場駅,利用額,残高\n2025/6/1,電車,甲,乙,-160,1840\n"
        "2025/6/2,チャージ,,,3000,4840\n2025/6/3,物販,,,-540,4300\n",
        [-160, 3000, -540],
    ),
    "narration-with-debit-and-credit": Kind(
        "Date,Narration,Amount,Dr/Cr\n2025-06-02,Power,5000,DR\n2025-06-25,Salary,300000,CR\n",
        [-5000, 300000], "Dr/Cr", {"outgoing": {"Dr/Cr": ["DR"]}},
    ),
    "oldest-row-is-like-another": Kind(
        "日時,取引,店舗,金額,残高\n2025/7/1,入れた,架空駅,540,9460\n2025/7/3,入れた,架空駅,3000,12460\n",
        [540, 3000],
    ),
    "e-money-charge": Kind(
        "取引日,取引内容,支払額,入金額\n2025/7/1,オートチャージ,,3000\n2025/7/2,架空駅売店,150,\n",
        [3000, -150], "取引内容", {"transfers": {"取引内容": ["*チャージ*"]}},
    ),
    "last-bill-by-another-word": Kind(
        "利用日,利用店名,利用金額\n2025/7/1,前回口座振替,-5000\n2025/7/2,架空電気,2000\n",
        [-2000], "利用店名", {"skipped": {"利用店名": ["前回口座振替"]}},
    ),
    "refund-that-another-column-tells": Kind(
        "利用日,利用店名,利用金額,備考\n2025/7/1,架空電気,-300,返品\n2025/7/2,架空書店,2000,\n",
        [300, -2000], "利用店名", {"refunds": {"備考": ["返品"]}},
    ),
    "refund-of-a-shop-that-was-paid": Kind(
        "利用日,利用店名,利用金額\n2025/7/1,架空電気,2000\n2025/7/2,架空電気,-2000\n",
        [-2000, 2000],
    ),
    "yearly-fee": Kind(
        "利用日,利用店名,利用金額,年会費\n2025/7/1,架空書店,1000,0\n2025/7/2,架空電気,2000,1100\n",
        [-1000, -3100], "年会費", {"fees": ["年会費"]},
    ),
    "fees-of-zero": Kind(
        "取引日,摘要,出金,入金,手数料\n2025/7/1,振込,1000,,0\n2025/7/2,給与,,300,0\n", [-1000, 300],
    ),
    "state-within-the-balance": Kind(
        "取引日,摘要,出金,入金,残高,状態\n2025/7/1,給与,,30000,30000,確定\n"
        "2025/7/2,振込,1000,,29000,速報\n2025/7/3,架空電力,500,,28500,確定\n",
        [30000, -1000, -500],
    ),
    "state-against-the-balance": Kind(
        "取引日,摘要,出金,入金,残高,状態\n2025/7/1,給与,,30000,30000,確定\n"
        "2025/7/2,振込,1000,,30000,不成立\n2025/7/3,架空電力,500,,29500,確定\n",
        [30000, -500],
    ),
    "day-of-cancellation": Kind(
        "利用日,利用店名,利用金額,取消日\n2025/7/1,架空書店,1000,\n2025/7/2,架空電気,2000,2025/7/3\n",
        [-1000], "取消日", {"skipped": {"取消日": ["2025*"]}},
    ),
    "day-of-booking": Kind(
        "利用日,利用店名,利用金額,計上日\n2025/7/1,架空書店,1000,2025/7/2\n"
        "2025/7/2,架空電気,2000,2025/7/3\n",
        [-1000, -2000],
    ),
    "sign-that-is-a-star": Kind(
        "利用日,利用店名,利用金額,印\n2025/7/1,架空書店,1000,\n2025/7/2,架空電気,2000,*\n",
        [-1000, -2000], "印", {"counted": {"印": ["*"]}},
    ),
    "short-years-and-a-discount-without-a-day": Kind(
        "利用日,利用店名,利用金額\n25/07/01,架空書店,1000\n,割引,-50\n25/07/02,架空電気,2000\n",
        [-1000, -2000], "利用日", {"date_format": "yy/mm/dd"},
    ),
    "states-that-look-like-descriptions": Kind(
        "利用日,利用店名,処理内容,利用金額\n2025/7/1,架空書店,完了,1000\n2025/7/2,架空電気,失敗,2000\n",
        [-1000], "処理内容", {"skipped": {"処理内容": ["失敗"]}},
    ),
    "kinds-in-place-of-descriptions": Kind(
        "取引日,取引内容,支払額,入金額\n" + "".join(
            f"2025/7/{day},{'無効' if day == 3 else '支払'},{day}00,\n" for day in range(1, 8)
        ),
        [-100, -200, -400, -500, -600, -700], "取引内容", {"skipped": {"取引内容": ["無効"]}},
    ),
    "column-whose-name-ends-like-an-id": Kind(
        "Date,Description,Withdrawal,Deposit,Void\n2025-07-01,Shop,1000,,yes\n2025-07-02,Cafe,20,,no\n",
        [-20], "Void", {"skipped": {"Void": ["yes"]}},
    ),
    "price-of-one-and-their-number": Kind(
        "購入日,商品名,購入価格,数量\n2025/7/1,架空の本,1000,2\n2025/7/2,架空のペン,100,1\n",
        [], "数量",
    ),
    "columns-that-differ-by-a-number": Kind(
        "利用日,利用店名,利用金額,区分1,区分2\n2025/7/1,架空書店,1000,甲,済\n2025/7/2,架空電気,20,乙,否\n",
        [-1000], "区分2", {"ignored": ["区分1"], "skipped": {"区分2": ["否"]}},
    ),
    "all-yen": Kind(
        "利用日,利用店名,利用金額,通貨\n2025/7/1,架空書店,1000,JPY\n2025/7/2,架空電気,2000,JPY\n",
        [-1000, -2000],
    ),
    "short-years": Kind(
        "取引日,摘要,出金,入金\n07.07.01,架空電力,1000,\n07.07.02,給与,,3000\n",
        [-1000, 3000], "取引日", {"date_format": "令和"},
    ),
    "short-years-and-days-first": Kind(
        "取引日,摘要,出金,入金\n13/07/25,架空電力,1000,\n14/07/25,給与,,3000\n",
        [-1000, 3000], "取引日", {"date_format": "dd/mm/yyyy"},
    ),
    "revolut": Kind(
        "Type,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance\n"
        "CARD_PAYMENT,2025-07-01 10:00:00,2025-07-02 10:00:00,Shop,-1000,0,JPY,COMPLETED,9000\n"
        "CARD_PAYMENT,2025-07-03 10:00:00,2025-07-04 10:00:00,Shop,-500,0,JPY,REVERTED,\n"
        "TRANSFER,2025-07-05 10:00:00,2025-07-05 10:00:00,To A,-2000,100,JPY,COMPLETED,6900\n",
        [-1000, -2100], "State",
        {"skipped": {"State": ["REVERTED"]}, "fees": ["Fee"], "currency": "Currency"},
    ),
    "revolut-euro": Kind(
        "Date,Description,Amount,Currency,Balance\n2025-07-01,Shop,-1000,JPY,9000\n"
        "2025-07-02,Cafe,-5,EUR,95\n",
        [-1000], "Currency", {"currency": "Currency"},
    ),
    "wise": Kind(
        "Date,Amount,Currency,Description,Running Balance,Total fees\n"
        "01-07-2025,-1000,JPY,Shop,9000,0\n13-07-2025,-2000,USD,Cafe,100,30\n",
        [-1000], "Currency",
        {"currency": "Currency", "ignored": ["Total fees"], "date_format": "dd/mm/yyyy"},
    ),
    "amount-in-dollars": Kind(
        "Date,Description,Amount (USD)\n2025-07-01,Shop,100\n2025-07-02,Cafe,20\n",
        [], "Amount (USD)",
    ),
    "amount-in-francs": Kind(
        "Date,Description,Amount (CHF)\n2025-07-01,Shop,100\n2025-07-02,Cafe,20\n",
        [], "Amount (CHF)",
    ),
    "amount-in-singapore-dollars": Kind(
        "Date,Description,Amount (SGD)\n2025-07-01,Shop,100\n2025-07-02,Cafe,20\n",
        [], "Amount (SGD)",
    ),
    "thousands-of-yen": Kind(
        "(単位:千円)\n取引日,摘要,出金,入金,残高\n2025/7/1,架空電力,3,,97\n2025/7/2,給与,,300,397\n",
        [-3000, 300000], "unit", {"unit": 1000},
    ),
    "thousands-in-a-column": Kind(
        "利用日,利用店名,利用金額(千円)\n2025/7/1,架空書店,1\n2025/7/2,架空家具,200\n",
        [-1000, -200000], "unit", {"unit": 1000},
    ),
    "carried-over": Kind(
        "取引日,摘要,出金,入金\n2025/7/1,前月繰越,,100000\n2025/7/2,架空電力,3000,\n",
        [-3000], "摘要", {"skipped": {"摘要": ["*繰越*"]}},
    ),
    "carried-over-with-balance": Kind(
        "取引日,摘要,出金,入金,残高\n2025/7/1,前月繰越,,100000,100000\n2025/7/2,架空電力,3000,,97000\n",
        [-3000], "摘要", {"skipped": {"摘要": ["*繰越*"]}},
    ),
    "subtotal": Kind(
        "利用日,利用店名,利用金額\n2025/7/1,架空書店,1000\n2025/7/2,架空電気,2000\n2025/7/2,小計,3000\n",
        [-1000, -2000], "利用店名", {"skipped": {"利用店名": ["小計"]}},
    ),
    "total": Kind(
        "利用日,利用店名,利用金額\n2025/7/1,架空書店,1000\n2025/7/31,ご請求額合計,1000\n",
        [-1000], "利用店名", {"skipped": {"利用店名": ["*合計"]}},
    ),
    "last-bill-paid": Kind(
        "利用日,利用店名,利用金額\n2025/7/1,前回分口座振替金額,-5000\n2025/7/2,架空電気,2000\n",
        [-2000], "利用店名", {"skipped": {"利用店名": ["前回分*"]}},
    ),
    "amex-payment-received": Kind(
        "日付,ご利用内容,ご利用金額\n2025/07/01,PAYMENT RECEIVED,-5000\n2025/07/02,架空商店,2000\n",
        [-2000], "ご利用内容", {"skipped": {"ご利用内容": ["PAYMENT*"]}},
    ),
    "fees": Kind(
        "取引日,摘要,出金,入金,手数料\n2025/7/1,振込,1000,,110\n2025/7/2,給与,,300,\n",
        [-1110, 300], "手数料", {"fees": ["手数料"]},
    ),
    "fees-and-balance": Kind(
        "取引日,摘要,出金,入金,手数料,残高\n2025/7/1,給与,,30000,0,30000\n2025/7/2,振込,1000,,110,28890\n"
        "2025/7/3,振込,2000,,220,26670\n",
        [30000, -1110, -2220],
    ),
    "fees-within-and-balance": Kind(
        "取引日,摘要,出金,入金,手数料,残高\n2025/7/1,給与,,30000,0,30000\n2025/7/2,振込,1110,,110,28890\n"
        "2025/7/3,振込,2220,,220,26670\n",
        [30000, -1110, -2220],
    ),
    "points-used": Kind(
        "利用日,利用店名,利用金額,利用ポイント\n2025/7/1,架空書店,1000,200\n2025/7/2,架空電気,500,0\n",
        [-800, -500], "利用ポイント", {"points": ["利用ポイント"]},
    ),
    "discount": Kind(
        "購入日,商品名,購入金額,値引額\n2025/7/1,架空の本,1000,100\n", [-900], "値引額",
        {"points": ["値引額"]},
    ),
    "tax-beside": Kind(
        "購入日,商品名,購入金額,消費税\n2025/7/1,架空の本,1000,100\n", [-1100], "消費税",
        {"fees": ["消費税"]},
    ),
    "dr-cr": Kind(
        "Date,Description,Amount,DR/CR\n2025-07-01,Shop,1000,DR\n2025-07-02,Pay,3000,CR\n",
        [-1000, 3000], "DR/CR", {"outgoing": {"DR/CR": ["DR"]}},
    ),
    "dr-cr-and-balance": Kind(
        "Date,Description,Amount,DR/CR,Balance\n2025-07-01,Pay,3000,CR,3000\n2025-07-02,Shop,1000,DR,2000\n"
        "2025-07-03,Shop,500,DR,1500\n2025-07-04,Pay,200,CR,1700\n",
        [3000, -1000, -500, 200],
    ),
    "kari-kashi": Kind(
        "取引日,摘要,借方,貸方\n2025/7/1,架空電力,1000,\n2025/7/2,給与,,3000\n",
        [-1000, 3000], "借方", {"paid_out": "借方", "paid_in": "貸方"},
    ),
    "kari-kashi-as-books": Kind(
        "取引日,摘要,借方,貸方,残高\n2025/7/1,売上,3000,,3000\n2025/7/2,架空電力,,1000,2000\n",
        [3000, -1000],
    ),
    "kari-kashi-and-balance": Kind(
        "取引日,摘要,借方,貸方,残高\n2025/7/1,給与,,3000,3000\n2025/7/2,架空電力,1000,,2000\n",
        [3000, -1000],
    ),
    "debit-credit": Kind(
        "Date,Description,Debit,Credit\n2025-07-01,Shop,1000,\n2025-07-02,Pay,,3000\n",
        [-1000, 3000], "Debit", {"paid_out": "Debit", "paid_in": "Credit"},
    ),
    "card-withdrawals-by-word": Kind(
        "取引日,摘要,金額,取引区分\n2025/7/1,架空支店,10000,カード出金\n2025/7/2,給与,3000,振込入金\n",
        [-10000, 3000], "取引区分", {"outgoing": {"取引区分": ["カード出金"]}},
    ),
    "income-or-spending-by-word": Kind(
        "日付,内容,金額,収支\n2025/7/1,架空書店,1000,支出\n2025/7/2,給与,3000,収入\n",
        [-1000, 3000],
    ),
    "amount-alone": Kind(
        "取引日,摘要,金額\n2025/7/1,架空書店,1000\n2025/7/2,架空電気,2000\n",
        [-1000, -2000], "金額", {"positive": "spending"},
    ),
    "amount-and-balance": Kind(
        "取引日,摘要,金額,残高\n2025/7/1,架空書店,1000,9000\n2025/7/2,架空電気,2000,7000\n",
        [-1000, -2000],
    ),
    "like-money-forward": Kind(
        "日付,内容,金額\n2025/7/1,架空書店,1000\n2025/7/2,架空電気,2000\n",
        [-1000, -2000], "金額", {"positive": "spending"},
    ),
    "like-money-forward-and-signed": Kind(
        "日付,内容,金額\n2025/7/1,架空書店,-1000\n2025/7/2,架空電気,-2000\n2025/7/3,給与,9000\n",
        [-1000, -2000, 9000],
    ),
    "like-money-forward-with-states": Kind(
        "日付,内容,金額,状態\n2025/7/1,架空書店,-1000,取消\n2025/7/2,架空電気,-2000,\n",
        [-2000], "状態", {"positive": "income", "skipped": {"状態": ["取消"]}},
    ),
    "day-first": Kind(
        "Date,Description,Withdrawal,Deposit\n01/07/2025,Shop,1000,\n13/07/2025,Pay,,3000\n",
        [-1000, 3000],
    ),
    "month-first": Kind(
        "Date,Description,Withdrawal,Deposit\n07/01/2025,Shop,1000,\n07/13/2025,Pay,,3000\n",
        [-1000, 3000],
    ),
    "day-or-month-first": Kind(
        "Date,Description,Withdrawal,Deposit\n01/07/2025,Shop,1000,\n02/07/2025,Pay,,3000\n",
        [-1000, 3000], "Date", {"date_format": "dd/mm/yyyy"},
    ),
    "years-of-an-era": Kind(
        "取引日,摘要,出金,入金\n令和7年7月1日,架空電力,1000,\nR7.7.2,給与,,3000\n", [-1000, 3000],
    ),
    "months-by-name": Kind(
        'Date,Description,Withdrawal,Deposit\n1 Jul 2025,Shop,1000,\n"Jul 2, 2025",Pay,,3000\n'
        "03-Jul-2025,Shop,500,\n",
        [-1000, 3000, -500],
    ),
    "amazon-orders": Kind(
        "Order Date,Order ID,Product Name,Unit Price,Quantity,Shipping Charge,Total Owed\n"
        "2025-07-01,a-1,Book,1000,2,300,2300\n2025-07-02,a-2,Pen,100,1,0,100\n",
        [-2300, -100], "Shipping Charge",
        {"amount": "Total Owed", "positive": "spending",
         "ignored": ["Unit Price", "Quantity", "Shipping Charge"]},
    ),
    "instalments": Kind(
        "利用日,利用店名,利用金額,支払回数,今回支払額\n2025/7/1,架空家具,30000,3,10000\n",
        [-30000], "今回支払額", {"ignored": ["今回支払額"]},
    ),
    "bill-beside-the-purchase": Kind(
        "利用日,利用店名,利用金額,当月ご請求額\n2025/7/1,架空家具,30000,10000\n2025/7/2,架空書店,500,500\n",
        [-30000, -500], "当月ご請求額", {"ignored": ["当月ご請求額"]},
    ),
    "foreign-amount-beside": Kind(
        "利用日,利用店名,利用金額,現地通貨額,通貨略称\n2025/7/1,Cafe,1500,10,USD\n2025/7/2,架空書店,500,,\n",
        [-1500, -500], "通貨略称", {"ignored": ["現地通貨額", "通貨略称"]},
    ),
    "cancelled-in-words": Kind(
        "利用日,利用店名,利用金額\n2025/7/1,架空書店,1000\n2025/7/2,架空書店 取消,1000\n",
        [-1000, 1000], "利用店名", {"reversals": {"利用店名": ["*取消"]}},
    ),
    "without-header": Kind(
        "2025/7/1,架空電力,1000,\n2025/7/2,給与,,3000\n", [-1000, 3000], "3",
        {"paid_out": 3, "paid_in": 4},
    ),
    "without-header-and-with-balance": Kind(
        "2025/7/1,給与,,3000,3000\n2025/7/2,架空電力,1000,,2000\n", [3000, -1000],
    ),
    "without-header-one-amount": Kind(
        "2025/7/1,架空電力,1000\n2025/7/2,架空書店,3000\n", [-1000, -3000], "3",
        {"positive": "spending"},
    ),
}  # fmt: skip


def amounts_of(mapping, text):
    return [row.amount for row in read_mapped(mapping, records_of(text)).rows]


@each("kind", KINDS)
def test_a_kind_is_read_right_or_refused_with_its_column(kind):
    text, amounts, column, stated = KINDS[kind]
    proposal = proposal_with(text, "架空", TODAY)
    asked = " ".join(each.text() for each in proposal.undecided)
    if column:
        assert column in [each.column for each in proposal.undecided]
        assert column == "unit" or f"column {shown_name(column)}" in asked
        assert all(each.text("ja") != each.text() for each in proposal.undecided)
    else:
        assert proposal.undecided == ()
        assert amounts_of(proposal.mapping, text) == amounts
        if "balance" in kind:
            assert kind == "carried-over" or any(
                "balance" in each.text() for each in proposal.checks
            )
    if stated:
        told = proposal_with(text, "架空", TODAY, stated)
        assert told.undecided == ()
        assert amounts_of(told.mapping, text) == amounts


@each("kind", [
    "given-back-by-the-balance", "undone-by-a-word-though-the-balance-fits",
    "undone-payment-in-a-column-of-payments-though-the-balance-fits",
])  # fmt: skip
def test_what_is_given_back_lowers_spending_and_is_no_income(kind):
    text, _, _, stated = KINDS[kind]
    proposal = proposal_with(text, "架空", TODAY, stated)
    rows = read_mapped(proposal.mapping, list(records_of(text))).rows
    assert {row.category_major for row in rows} == {"未分類"}


@each("kind", KINDS)
def test_no_import_reads_a_kind_by_a_guess(kind):
    text, amounts, column, _ = KINDS[kind]
    parsed = read_statement(text.encode(), "a.csv", only_ready_made())
    if not parsed.passed_over:
        assert [row.amount for row in parsed.rows] == amounts
    else:
        assert parsed.passed_over.may_have_rows
        assert PassedOver.stored(parsed.passed_over.text) == parsed.passed_over
        if kind.startswith("like-money-forward"):
            asked = f"column {shown_name(column)}" if column else "no row has a category"
            assert asked in parsed.passed_over.text


def test_each_sentence_about_a_mapping_is_said_in_both_languages():
    file = resources.files("mdvec.household") / "mapping_sentences.toml"
    for kind in tomllib.loads(file.read_text("utf-8")):
        said = MappingSentence(kind, "列名", "値")
        english, japanese = said.text(), said.text("ja")
        assert english.isascii() != ("列名" in english or "値" in english)
        assert not japanese.isascii()
        assert "{" not in english + japanese


@each("values", ["確定、速報", "10、0", "なし", "電気（冬", "日付。額、取消"])
def test_what_an_english_answer_asks_is_the_english_sentence_with_the_values_as_they_are(values):
    file = resources.files("mdvec.household") / "mapping_sentences.toml"
    for kind in tomllib.loads(file.read_text("utf-8")):
        said = MappingSentence(kind, "列名", values)
        answer = in_english(f"※ 決めること: {said.text('ja')}。")
        english = said.text().replace("、", ", ").removesuffix("?")
        assert answer.removesuffix(".").removesuffix("?") == f"Note: to decide: {english}"


def test_each_of_the_questions_of_an_english_refusal_is_in_english():
    asked = [
        MappingSentence("words", column, "甲、乙").text("ja").removesuffix("。")
        for column in ("状態", "区分", "種類")
    ]
    refusal = f"not saved, because this is undecided: {'; '.join(asked)}. State it: x"
    english = in_english(refusal)
    assert english.count(" says 甲, 乙: which of these rows") == 3
    assert "残り" not in english


@each("key", ["refunds", "counted"])
def test_what_one_shop_is_decided_to_be_asks_about_no_other_shop_of_a_later_file(key):
    head = "利用日,利用場所,利用内容,利用金額\n"
    first = f"{head}2025/7/1,甲,-,550\n2025/7/2,乙,-,980\n2025/7/3,丙,-,-1990\n"
    (asked,) = proposal_with(first, "架空", TODAY).undecided
    assert "refunds" in asked.text()
    told = proposal_with(first, "架空", TODAY, {key: {"利用場所": ["丙"]}})
    assert told.undecided == ()
    later = f"{head}2025/8/1,丁,-,550\n2025/8/2,戊,-,980\n"
    parsed = read_statement(later.encode(), "a.csv", Mappings((told.mapping,)))
    assert [row.amount for row in parsed.rows] == [-550, -980]


def test_new_words_in_a_column_of_kinds_are_asked_about_however_many_rows_a_later_file_has():
    text, _, _, stated = KINDS["kinds-in-place-of-descriptions"]
    mapping = proposal_with(text, "架空", TODAY, stated).mapping
    later = text.splitlines()[0] + "\n2025/8/1,不成立,100,\n"
    parsed = read_statement(later.encode(), "a.csv", Mappings((mapping,)))
    assert "column 取引内容 says 不成立" in parsed.passed_over.text


def test_only_the_word_is_asked_about_of_which_the_balance_says_nothing():
    kind = KINDS["oldest-row-has-a-word-of-its-own-beside-ways-by-the-balance"]
    (asked,) = proposal_with(kind.text, "架空", TODAY).undecided
    assert "says カード出金: which" in asked.text()


def test_a_word_that_only_the_oldest_row_of_a_later_file_has_is_asked_about():
    kind = KINDS["oldest-row-has-a-word-of-its-own-beside-ways-by-the-balance"]
    mapping = proposal_with(kind.text, "架空", TODAY, kind.stated).mapping
    later = kind.text.replace("カード出金", "納税")
    parsed = read_statement(later.encode(), "a.csv", Mappings((mapping,)))
    assert "says 納税: which" in parsed.passed_over.text


@each("kind", [
    "amount-and-balance", "newest-row-first-and-several-words-that-go-out-by-the-balance",
])  # fmt: skip
def test_the_oldest_row_whose_way_no_balance_proves_is_named_to_be_checked(kind):
    text, amounts, *_ = KINDS[kind]
    proposal = proposal_with(text, "架空", TODAY)
    (check,) = [each for each in proposal.checks if each.kind == "oldest"]
    assert check.shown.endswith(f"{amounts[-1] if 'newest' in kind else amounts[0]:+,}")


@each("kind, stated", [
    ("undone-by-its-kind-though-the-balance-fits", {"reversals": {"取引": ["取消"]}}),
    ("amount-and-balance", {"positive": "income"}),
])  # fmt: skip
def test_settings_that_contradict_a_balance_that_fitted_are_refused(kind, stated):
    told = proposal_with(KINDS[kind].text, "架空", TODAY, stated)
    assert [each.kind for each in told.undecided] == ["against"]


def test_an_undone_payment_whose_way_the_balance_proves_may_be_given_back_but_not_reversed():
    proposal = proposal_with(
        KINDS["undone-by-its-kind-though-the-balance-fits"].text, "架空", TODAY
    )
    (asked,) = proposal.undecided
    assert "refunds" in asked.text()
    assert "reversals" not in asked.text()


def test_a_setting_leaves_no_check_that_contradicts_it():
    text = (
        "取引日,摘要,出金,入金,手数料,残高\n07.07.01,振込,1000,,110,9000\n"
        "07.07.02,給与,,300,0,9300\n07.07.03,振込,100,,110,9200\n"
    )
    kinds = [each.kind for each in proposal_with(text, "架空", TODAY).checks]
    assert kinds == ["short-years", "fits-ignored"]
    stated = {"fees": "手数料", "date_format": "令和"}
    assert proposal_with(text, "架空", TODAY, stated).checks == ()


def test_a_card_with_few_shops_can_say_that_they_are_no_kinds():
    shops = [("甲", 1990), *(("乙", 500 + day) for day in range(4)), ("甲", -1990), ("甲", 10)]
    head = "利用日,利用店名,利用金額\n"
    text = head + "".join(
        f"2025/7/{day},{shop},{yen}\n" for day, (shop, yen) in enumerate(shops, 1)
    )
    stated = {"refunds": {"利用店名": ["甲"]}}
    asked = proposal_with(text, "架空", TODAY).undecided
    assert "kinds = []" in asked[0].text()
    told = proposal_with(text, "架空", TODAY, {**stated, "kinds": []})
    assert told.undecided == ()
    later = head + "2025/8/1,丙,550\n2025/8/2,丁,980\n"
    parsed = read_statement(later.encode(), "a.csv", Mappings((told.mapping,)))
    assert [row.amount for row in parsed.rows] == [-550, -980]


def test_a_word_of_the_oldest_row_that_names_its_way_is_not_asked_about():
    head = "取引日,取引区分,金額,残高,摘要\n"
    mapping = Mapping(
        name="架空", header=tuple(head.strip().split(",")), date=("取引日",), description=("摘要",),
        amount="金額", balance="残高", outgoing={"取引区分": ("振込出金",)},
    )  # fmt: skip
    later = "2025/8/1,{},3000,113456,甲\n2025/8/2,振込出金,3456,110000,乙\n"
    for word, is_read in (("入金", True), ("出金", False), ("税", False)):
        text = head + later.format(word)
        parsed = read_statement(text.encode(), "a.csv", Mappings((mapping,)))
        assert [row.amount for row in parsed.rows] == ([3000, -3456] if is_read else [])


def test_a_star_is_no_word_that_counts_by_itself():
    text = "利用日,利用店名,利用金額,印\n2025/7/1,甲,100,*\n2025/7/2,乙,20,取消\n"
    proposal = proposal_with(text, "架空", TODAY, {"skipped": {"印": ["取消"]}})
    assert not proposal.mapping.counted
    assert [each.column for each in proposal.undecided] == ["印"]


def test_of_two_columns_of_one_name_the_second_is_asked_about_by_its_number():
    mapping = Mapping(
        name="架空", header=("利用日",), date=("利用日",), description=("利用店名",),
        amount="利用金額", positive="spending", ignored=("備考",),
    )  # fmt: skip
    text = "利用日,利用店名,利用金額,備考,備考\n2025/7/1,甲,100,,\n2025/7/2,乙,20,,取消\n"
    parsed = read_statement(text.encode(), "a.csv", Mappings((mapping,)))
    assert "column 5 says 取消" in parsed.passed_over.text
