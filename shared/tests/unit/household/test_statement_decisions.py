"""Sixty kinds of invented files after public descriptions: read right, or refused; none wrong.

A figure is never guessed: what would change one is named by its column until a person states it,
or until the file's running balance allows only one reading.
"""

import tomllib
from datetime import date
from importlib import resources

from invented_kinds import KINDS
from table_of_cases import each

from mdvec.household import in_english
from mdvec.household.core.cells import records_of
from mdvec.household.core.mapped_rows import read_mapped
from mdvec.household.core.mapping import Mapping, MappingSentence
from mdvec.household.core.passed_over import PassedOver
from mdvec.household.core.proposal import proposal_with
from mdvec.household.core.statement_kinds import Mappings, read_statement
from mdvec.household.interfaces.mappings import only_ready_made
from mdvec.text import shown_name

TODAY = date(2025, 8, 15)


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


@each("values", ["確定、速報", "10、0", "なし", "電気（冬", "日付。額、取消"])
def test_what_an_english_answer_asks_is_the_english_sentence_with_the_values_as_they_are(values):
    file = resources.files("mdvec.household") / "mapping_sentences.toml"
    for kind in tomllib.loads(file.read_text("utf-8")):
        said = MappingSentence(kind, "列名", values)
        assert "{" not in said.text() + said.text("ja")
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


def test_which_day_counts_is_asked_until_a_mapping_is_saved():
    head = "勘定日,決済日,摘要,出金,入金,残高\n"
    first = f"{head}2025/7/1,2025/7/1,架空書店,500,,9500\n2025/7/2,2025/7/2,架空電気,1500,,8000\n"
    later = f"{head}2025/8/1,2025/8/1,架空書店,500,,7500\n2025/8/4,2025/8/2,架空電気,500,,7000\n"
    assert [each.column for each in proposal_with(later, "架空", TODAY).undecided] == ["決済日"]
    saved = Mappings((proposal_with(first, "架空", TODAY).mapping,))
    assert read_statement(later.encode(), "a.csv", saved).rows[-1].date.day == 4
