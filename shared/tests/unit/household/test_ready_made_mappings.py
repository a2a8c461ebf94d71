"""The ready-made mappings: an invented statement of each kind, and what is read from it."""

from pathlib import Path

from table_of_cases import each

from mdvec.household.core.statement_kinds import Mappings, fitting_mapping, read_statement
from mdvec.household.interfaces.mappings import only_ready_made, parsed_mapping, ready_made
from mdvec.text import shown_name

GOLDEN = Path(__file__).parents[2] / "golden" / "statements"
KINDS = sorted(file.stem for file in GOLDEN.glob("*.csv"))


def shown(parsed):
    """What was read, a row a line; marked are transfers (振替) and rows that do not count."""
    lines = [parsed.kind]
    for row in parsed.rows:
        marks = "振替 " * row.is_transfer + "計算対象外 " * (not row.is_target)
        lines.append(
            f"{row.line}: {row.date} {row.amount:,} [{row.account}] "
            f"{row.category_major}/{row.category_minor} {row.description}"
            f" ({row.memo}) {marks}{row.mf_id}".rstrip()
        )
    lines += [f"bad {bad.line}: {bad.reason}" for bad in parsed.bad]
    lines += [f"misfit {row.line}" for row in parsed.misfits]
    return "\n".join([*lines, ""])


@each("kind", KINDS)
def test_an_invented_statement_of_each_kind_is_read_as_its_golden_file_says(kind):
    data = (GOLDEN / f"{kind}.csv").read_bytes()
    parsed = read_statement(data, f"{kind}.csv", only_ready_made())
    assert shown(parsed) == (GOLDEN / f"{kind}.txt").read_text("utf-8")


def test_each_ready_made_mapping_has_a_statement_that_it_alone_fits():
    used = {}
    for kind in KINDS:
        data = (GOLDEN / f"{kind}.csv").read_bytes()
        text = read_statement(data, "", only_ready_made()).csv.text
        fitting = [
            mapping.name
            for mapping in ready_made()
            if fitting_mapping(data, text, f"{kind}.csv", Mappings((), (mapping,)))
        ]
        assert len(fitting) == 1, (kind, fitting)
        used[fitting[0]] = kind
    assert sorted(used) == sorted(mapping.name for mapping in ready_made())


@each(
    ("kind", "before", "after", "column"),
    [
        ("jcb", '"１回","",""', '"１回","","-"', "訂正サイン"),
        ("amex", '-00001,"3', '-00001,"-3', "ご利用内容"),
        ("wise", ",,150.00,", ",,90.00,", ""),
        ("wise", "30000.00,", "30150.00,", "Total fees"),
        ("wise-history", "TRANSFER-1,COMPLETED", "TRANSFER-1,REFUNDED", "Status"),
        ("wise-history", ",60,JPY,,", ",60,JPY,5,JPY", "Target fee amount"),
        ("revolut", "REVERTED", "ANNULÉ", "State"),
        ("revolut", "TRANSFER,Current", "TRANSFER,Pocket", "Product"),
        ("amazon", "1,Not Available,Closed", "1,Visa - 0000,Closed", "Payment Instrument Type"),
        ("rakuten-card", '"3251","0","3251"', '"3251","30","3281"', "支払手数料"),
        ("paypay-card", '"292","0","292"', '"292","0","200"', "支払総額"),
        ("paypay", ",返金,", ",寄付,", "取引内容"),
        ("zaim", "JPY,0,198", "USD,0,198", "通貨"),
        ("smbc", "メモ,ラベル", "メモ,状態", "状態"),
    ],
)  # fmt: skip
def test_what_is_new_in_a_file_of_a_known_kind_is_asked_about(kind, before, after, column):
    data = (GOLDEN / f"{kind}.csv").read_bytes()
    encoding = "cp932" if kind in {"jcb", "amex", "smbc"} else "utf-8"
    text = data.decode(encoding)
    assert before in text
    changed = text.replace(before, after)
    if kind == "smbc":  # its balances would prove that nothing changes
        changed = changed.replace("512345", "")
    parsed = read_statement(changed.encode(encoding), f"{kind}.csv", only_ready_made())
    said = parsed.passed_over.text if parsed.passed_over else ""
    assert (f"column {shown_name(column)}" in said) == bool(column)


@each("page", ["household.md", "household.ja.md"])
def test_the_mapping_in_the_documentation_reads_the_statement_beside_it(page):
    docs = Path(__file__).parents[4] / "docs"
    blocks = (docs / page).read_text("utf-8").split("```toml\n")[1:]
    toml = next(block for block in blocks if block.startswith("name ="))
    mapping = parsed_mapping(toml.split("```")[0].encode())
    (file,) = (docs / "examples" / "statements").glob("*.csv")
    parsed = read_statement(file.read_bytes(), file.name, Mappings((mapping,)))
    assert [row.line for row in parsed.rows if row.is_transfer] == [5]
    assert (len(parsed.rows), parsed.bad, parsed.misfits) == (6, (), ())
