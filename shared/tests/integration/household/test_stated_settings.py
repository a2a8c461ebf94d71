"""What a user states of a mapping is refused or named where it cannot be meant for the file."""

import pytest
from table_of_cases import each

from mdvec.household.core.mapping import InvalidMapping
from mdvec.household.statement_preview import MappingRefused, preview_statement

CARD = "利用日,利用店名,利用金額,状態", "2026/07/01,店A,1000,確定", "2026/07/02,店B,2000,{}"
BANK = "取引日,摘要,出金,入金,残高", "2026/07/01,給与,,300,400", "2026/07/03,電気,80,,320"
HAS_NOT = "names the column '{}', which the file has not; it has: 取引日, 摘要, 出金, 入金, 残高"


@pytest.fixture
def look(tmp_path):
    def look(lines, *stated, save=False):
        file = tmp_path / "a.csv"
        file.write_text("\n".join([*lines, ""]), "utf-8")
        return preview_statement(file, tmp_path, stated=stated, save=save)

    return look


@each(
    ("there", "stated", "counted"),
    [
        ("取消", "取消", ["確定"]),
        ("取消", "*消", ["確定"]),
        ("取消", "取り消し", None),
        ("失敗", "エラー", None),
        ("返品", "返品済", None),
        ("保留", "未確定", None),
    ],
)
def test_a_stated_word_that_the_file_does_not_have_explains_no_other(look, there, stated, counted):
    file = *CARD[:2], CARD[2].format(there)
    shown = look(file, f'skipped = {{"状態" = ["{stated}"]}}')
    missing = f"column 状態: nothing in it is {stated}, as stated"
    assert (missing in shown.checks) == (counted is None)
    assert any("column 状態 says 確定、" in each for each in shown.undecided) == (counted is None)
    assert ('"状態" = ["確定"]' in shown.toml) == (counted is not None)


def test_words_that_speak_of_no_transaction_are_never_counted_as_the_rest(look):
    file = *CARD[:2], CARD[2].format("取消"), CARD[2].format("返品"), CARD[2].format("チャージ")
    shown = look(file, 'skipped = {"状態" = ["取消"]}')
    assert '"状態" = ["確定"]' in shown.toml
    assert [each[:17] for each in shown.undecided] == ["column 状態 says 返品"]
    stated = 'skipped = {"状態" = ["取消"]}\ncounted = {"状態" = ["返品", "チャージ"]}'
    assert look(file, stated, save=True).saved


@each(
    ("stated", "why"),
    [
        ('paid_out = "なし"', HAS_NOT.format("なし")),
        ('skipped = {"ないれつ" = ["Z"]}', HAS_NOT.format("ないれつ")),
        ('header = ["ないれつ"]', HAS_NOT.format("ないれつ")),
        ("fees = [7]", "names the column 7, which the file has not"),
        ('fees = ["出金"]', "the column '出金' is named twice: 'paid_out', 'fees'"),
        ('points = ["残高"]', "the column '残高' is named twice: 'balance', 'points'"),
        ('paid_in = ["入金", "入金"]', "the column '入金' is named twice: 'paid_in', 'paid_in'"),
        ('ignored = ["出金"]', "'ignored' names the column '出金', whose values are taken"),
        ('positive = "spending"', "'positive' needs the single column 'amount'"),
        ("paid_out = 3.5", "'paid_out' must name columns of the header"),
        ("fees = [3]", "the column 3 is named twice: 'paid_out', 'fees'"),
        ("points = [5]", "the column 5 is named twice: 'balance', 'points'"),
        ("paid_out = [3, 5]", "the column 5 is named twice: 'paid_out', 'balance'"),
        ("ignored = [1]", "'ignored' names the column 1, whose values are taken"),
    ],
)
def test_a_setting_that_cannot_be_meant_for_the_file_is_refused(look, stated, why):
    with pytest.raises(InvalidMapping) as refused:
        look(BANK, stated)
    assert why in str(refused.value)


