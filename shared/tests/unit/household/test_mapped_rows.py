"""Rows of banks and cards, read by a mapping: every dialect exactly, nothing lost in silence."""

import csv
import io
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.cells import records_of
from mdvec.household.core.mapped_rows import read_mapped
from mdvec.household.core.mapping import InvalidMapping, Mapping, mapping_of, toml_of
from mdvec.household.core.moneyforward import NotTransactions
from mdvec.household.core.statement_kinds import Mappings, read_statement
from mdvec.household.interfaces.mappings import only_ready_made, parsed_mapping, ready_made

BANK = Mapping(
    name="架空銀行",
    header=("取引日", "摘要", "出金", "入金", "残高"),
    date=("取引日",),
    description=("摘要",),
    paid_out=("出金",),
    paid_in=("入金",),
    balance="残高",
    account="架空銀行",
    ignored=("摘要",),  # whatever a row is called, it is a transaction
)
CARD = Mapping(
    name="架空カード",
    header=("利用日", "利用店名", "利用金額"),
    date=("利用日",),
    description=("利用店名",),
    amount="利用金額",
    positive="spending",
    account="架空カード",
)


def bank(*lines, mappings=(BANK,), path="a.csv", encoding="cp932"):
    text = "\r\n".join(["取引日,摘要,出金,入金,残高", *lines, ""])
    return read_statement(text.encode(encoding), path, Mappings(mappings))


def card(*lines):
    text = "\n".join(["利用日,利用店名,利用金額", *lines])
    return read_statement(text.encode(), "a.csv", Mappings((CARD,)))


@st.composite
def bank_files(draw):
    """A bank's file in any dialect, with the days, amounts, descriptions and lines in it."""
    encoding = draw(st.sampled_from(["cp932", "utf-8", "utf-8-sig", "utf-16"]))
    delimiter = draw(st.sampled_from(",\t;"))
    order = draw(st.permutations([*BANK.header, "番号"]))
    out = io.StringIO(newline="")
    for above in draw(
        st.lists(st.sampled_from(["口座番号：0000000", "期間, 7月", ""]), max_size=3)
    ):
        out.write(f"{above}\r\n")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(order)
    balance, rows = draw(st.integers(0, 10**6)), []
    for number in range(draw(st.integers(0, 6))):
        line = len(io.StringIO(out.getvalue(), newline="").readlines()) + 1
        day = draw(st.dates(date(2000, 1, 1), date(2030, 1, 1)))
        words = draw(st.text('架空 ｶｸｳ,;"合計店12', max_size=8)).strip()
        amount = draw(st.integers(-(10**7), 10**7).filter(bool))
        balance += amount
        size = draw(st.sampled_from(["{}", "{:,}", "￥{:,}", "{}円"])).format(abs(amount))
        none = draw(st.sampled_from(["", "-", "0"]))
        cells = {
            "番号": str(number),
            "取引日": draw(st.sampled_from(["{:%Y/%m/%d}", "{:%Y%m%d}"])).format(day),
            "摘要": words,
            "出金": none if amount > 0 else size,
            "入金": size if amount > 0 else none,
            "残高": f"{balance:,}",
        }
        writer.writerow(cells[name] for name in order)
        rows.append((line, day, amount, "" if words == "-" else words))
    footer = dict.fromkeys(order, "") | {"摘要": "合計", "出金": "1,000"}
    writer.writerow(footer[name] for name in order)
    return out.getvalue().encode(encoding), rows


@given(bank_files())
def test_what_a_bank_file_of_any_dialect_holds_is_read_back_exactly(file):
    data, rows = file
    parsed = read_statement(data, "a.csv", Mappings((BANK,)))
    assert parsed.kind == "架空銀行"
    found = [(row.line, row.date, row.amount, row.description) for row in parsed.rows]
    assert (found, parsed.bad, parsed.misfits) == (rows, (), ())


@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_no_bytes_break_the_reader(data):
    header = "取引日,摘要,出金,入金,残高\r\n".encode()
    try:
        parsed = read_statement(header + data, "a.csv", only_ready_made())
    except NotTransactions:
        return
    assert parsed.passed_over or parsed.kind or parsed.is_certain is False


