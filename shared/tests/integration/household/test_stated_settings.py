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
    ],
)
def test_a_setting_that_cannot_be_meant_for_the_file_is_refused(look, stated, why):
    with pytest.raises(InvalidMapping) as refused:
        look(BANK, stated)
    assert why in str(refused.value)


@pytest.mark.parametrize("stated", ['date = "摘要"', 'skipped = {"摘要" = ["*"]}'])
def test_a_mapping_that_reads_no_row_of_its_file_is_not_saved(look, stated, tmp_path):
    assert look(BANK, stated).rows_read == 0
    with pytest.raises(MappingRefused, match="it reads no row of the file"):
        look(BANK, stated, save=True)
    assert list(tmp_path.glob("*.toml")) == []


def test_a_check_of_what_is_read_otherwise_now_is_not_repeated(look):
    card = [line.rpartition(",")[0] for line in CARD]
    assert look(card).checks == ("positive amounts are taken as money spent",)
    shown = look(card, 'paid_in = "利用金額"')
    assert (shown.checks, [row.amount for row in shown.rows]) == ((), [1000, 2000])
