"""The mapping that is proposed for a statement of an unknown kind."""

from datetime import date
from pathlib import Path

import pytest
from table_of_cases import each

from mdvec.household.core.cells import records_of
from mdvec.household.core.mapped_rows import header_line, read_mapped
from mdvec.household.core.moneyforward import decode
from mdvec.household.core.proposal import NotMappable, proposal_with, propose_mapping
from mdvec.household.core.statement_kinds import read_statement
from mdvec.household.interfaces.mappings import only_ready_made

GOLDEN = Path(__file__).parents[2] / "golden" / "statements"
TODAY = date(2025, 8, 15)
BEYOND_NAMES = {"view-card", "zaim", "amazon", "amex", "revolut", "wise", "wise-history"}
"""What their rows mean stands in columns or words of their own, which only their mappings know."""


def rows_of(text, stem="架空銀行_202507", today=TODAY):
    """The proposal for a text, and the day and amount of each row that it reads."""
    proposal = propose_mapping(list(records_of(text)), stem, today)
    read = read_mapped(proposal.mapping, records_of(text))
    assert read.bad == ()
    return proposal, [(row.date.isoformat(), row.amount) for row in read.rows]


@each("kind", sorted({file.stem for file in GOLDEN.glob("*.csv")} - BEYOND_NAMES))
def test_what_is_proposed_reads_known_kinds_as_their_own_mappings_do(kind):
    data = (GOLDEN / f"{kind}.csv").read_bytes()
    known = read_statement(data, "", only_ready_made())
    _, rows = rows_of(decode(data), kind)
    assert rows == [(row.date.isoformat(), row.amount) for row in known.rows]


def test_an_explanation_is_the_description_rather_than_a_memo():
    proposal, _ = rows_of("日付,説明,金額,メモ\n2025/7/1,店,1000,\n2025/7/3,店,4000,会社\n")
    assert (proposal.mapping.description, proposal.mapping.memo) == (("説明",), ("メモ",))


@each("name", ["{}", "利用{}", "操作日({})"])
def test_a_date_may_stand_in_three_columns(name):
    header = ",".join(name.format(part) for part in "年月日")
    proposal, rows = rows_of(f"{header},内容,金額\n2025,7,1,店,1000\n2025,7,3,店,4000\n")
    assert proposal.mapping.date == tuple(header.split(","))
    assert [day for day, _ in rows] == ["2025-07-01", "2025-07-03"]


def test_a_column_of_dates_goes_before_three_columns_of_another():
    header = "請求年,請求月,請求日,ご利用日,利用店名,利用金額"
    _, rows = rows_of(f"{header}\n2025,8,27,2025/7/1,店,500\n2025,8,27,2025/7/2,店,800\n")
    assert [day for day, _ in rows] == ["2025-07-01", "2025-07-02"]


@each(
    ("written", "today", "means", "day"),
    [
        ("25/07/01", "2025-08-15", "yy/mm/dd", "2025-07-01"),
        ("07.07.01", "2025-08-15", "令和", "2025-07-01"),
        ("07.07.01", "2007-08-15", "yy/mm/dd", "2007-07-01"),
        ("31.03.01", "2019-04-15", "平成", "2019-03-01"),
        ("R7.7.1", "2025-08-15", "auto", "2025-07-01"),
    ],
)
def test_a_short_year_is_of_the_era_that_brings_it_nearest_to_today(written, today, means, day):
    text = f"取引日,摘要,出金,入金\n{written},電気,100,\n"
    proposal, rows = rows_of(text, today=date.fromisoformat(today))
    assert (proposal.mapping.date_format, rows) == (means, [(day, -100)])
    assert bool(proposal.checks) == (means != "auto")


def test_the_balance_decides_what_a_positive_amount_is():
    header = "取引日,摘要,金額,残高\n"
    lines = "2025/7/1,a,100,{}\n2025/7/2,b,300,{}\n"
    assert rows_of(header + lines.format(900, 600))[1] == [
        ("2025-07-01", -100), ("2025-07-02", -300),
    ]  # fmt: skip
    proposal, rows = rows_of(header + lines.format(1100, 1400))
    assert (rows, proposal.checks) == ([("2025-07-01", 100), ("2025-07-02", 300)], ())