HEADERS = [
    "取引日,摘要,出金,入金,残高",
    "利用日,利用店名,利用金額", "利用日,利用店名,利用金額,通貨",
    "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID",
]  # fmt: skip
LINES = [
    "", ",,", "お名前,架空　花子　様", "お支払日,2025/08/04", "期間,2025/07/01,500", "※ 税込です",
    "2025/07/01,架空書店,500", "2025/07/01,架空書店,,500,900", "2025/07/02,架空書店,500,,400",
    "2025/07/02,繰越,1", "7月2日,架空書店,500", "令和7年7月2日,架空書店,500", "2025/07/32,a,1",
    "2025/07/03,架空書店", "2025/07/03,架空書店,", "2025/07/03,架空書店,五百円",
    "2025/07/03,架空書店,1,,,,余り", ",架空書店,500", ",,500", ",合計,500", "小計,,500", "合計",
    "2025/07/04\t架空書店\t500", '2025/07/04,"架空書店,500', '2025/07/04,"二\n行",500', "a\0,b,1",
    "2025/07/05,KAKUU,500,USD", "2025/07/05,KAKUU,700,USD",
    "1,2025/07/06,店,-7,財布,食費,外食,,0,x1", "1,2025/07/06,店,-7,財布,食費,外食,,0,",
    "1,2025/07/06,店,七,財布,食費,外食,,0,x2", "合計,,,-14,,,,,,",
]  # fmt: skip
FULL_CARD = replace(
    CARD, header=("利用日", "利用店名", "利用金額", "通貨"), skipped={"利用店名": ("*繰越*",)},
    currency="通貨",
)  # fmt: skip


@given(st.lists(st.sampled_from([*HEADERS, *LINES]), max_size=12))
@example(["2025/07/01,架空書店,500", "", HEADERS[0], "2025/07/02,架空書店,500,,400"])
def test_each_line_of_a_file_is_a_row_or_told_with_its_reason(lines):
    data = "\r\n".join([*lines, ""]).encode()
    parsed = read_statement(data, "a.csv", Mappings((BANK, CARD, FULL_CARD), ready_made()))
    if parsed.passed_over:
        return
    records = dict(records_of(parsed.csv.text))
    told = [
        *(row.line for row in (*parsed.rows, *parsed.repeated)),
        *(line for line, _ in (*parsed.bad, *parsed.left_out)),
    ]
    untold = [cells for line, cells in records.items() if line not in told]
    assert sorted(told) == sorted(set(told) & records.keys())
    assert all(",".join(cells) in HEADERS or not any(cells) for cells in untold), untold


def test_titles_totals_and_footers_are_no_rows():
    parsed = card(
        "**** **** 架空　花子", "2025/07/01,腕時計の架空堂,12800", ",,12800", "小計,,12800",
        ",ご利用金額合計,12800", "※ 金額は税込です,,", "", "架空　花子　様,4980-****,架空カード２",
        ",お支払日,2025.08.27", ",合計,12.800", ",,1.234", "ページ,,1/2", ",店で使える,5%",
    )  # fmt: skip
    assert [row.amount for row in parsed.rows] == [-12800]
    assert parsed.bad == ()


@each(
    ("line", "why"),
    [
        (",年会費割引,-500", "an amount, but no date"),
        (",架空書店,1.234", "an amount, but no date"),
        (",架空書店,￥１２．３４", "an amount, but no date"),
        ("7月1日,架空書店,１，２３", "not a date like"),
        ("2025/13/01,架空書店,500", "not a valid date"),
        ("7月1日,架空書店,500", "not a date like"),
        ("7月1日,,2025.08", "not a date like"),
        ("値引き,,-500,2025.08", "not a date like"),
        ("値引き,架空書店,2025.08", "not a date like"),
        ("2025/13/01,合計堂,500", "not a valid date"),
        ("2025/13/01,架空書店,五百円", "not a valid date"),
        ("１日,架空書店,500", "not a date like"),
        ("2025/07/01,架空書店,五百円", "not a number of yen"),
        ("2025/07/01,架空書店,500,余り", "it has 4 cells, the header 3"),
        ("2025/07/01", "only 1 cells"),
    ],
)
def test_a_row_with_a_fault_is_reported_and_never_taken_for_a_footer(line, why):
    parsed = card("2025/07/01,架空書店,500", line, "2025/07/02,架空書店,600")
    assert [row.amount for row in parsed.rows] == [-500, -600]
    ((number, reason),) = [(bad.line, bad.reason) for bad in parsed.bad]
    assert (number, why in reason) == (3, True)