def test_a_name_in_a_file_whose_columns_are_numbers_is_answered_with_its_numbers(look):
    with pytest.raises(InvalidMapping, match=r"which the file has not; it has: 1-5"):
        look(HEADLESS, 'ignored = ["店番"]')


@pytest.mark.parametrize("stated", ['date = "摘要"', 'skipped = {"摘要" = ["*"]}'])
def test_a_mapping_that_reads_no_row_of_its_file_is_not_saved(look, stated, tmp_path):
    assert look(BANK, stated).rows_read == 0
    with pytest.raises(MappingRefused, match="it reads no row of the file"):
        look(BANK, stated, save=True)
    assert list(tmp_path.glob("*.toml")) == []


KINDS = (
    "日付,摘要,金額,手数料,備考", "2026/07/01,ＡＴＭ,-8000,10,x", "2026/07/02,店,-1000,0,y",
    "2026/07/03,取消,500,0,z",
)  # fmt: skip
DECIDED = """
fees = ["手数料"]
ignored = ["備考"]
transfers = {"摘要" = ["ＡＴＭ"]}
skipped = {"摘要" = ["取消"]}
kinds = []
positive = "income"
"""


@each(
    ("stated", "there", "gone"),
    [
        ('transfers = {"摘要" = []}', ["[skipped]"], ["[transfers]", "ＡＴＭ"]),
        ("transfers = {2 = []}", ["[skipped]"], ["[transfers]", "ＡＴＭ"]),
        ('reversals = {"摘要" = []}', ["[skipped]", "[transfers]"], ["[reversals]"]),
        ("skipped = {2 = ['店']}", ['"摘要" = ["取消", "店"]', "[transfers]"], ["2 = "]),
        ("transfers = {}", ["[skipped]"], ["[transfers]", "ＡＴＭ"]),
        ('counted = {"摘要" = ["ATM"]}', ["[counted] # rows", '"摘要" = ["ATM"'], ["ＡＴＭ"]),
        ("counted = {2 = ['ＡＴＭ']}", ["[counted]", "[skipped]"], ["[transfers]"]),
        ('reversals = {"摘要" = ["取消"]}', ["[reversals]", "[transfers]"], ["[skipped]"]),
        (
            'skipped = {"摘要" = ["取消", "ＡＴＭ"]}\ntransfers = {"摘要" = ["ＡＴＭ"]}',
            ['"摘要" = ["取消", "ＡＴＭ"]', "[transfers]"], [],
        ),
        ('outgoing = {"摘要" = ["ＡＴＭ"]}', ["[outgoing]", "[transfers]"], []),
        ('account = "k"', ["[skipped]", "[transfers]", "fees = ", "ignored = "], []),
        ('fees = []\nignored = ["備考", "手数料"]', ["ignored = "], ["fees = "]),
        ('ignored = []\nmemo = "備考"', ["fees = ", "memo = "], ["ignored = "]),
    ],
)  # fmt: skip
def test_what_was_stated_stays_until_it_is_cleared_or_has_another_meaning(
    look, tmp_path, stated, there, gone
):
    for file in tmp_path.glob("*.toml"):
        file.unlink()
    assert look(KINDS, DECIDED, save=True).saved
    shown = look(KINDS, stated, save=True)
    assert shown.saved
    assert [each for each in there if each not in shown.toml] == []
    assert [each for each in gone if each in shown.toml] == []
    again = look(KINDS).toml.splitlines()
    assert again == shown.toml.splitlines()


def test_words_of_a_column_that_is_stated_by_its_number_are_those_of_its_name(look):
    of_name, of_number = (look(BANK, f'skipped = {{{each} = ["給与"]}}') for each in ('"摘要"', 2))
    assert of_number == of_name


def test_words_are_cleared_by_any_spelling_of_their_column(look):
    spaced = [KINDS[0].replace("摘要", "摘　要"), *KINDS[1:]]
    assert "[transfers]" in look(spaced, DECIDED.replace("摘要", "摘　要"), save=True).toml
    shown = look(spaced, 'transfers = {"摘要" = []}', save=True)
    assert "[transfers]" not in shown.toml
    assert "[skipped]" in shown.toml