@each(
    ("header", "amounts", "first"),
    [
        ("利用日,利用店名,利用金額", (500, 700, -200), -500),
        ("日付,内容,金額", (500, 700), -500),
        ("日付,内容,金額", (-500, 700), -500),
        ("利用日,利用店名,利用金額", (-500, -700, 200), -500),
    ],
)
def test_without_a_balance_the_meaning_of_a_positive_amount_is_named_to_be_checked(
    header, amounts, first
):
    lines = "".join(f"2025/7/{day},店,{amount}\n" for day, amount in enumerate(amounts, 1))
    proposal, rows = rows_of(f"{header}\n{lines}")
    assert rows[0][1] == first
    assert any("positive amounts are taken as" in check.text() for check in proposal.checks)


def test_a_file_without_a_header_is_read_by_what_is_in_its_columns():
    text = (
        "架空　花子　様,0000-****,架空カード\n"
        "2025/07/01,架空書店,1,500\n2025/07/02,架空食堂,1,700\n,合計,,1200\n"
    )
    proposal, rows = rows_of(text)
    assert rows == [("2025-07-01", -500), ("2025-07-02", -700)]
    assert (proposal.mapping.amount, proposal.mapping.description) == (4, (2,))
    assert header_line(proposal.mapping, records_of(text.replace("0000", "1111"))) == 1
    assert header_line(proposal.mapping, records_of("年月,資産\n2025/07/01,500\n")) is None


@each(
    ("header", "balances", "date", "asked"),
    [
        ("操作日,メモ,お支払,預入金額,残高", (",9000", ",9500"), "操作日", []),
        ("日にち,ことがら,つかった,もらった,残り", (",9000", ",9500"), 1, []),
        ("日付,ことがら,引落額,もらった額,店番,残り", (",123,9000", ",123,9500"), "日付", []),
        ("操作日,摘要,つかった,もらった,備考", (",", ","), "操作日", ["つかった"]),
    ],
)
def test_a_header_of_which_two_names_are_known_names_the_columns_that_their_cells_tell(
    header, balances, date, asked
):
    rows = f"2025/7/1,電気,1000,{balances[0]}\n2025/7/2,給与,,500{balances[1]}\n"
    text = f"架空銀行\n\n{header}\n\n{rows}"
    proposal = proposal_with(text, "架空", TODAY)
    assert proposal.mapping.date == (date,)
    assert rows_of(text)[1] == [("2025-07-01", -1000), ("2025-07-02", 500)]
    assert [each.column for each in proposal.undecided] == asked


@each(
    ("text", "description", "asked"),
    [
        (
            "決済時刻,店名,支払金額,受取ポイント\n2026/07/01,電気,1000,10\n2026/07/02,本屋,500,5\n",
            "店名",
            ["支払金額"],
        ),
        (
            "更新日,支払先,支払金額,支払日\n2026/08/03,電気,1000,2026/07/30\n"
            "2026/08/12,本屋,500,2026/08/10\n",
            "支払先",
            ["支払日"],
        ),
        (
            "操作日,メモ,状態,支払金額\n2026/07/01,電気,完了,1000\n2026/07/02,本屋,失敗,500\n"
            "2026/07/03,水道,完了,300\n",
            "メモ",
            ["状態"],
        ),
    ],
)
def test_what_a_half_known_header_leaves_open_is_asked(text, description, asked):
    proposal = proposal_with(text, "架空", TODAY)
    assert proposal.mapping.description == (description,)
    assert {each.column for each in proposal.undecided} >= set(asked)


def test_a_known_name_over_other_cells_does_not_keep_a_file_from_being_read():
    proposal, rows = rows_of(
        "取引月日,取引日,摘要,出金額,入金額,残高\n2026/07/01,水,電気,1000,,9000\n"
        "2026/07/02,木,給与,,500,9500\n"
    )
    assert rows == [("2026-07-01", -1000), ("2026-07-02", 500)]
    assert proposal.mapping.balance == 6