def test_conditions_mark_transfers_and_rows_that_do_not_count():
    mapping = mapping_of(
        {
            "name": "a", "header": ["取引日"], "date": "取引日", "description": "摘要",
            "paid_out": "出金", "paid_in": "入金",
            "transfers": {"摘要": ["*カード*", "振替"]}, "not_counted": {"摘要": "立替"},
        }
    )  # fmt: skip
    lines = ("2025/07/01,ｶﾞﾝﾊﾞﾙｶｰﾄﾞ,1,,", "2025/07/01,振替,1,,", "2025/07/01,立替,1,,")
    rows = bank(*lines, "2025/07/01,振替手数料,1,,", mappings=(mapping,)).rows
    marks = [(row.is_transfer, row.is_target) for row in rows]
    assert marks == [(True, True), (True, True), (False, False), (False, True)]


def test_the_users_mapping_goes_before_a_ready_made_one_and_one_for_the_file_name_before_it():
    header = "取引日,摘要,出金金額,入金金額,残高\r\n2025/07/01,a,1,,1\r\n".encode()
    own = {
        "name": "own", "header": ["取引日", "摘要"], "date": "取引日", "description": "摘要",
        "paid_out": "出金金額", "paid_in": "入金金額",
    }  # fmt: skip
    wife = mapping_of(own | {"name": "wife", "files": "妻/*"})
    mine = mapping_of(own)
    both = Mappings((mine, wife), ready_made())
    kinds = [read_statement(header, path, both).kind for path in ("妻/7.csv", "夫/7.csv")]
    assert kinds == ["wife", "own"]
    assert read_statement(header, "夫/7.csv", only_ready_made()).kind == "SBI新生銀行"


def test_two_mappings_that_fit_equally_are_refused_rather_than_one_taken():
    again = mapping_of(
        {
            "name": "again", "header": list(BANK.header), "date": "取引日", "description": "摘要",
            "paid_out": "出金", "paid_in": "入金",
        }
    )  # fmt: skip
    with pytest.raises(NotTransactions, match="架空銀行 and again"):
        bank("2025/07/01,a,1,,1", mappings=(BANK, again))


def test_a_file_of_money_forward_is_read_as_one_whatever_the_mappings():
    greedy = mapping_of(
        {"name": "a", "header": ["日付"], "date": "日付", "description": "内容", "amount": "メモ"}
    )
    data = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID\r\n".encode(
        "cp932"
    )
    parsed = read_statement(data, "a.csv", Mappings((greedy,)))
    assert (parsed.kind, parsed.is_certain) == ("", True)


def test_a_file_whose_encoding_cannot_be_told_is_read_in_that_of_its_mapping():
    text = "\r\n".join(["取引日,摘要,出金,入金,残高", "2025/07/01,電気,1,,9", ""])
    data = text.encode("utf-16-le")
    with pytest.raises(NotTransactions):
        read_statement(data, "a.csv", Mappings((BANK,)))
    mapping = parsed_mapping((toml_of(BANK) + 'encoding = "utf-16-le"\n').encode())
    assert [
        row.description for row in read_statement(data, "a.csv", Mappings((mapping,))).rows
    ] == ["電気"]


@pytest.mark.parametrize("mapping", [BANK, CARD, *ready_made()], ids=lambda each: each.name)
def test_a_mapping_survives_its_toml(mapping):
    assert parsed_mapping(toml_of(mapping, ("a note",)).encode()) == mapping


