"""A hundred kinds of generated statements: read as plain Python reads them, or asked about.

A kind is a form (the columns of a card, a bank, a wallet, after public descriptions) with one
complication: a column or rows that change a figure. Each is read with nothing known, with a mapping
that was kept from a plain file of its form, and with the ready-made mappings; in none of the three
may an amount be wrong without a question that names the column.
"""

import random
from dataclasses import dataclass, field
from datetime import date, timedelta

import pytest
from table_of_cases import each

from mdvec.household.core.cells import records_of
from mdvec.household.core.mapped_rows import read_mapped
from mdvec.household.core.mapping import toml_of
from mdvec.household.core.proposal import proposal_with
from mdvec.household.core.statement_kinds import Mappings, read_statement
from mdvec.household.interfaces.mappings import only_ready_made, parsed_mapping
from mdvec.text import shown_name

TODAY = date(2025, 8, 15)
SHOPS = (
    "架空書店", "架空電気", "ｶｸｳｽｰﾊﾟｰ", "ＫＡＫＵＵ　ＣＡＦＥ", "架空薬局", "カクウガス",
    "架空堂",
)  # fmt: skip


@dataclass
class Row:
    """A line of a file: what it says, and what it means (None: it is no transaction)."""

    day: date
    text: str
    amount: int
    means: int | None
    more: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """Which columns a file has; ``sides`` are its amounts: one or two of them."""

    day: str
    text: str
    sides: tuple[str, ...]
    balance: str = ""
    always: dict[str, str] = field(default_factory=dict)

    @property
    def is_card(self) -> bool:
        return len(self.sides) == 1 and "利用" in self.sides[0]

    @property
    def known(self) -> dict[str, object]:
        """What a person states of the form's own columns."""
        return {"ignored": list(self.always)} if self.always else {}

    def written(self, rows, above="", day="%Y/%m/%d"):
        """The file's text; its balance follows from what the rows mean."""
        more = list(dict.fromkeys(name for row in rows for name in row.more))
        lines = [[self.day, self.text, *self.sides, *[self.balance] * bool(self.balance)]]
        lines[0] += [*self.always, *more]
        total = 100_000
        for row in rows:
            total += row.means or 0
            if len(self.sides) == 1:
                cells = [str(-row.amount if self.is_card else row.amount)]
            else:
                cells = [str(-row.amount), ""] if row.amount < 0 else ["", str(row.amount)]
            cells += [str(total)] * bool(self.balance)
            cells += [*self.always.values(), *(row.more.get(name, "") for name in more)]
            lines.append([row.day.strftime(day), row.text, *cells])
        return above + "".join(",".join(line) + "\n" for line in lines)


FORMS = {
    "card": Form("ご利用年月日", "ご利用先", ("ご利用額",)),
    "bank": Form("取引日", "摘要", ("お支払金額", "お預り金額")),
    "bank-balance": Form("取引日", "摘要", ("お支払金額", "お預り金額"), "差引残高"),
    "signed": Form("取扱日", "取引の内容", ("入出金額",)),
    "signed-balance": Form("取扱日", "取引の内容", ("入出金額",), "残高"),
    "wallet": Form("利用日時", "取引先", ("出金額", "入金額")),
    "english": Form("Date", "Description", ("Withdrawal", "Deposit")),
    "english-balance": Form("Date", "Description", ("Withdrawal", "Deposit"), "Balance"),
    "rakuten-card": Form(
        "利用日",
        "利用店名・商品名",
        ("利用金額",),
        always={"利用者": "本人", "支払方法": "1回払い"},
    ),
    "sbi-shinsei": Form("取引日", "摘要", ("出金金額", "入金金額"), "残高"),
}


def rows_of(form, rng):
    days = sorted(date(2025, 7, 1) + timedelta(days=rng.randrange(31)) for _ in range(8))
    days[-1] = max(days[-1], date(2025, 7, 20))
    rows = []
    for number, day in enumerate(days):
        amount = -rng.randrange(100, 30_000)
        if number == 3 and not form.is_card:
            amount *= -1
        rows.append(Row(day, rng.choice(SHOPS), amount, amount))
    return rows