def test_a_column_that_says_which_way_the_money_goes_gives_the_amounts_their_signs():
    proposal, rows = rows_of(
        "日付,収支,費目,内容,金額\n2025/7/1,支出,食費,米,300\n2025/7/2,収入,給料,架空商事,2000\n"
        "2025/7/3,振替,,口座へ,50\n"
    )
    assert rows == [("2025-07-01", -300), ("2025-07-02", 2000), ("2025-07-03", 50)]
    assert proposal.mapping.transfers == {"収支": ("振替",)}
    assert [each.text() for each in proposal.checks] == [
        "column 収支 says which rows are money that goes out"
    ]
    signed = "取扱日,受払区分,金額,詳細,残高\n2025/7/1,払出,▲10,a,90\n2025/7/5,預入,30,b,120\n"
    assert rows_of(signed)[1] == [("2025-07-01", -10), ("2025-07-05", 30)]


@each(
    ("amounts", "paid_out", "asked"),
    [
        (("1000,,9000", ",500,9500"), (3,), 0),
        ((",1000,9000", "500,,9500"), (4,), 0),
        (("1000,,", ",500,"), (3,), 1),
    ],
)
def test_without_a_header_the_balance_tells_which_column_is_money_that_goes_out(
    amounts, paid_out, asked
):
    text = f"2025/07/01,電気,{amounts[0]}\n2025/07/02,給与,{amounts[1]}\n"
    proposal = proposal_with(text, "架空", TODAY)
    assert [row.amount for row in read_mapped(proposal.mapping, records_of(text)).rows] == [
        -1000, 500,
    ]  # fmt: skip
    assert (proposal.mapping.paid_out, len(proposal.undecided)) == (paid_out, asked)


def test_without_header_and_title_the_name_of_the_file_tells_its_kind():
    proposal, rows = rows_of("2025/07/01,架空書店,500\n2025/07/02,架空食堂,700\n", "meisai")
    assert (proposal.mapping.title, proposal.mapping.files) == ("", "meisai*")
    assert rows == [("2025-07-01", -500), ("2025-07-02", -700)]
    assert header_line(proposal.mapping, records_of("<html>\n<p>2025/07/01,a,b")) is None


@each(
    "text",
    [
        "", "a,b,c\n1,2,3\n", "氏名,住所\n架空花子,架空市\n",
        "日付,気温,天気\n2025/7/1,30,晴\n",
    ],
)  # fmt: skip
def test_what_is_no_statement_gets_no_mapping(text):
    with pytest.raises(NotMappable, match="if it is a statement, state"):
        propose_mapping(list(records_of(text)), "a", TODAY)


def test_a_header_alone_gets_a_sentence_of_its_own():
    with pytest.raises(NotMappable, match="it has a header, but no rows"):
        propose_mapping(list(records_of("取引日,摘要,金額\n")), "a", TODAY)


def test_columns_that_nothing_tells_can_be_stated():
    text = "架空\n甲,乙,丙,丁\n2025/7/1,80,電気,\n2025/7/2,,給与,300\n"
    with pytest.raises(NotMappable):
        proposal_with(text, "架空", TODAY)
    stated = {"date": "甲", "description": "丙", "paid_out": "乙", "paid_in": "丁"}
    told = proposal_with(text, "架空", TODAY, stated)
    assert (told.mapping.header, told.undecided) == (("甲", "乙", "丙", "丁"), ())
    numbers = {"date": 1, "description": [3], "paid_out": 2, "paid_in": 4}
    for mapping in (told.mapping, proposal_with(text, "架空", TODAY, numbers).mapping):
        rows = read_mapped(mapping, records_of(text)).rows
        assert [row.amount for row in rows] == [-80, 300]
    with pytest.raises(NotMappable):
        proposal_with(text, "架空", TODAY, {**stated, "date": "戊"})