def test_a_check_of_what_is_read_otherwise_now_is_not_repeated(look):
    card = [line.rpartition(",")[0] for line in CARD]
    assert look(card).checks == ("positive amounts are taken as money spent",)
    shown = look(card, 'paid_in = "利用金額"')
    assert (shown.checks, [row.amount for row in shown.rows]) == ((), [1000, 2000])


OLD_CARD = """
name = "k"
header = ["ご利用日", "ご利用店名", "ご利用金額", "入金額"]
date = "ご利用日"
description = "ご利用店名"
paid_out = "ご利用金額"
paid_in = "入金額"
positive = "spending"
"""
OLD_BANK = """
name = "b"
files = "a*"
date = 1
description = 2
paid_out = 3
paid_in = 4
balance = 3
ignored = 5
"""
CARD_ROWS = "ご利用日,ご利用店名,ご利用金額,入金額", "2026/07/01,店A,1000,", "2026/07/09,入金,,500"
HEADLESS = (
    "2026/07/01,電気,8000,,92000", "2026/07/03,水道,4000,,88000", "2026/07/05,ガス,3000,,85000",
    "2026/07/06,NHK,2000,,83000", "2026/07/10,通信,6000,,77000", "2026/07/15,家賃,50000,,27000",
    "2026/07/25,給与,,300000,327000", "2026/07/27,カード,40000,,287000",
)  # fmt: skip
PAID = [-8000, -4000, -3000, -2000, -6000]


@each(
    ("mapping", "lines", "stated", "amounts"),
    [
        (OLD_CARD, CARD_ROWS, 'paid_out = "ご利用金額"', [-1000, 500]),
        (OLD_BANK, HEADLESS, "paid_out = 3", PAID),
    ],
)
def test_a_mapping_with_needless_keys_of_an_older_version_is_read_and_can_be_changed(
    look, tmp_path, mapping, lines, stated, amounts
):
    (tmp_path / "old.mapping.toml").write_text(mapping, "utf-8")
    shown = look(lines)
    assert (shown.origin, [row.amount for row in shown.rows]) == ("own", amounts)
    was = [row.category for row in shown.rows]
    for changes in ('account = "c"', stated):
        shown = look(lines, changes, save=True)
        assert [row.amount for row in shown.rows] == amounts
    assert [row.category for row in look(lines).rows] == was


@each(
    ("stated", "is_ignored"),
    [
        (("paid_out = 3", "paid_in = 4"), False),
        (("paid_out = 3", "paid_in = 4", "ignored = [5]"), True),
    ],
)
def test_columns_that_the_proposal_took_for_something_else_can_be_stated(look, stated, is_ignored):
    shown = look(HEADLESS, *stated, save=True)
    assert [row.amount for row in shown.rows] == PAID
    assert ("balance = 5" in shown.toml, "ignored = 5" in shown.toml) == (
        not is_ignored, is_ignored,
    )  # fmt: skip


@each(("stated", "asked"), [("paid_out = 4", "column 3"), ('paid_out = "入金"', "column 出金")])
def test_a_column_that_a_stated_one_replaces_is_asked_about(look, stated, asked):
    shown = look(BANK if "入金" in stated else HEADLESS, stated)
    assert any(asked in each for each in shown.undecided)


@each("column", ['"備考"', "5"])
@each("key", ["memo = {}", 'description = ["摘要", {}]', "ignored = [{}]", "account_column = {}"])
def test_a_column_of_the_header_is_there_even_if_no_row_has_a_cell_for_it(look, key, column):
    lines = "日付,摘要,金額,残高,備考", "2026/07/01,電気,-1000,9000", "2026/07/02,水道,-500,8500"
    assert look(lines, key.format(column)).rows_read == 2
    assert look(lines, 'skipped = {"備考" = ["x"]}').checks == (
        "column 備考: nothing in it is x, as stated",
    )