def test_a_mapping_of_headless_files_numbers_its_columns():
    mapping = mapping_of(
        {
            "name": "a", "title": r"\d+月分", "date": 1, "description": 3, "amount": 2,
            "positive": "spending", "transfers": {"3": ["*チャージ"]},
        }
    )  # fmt: skip
    text = "7月分,\n2025/7/1,500,架空書店\n2025/7/2,900,架空チャージ\n合計,1400,\n"
    read = read_mapped(mapping, records_of(text))
    assert [(row.amount, row.description, row.is_transfer) for row in read.rows] == [
        (-500, "架空書店", False), (-900, "架空チャージ", True),
    ]  # fmt: skip
    assert read.bad == ()
    assert parsed_mapping(toml_of(mapping).encode()) == mapping


@each(
    ("change", "why"),
    [
        ({"date": None}, "'date' is missing"),
        ({"amont": "a"}, "no key 'amont'"),
        ({"amount": "金額"}, "either 'amount', or 'paid_out'"),
        ({"paid_out": None, "paid_in": None}, "either 'amount', or 'paid_out'"),
        ({"date": ["年", "月"]}, "one column, or three"),
        ({"date_format": "dd/mm"}, "'date_format' is one of"),
        ({"positive": "plus"}, "'positive' is"),
        ({"header": None}, "'header' is missing"),
        ({"header": [1]}, "'header' must"),
        ({"header": None, "title": "("}, "not a regular expression"),
        ({"header": None, "title": "a"}, "columns are numbers"),
        ({"encoding": "sjiss"}, "no encoding 'sjiss'"),
        ({"encoding": "base64"}, "no encoding 'base64'"),
        ({"balance": ["a", "b"]}, "'balance' is a single column"),
        ({"account": 7}, "'account' must be a text"),
        ({"outgoing": {"摘要": ["支出"]}}, "'outgoing' needs the single column"),
        ({"transfers": "カード"}, "'transfers' must be a table"),
        ({"transfers": {"摘要": [7]}}, "'transfers' must list texts"),
        ({"memo": [""]}, "'memo' must name columns"),
    ],
)
def test_a_mapping_that_says_too_little_or_nonsense_is_refused_by_the_key(change, why):
    values = {
        "name": "a", "header": ["取引日"], "date": "取引日", "description": "摘要",
        "paid_out": "出金", "paid_in": "入金",
    } | change  # fmt: skip
    with pytest.raises(InvalidMapping) as refused:
        mapping_of({key: value for key, value in values.items() if value is not None})
    assert why in str(refused.value)


def test_no_toml_is_no_mapping():
    with pytest.raises(InvalidMapping, match="not valid TOML"):
        parsed_mapping(b"name = ")
    with pytest.raises(InvalidMapping, match="it is not UTF-8; save it as UTF-8"):
        parsed_mapping("名前 = 1\n".encode("cp932"))


@each(
    ("cells", "shown"),
    [(("-12,50", "-1.000,25"), "-1,012.75"), (("-12.50", "▲1,000.25"), "-1,012.75"),
     (("-1,234", "0.00012345"), "-1,233.99987655")],
)  # fmt: skip
def test_the_sum_of_another_currency_is_right_with_a_comma_or_a_point_before_decimals(cells, shown):
    assert f"(2, {shown} in sum)" in in_euros(*cells).bad[0].reason


@each("cell", ["1,234,56", "12.50-", "無料"])
def test_an_amount_of_another_currency_that_cannot_be_read_is_named_and_is_not_zero(cell):
    reasons = [bad.reason for bad in in_euros("5.00", cell).bad]
    assert reasons[0].startswith("rows in EUR (1, 5.00 in sum)")
    assert reasons[1:] == ["金額 is not a number of its currency"]


def in_euros(*amounts):
    mapping = Mapping(
        name="架空", header=("日付", "通貨"), date=("日付",), description=("内容",), amount="金額",
        currency="通貨",
    )  # fmt: skip
    lines = [f'2025/7/1,カフェ,"{cell}",EUR' for cell in amounts]
    return read_mapped(mapping, records_of("\n".join(["日付,内容,金額,通貨", *lines])))