def some(rows, rng):
    return rng.sample(rows[1:], rng.randrange(1, 4))


def with_states(name, good, *bad):
    """A column of states, some of which mean that a row did not happen."""

    def complicated(rows, rng):
        wrong = some(rows, rng)
        for row in rows:
            is_bad = any(row is each for each in wrong)
            row.more[name] = rng.choice(bad) if is_bad else rng.choice(good.split())
            row.means = None if is_bad else row.means
        return rows

    return complicated


def with_currency(rows, rng):
    wrong = some(rows, rng)
    for row in rows:
        is_foreign = any(row is each for each in wrong)
        row.more["通貨"] = rng.choice(("USD", "EUR", "ドル")) if is_foreign else "JPY"
        row.means = None if is_foreign else row.means
    return rows


def with_numbers(name, sign):
    """A column of numbers that are paid in addition (-1), or that lower the price (1)."""

    def complicated(rows, rng):
        wrong = [row for row in some(rows, rng) if row.amount < 0] or [rows[1]]
        for row in rows:
            extra = rng.randrange(10, 99) if any(row is each for each in wrong) else 0
            row.more[name] = str(extra)
            row.means = row.amount + sign * extra
        return rows

    return complicated


def with_corrections(rows, rng):
    for row in some(rows, rng):
        row.more["訂正サイン"] = "-"
        row.means = -row.amount
    return rows


def with_row(where, text):
    """A row that is no transaction: what was there before, or a sum."""

    def complicated(rows, rng):
        total = sum(row.amount for row in rows) if where else rng.randrange(1000, 90_000)
        day = rows[where].day
        return (
            [*rows, Row(day, text, total, None)] if where else [Row(day, text, total, None), *rows]
        )

    return complicated


def with_bill(rows, rng):
    rows[4] = Row(rows[4].day, "前回口座振替", rng.randrange(10_000, 90_000), None)
    return rows


def as_they_are(rows, rng):
    return rows


def with_zeros(rows, rng):
    for row in rows:
        row.more["手数料"] = "0"
    return rows


COMPLICATIONS = {
    "plain": (as_they_are, None),
    "fees-of-zero": (with_zeros, None),
    "failed": (with_states("処理", "完了", "失敗"), "処理"),
    "void": (with_states("Result", "Posted", "Voided", "Declined"), "Result"),
    "many-kinds": (with_states("種別", "買物 振込 振替 税 年金 給与 電気 保険", "取消済"), "種別"),
    "flag": (with_states("区分値", "0", "1"), "区分値"),
    "currency": (with_currency, "通貨"),
    "fee": (with_numbers("手数料", -1), "手数料"),
    "yearly-fee": (with_numbers("年会費", -1), "年会費"),
    "points": (with_numbers("ポイント利用", 1), "ポイント利用"),
    "coupon": (with_numbers("優待額", 1), "優待額"),
    "corrections": (with_corrections, "訂正サイン"),
    "opening": (with_row(0, "開始残高"), "text"),
    "sum": (with_row(-1, "7月分小計"), "text"),
    "bill": (with_bill, "text"),
}
KINDS = [
    (form, complication)
    for form in FORMS
    for complication in COMPLICATIONS
    if complication != "bill" or FORMS[form].is_card
]


def of_kind(form, complication, seed):
    """A file's text, the amounts that it means, and the column that must be named."""
    rng = random.Random(f"{form} {complication} {seed}")
    change, column = COMPLICATIONS[complication]
    rows = change(rows_of(FORMS[form], rng), rng)
    amounts = [row.means for row in rows if row.means is not None]
    return FORMS[form].written(rows), amounts, FORMS[form].text if column == "text" else column


def amounts_of(mapping, text):
    return [row.amount for row in read_mapped(mapping, records_of(text)).rows]


def kept(form):
    """The mapping that is kept from a plain file of a form."""
    text, amounts, _ = of_kind(form, "plain", 0)
    proposal = proposal_with(text, "架空", TODAY, FORMS[form].known)
    assert proposal.undecided == ()
    assert amounts_of(proposal.mapping, text) == amounts
    return parsed_mapping(toml_of(proposal.mapping).encode())


def test_there_are_a_hundred_kinds():
    assert len(KINDS) >= 100


@pytest.mark.parametrize(
    ("form", "complication"),
    [
        pytest.param(*kind, marks=pytest.mark.soak if number % 4 else ())
        for number, kind in enumerate(KINDS)
    ],
)
def test_an_amount_is_right_or_its_column_is_asked_about(form, complication):
    own = Mappings((kept(form),), ())
    for seed in range(5):
        text, amounts, column = of_kind(form, complication, seed)
        proposal = proposal_with(text, "架空", TODAY, FORMS[form].known)
        if proposal.undecided:
            assert column in [each.column for each in proposal.undecided]
        else:
            assert amounts_of(proposal.mapping, text) == amounts
        # Of a ready-made kind it is known that each row is a transaction; its columns may be new.
        is_new_row = COMPLICATIONS[complication][1] == "text"
        for mappings in (own,) if is_new_row else (own, only_ready_made()):
            parsed = read_statement(text.encode("cp932"), "a.csv", mappings)
            if parsed.kind and parsed.passed_over:
                assert f"column {shown_name(column)}" in parsed.passed_over.text
            elif parsed.kind:
                assert [row.amount for row in parsed.rows] == amounts


@each("form", FORMS)
@each("complication", ["plain", "fees-of-zero"])
def test_what_changes_no_figure_is_not_asked_about(form, complication):
    mapping = kept(form)
    for seed in range(5):
        text, amounts, _ = of_kind(form, complication, seed)
        parsed = read_statement(text.encode(), "a.csv", Mappings((mapping,), ()))
        assert (parsed.passed_over, [row.amount for row in parsed.rows]) == (None, amounts)


@each("form", [name for name, form in FORMS.items() if form.balance])
def test_the_balance_decides_what_a_fee_is(form):
    decided = 0
    for seed in range(5):
        text, amounts, _ = of_kind(form, "fee", seed)
        proposal = proposal_with(text, "架空", TODAY)
        if not proposal.undecided:
            decided += amounts_of(proposal.mapping, text) == amounts
            assert any("手数料: fees" in check.text() for check in proposal.checks)
    assert decided


@each(
    ("days", "is_asked", "first"),
    [
        (("31/01/2025", "01/02/2025"), False, "2025-01-31"),
        (("01/31/2025", "02/01/2025"), False, "2025-01-31"),
        (("3 Jan 2025", "4 Feb 2025"), False, "2025-01-03"),
        (('"Jan 3, 2025"', '"Feb 4, 2025"'), False, "2025-01-03"),
        (("03-Jan-2025", "04-Feb-2025"), False, "2025-01-03"),
        (("01/02/2025", "03/02/2025"), True, ""),
        (("31/01/25", "01/02/25"), True, ""),
        (("07/07/01", "07/07/02"), True, ""),
        (("令和7年1月3日", "R7.2.4"), False, "2025-01-03"),
    ],
)
def test_days_are_read_in_the_only_way_there_is_or_asked_about(days, is_asked, first):
    lines = "".join(f"{day},店,{amount},\n" for day, amount in zip(days, (100, 200), strict=True))
    proposal = proposal_with(f"取引日,摘要,出金,入金\n{lines}", "架空", TODAY)
    asked = [each.kind for each in proposal.undecided]
    assert asked == ["days"] * is_asked
    if not is_asked:
        read = read_mapped(proposal.mapping, records_of(f"取引日,摘要,出金,入金\n{lines}"))
        assert read.rows[0].date.isoformat() == first
