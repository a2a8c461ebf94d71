"""What a file does not say of a transaction is what the newest other file says that does."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_folder import HEADER, LedgerFolder, line

from mdvec.household.core.mapping import mapping_of
from mdvec.household.core.statement_kinds import Mappings
from mdvec.household.notes import note_row

BANK = "日付,摘要,出金,入金"
KEYS = {"date": "日付", "description": "摘要", "paid_out": "出金", "paid_in": "入金", "files": "*"}
KINDS = "ignored", "transfers", "not_counted", "counted"
CARD, PAY, BOOK = (
    line("a", -100, "2025/07/01", "カード", memo="昼").replace(",0,a", ",1,a"),
    line("b", 3000, "2025/07/02", "給与").replace("食費,食料品", "収入,給与"),
    line("c", -70, "2025/07/03", "本").replace("1,2025", "0,2025"),
)
OF_BANK = (f"{BANK},", "2025/07/01,カード,100,,", "2025/07/02,給与,,3000,", "2025/07/03,本,70,,",
           "2025/07/04,他,5,,")  # fmt: skip
OWN = [("食費", "食料品", "昼", True, True), ("収入", "給与", "", False, True),
       ("食費", "食料品", "", False, False)]  # fmt: skip
PLAIN = [("未分類", "未分類", "", False, True), ("収入", "", "", False, True),
         ("未分類", "未分類", "", False, True)]  # fmt: skip
OTHER = PLAIN[:1]


def bank_of(**keys):
    """A mapping of the account that Money Forward's rows are of."""
    columns = [*BANK.split(","), *(["種別"] if "種別" in str(keys) else [])]
    return mapping_of({"name": "架空", "header": columns, **KEYS, "account": "財布", **keys})


def said(folder):
    """What the ledger says of each row beside day, amount and text."""
    return [
        (row.category_major, row.category_minor, row.memo, row.is_transfer, row.is_target)
        for row in folder.rows()
    ]


@pytest.fixture
def both():
    """Money Forward's rows of an account, then the bank's own file, with a row more."""
    folder = LedgerFolder(mappings=Mappings((bank_of(),), ()))
    folder.write("mf.csv", CARD, PAY, BOOK)
    folder.import_()
    folder.put("bank.csv", "\r\n".join(OF_BANK), saved=date(2025, 8, 20))
    assert folder.import_().imported == 1
    assert [row.source_file for row in folder.rows()] == ["bank.csv"] * 4
    return folder


def test_a_banks_file_leaves_categories_memos_and_marks_as_another_file_says_them(both):
    for mode in ("update", "replace", "replace", "update"):
        assert said(both) == OWN + OTHER
        assert both.import_(mode).updated == 0


def test_a_deleted_file_says_what_it_said_until_a_replace(both):
    kept = both.files.pop("mf.csv")
    for mode, wanted in (("update", OWN), ("update", OWN), ("replace", PLAIN), ("update", PLAIN)):
        both.import_(mode)
        assert said(both) == wanted + OTHER
    both.files["mf.csv"] = kept
    both.import_()
    assert said(both) == OWN + OTHER
    del both.files["bank.csv"]
    both.import_("replace")
    assert said(both) == OWN


def test_a_file_that_cannot_be_read_says_what_it_said(both):
    both.files["mf.csv"] = (1, both.files["mf.csv"][1])
    both.broken = {"mf.csv"}
    both.import_("replace")
    assert said(both) == OWN + OTHER


def test_of_what_a_path_held_before_only_the_rows_it_has_no_more_say_anything(both):
    columns = HEADER.replace(",大項目,中項目,メモ", "")
    both.put(
        "mf.csv", f"{columns}\r\n1,2025/07/01,カード,-100,財布,0,a\r\n", saved=date(2025, 8, 11)
    )
    both.import_()
    assert said(both) == [*PLAIN[:1], *OWN[1:], *OTHER]
    both.import_("replace")
    assert said(both) == PLAIN + OTHER


def test_a_row_that_became_unreadable_still_says_its_category(both):
    both.write("mf.csv", CARD.replace("-100", "x"), PAY, BOOK, saved=date(2025, 8, 11))
    for mode in ("update", "replace", "replace"):
        both.import_(mode)
        assert said(both) == OWN + OTHER


def test_a_file_without_a_column_takes_nothing_and_an_empty_cell_is_said(folder):
    folder.write("all.csv", CARD, BOOK)
    columns, empty = (
        HEADER.replace(",保有金融機関,大項目,中項目", ""),
        BOOK.replace("食費,食料品", ","),
    )
    folder.put(
        "less.csv", f"{columns}\r\n1,2025/07/01,カード,-99,朝,0,a\r\n", saved=date(2025, 8, 20)
    )
    folder.write("empty.csv", empty, saved=date(2025, 8, 20))
    folder.import_()
    assert said(folder) == [("食費", "食料品", "朝", False, True), ("", "", "", False, False)]
    assert [(row.account, row.amount) for row in folder.rows()] == [("財布", -99), ("財布", -70)]


WORDS = {
    "transfers": {"種別": "振替"},
    "not_counted": {"種別": "失効"},
    "counted": {"種別": "支払"},
}


@pytest.mark.parametrize(
    ("keys", "word", "wanted"),
    [
        ({"spending_category": "買物"}, "", ("買物", "", "昼", True, True)),
        ({"income_category": "臨時"}, "", OWN[0]),
        ({"category": "種別"}, "趣味", ("趣味", "", "昼", True, True)),
        ({"category": "種別"}, "", ("未分類", "未分類", "昼", True, True)),
        ({"memo": "種別", "ignored": "種別"}, "ATM", ("食費", "食料品", "ATM", True, True)),
        (WORDS, "振替", OWN[0]),
        (WORDS, "支払", OWN[0]),
        (WORDS, "失効", ("食費", "食料品", "昼", True, False)),
        ({**WORDS, "ignored": "種別"}, "他", OWN[0]),
    ],
)  # fmt: skip
def test_what_a_mapping_has_a_column_a_text_or_a_word_for_is_said(keys, word, wanted):
    folder = LedgerFolder(mappings=Mappings((bank_of(**keys),), ()))
    folder.write("mf.csv", CARD)
    folder.put(
        "bank.csv", f"{BANK},種別\r\n2025/07/01,カード,100,,{word}\r\n", saved=date(2025, 8, 20)
    )
    assert folder.import_().unread == ()
    assert [row.source_file for row in folder.rows()] == ["bank.csv"]
    assert said(folder) == [wanted]


def test_the_users_own_category_comes_before_what_any_file_says(both):
    note_row(both.ledger, transaction_id=both.rows()[0].id, category="趣味 > 本")
    both.import_("replace")
    assert said(both)[0] == ("趣味", "本", *OWN[0][2:])
    note_row(both.ledger, transaction_id=both.rows()[0].id, category="")
    assert said(both) == OWN + OTHER


@pytest.mark.parametrize("mode", ["update", "replace"])
@pytest.mark.parametrize("memo", ["新", ""])
def test_rows_that_are_held_back_keep_what_other_files_say(mode, memo):
    days = [f"2025/07/{1 + n % 28:02}" for n in range(30)]
    mapping = bank_of(header=BANK.split(","), memo="種別", ignored="種別")
    folder = LedgerFolder(mappings=Mappings((mapping,), ()))
    folder.write("mf.csv", *(line(f"i{n}", -n - 1, day) for n, day in enumerate(days)))

    def save(word, *later):
        more = word and f",{word}"  # without a word there is no such column
        rows = [f"{day},店,{n + 1},{more}" for n, day in enumerate(days)]
        lines = [BANK + (word and ",種別"), *rows, *later]
        folder.put("bank.csv", "\r\n".join(lines), saved=date(2025, 8, 20))

    save(memo, "2025/07/30,店,7,", "2025/07/31,店,8,")
    folder.import_()
    before = [("食費", "食料品", memo, False, True)] * 30
    assert said(folder)[:30] == before
    save("旧")
    for path in ("other.csv", "another.csv"):
        (held,) = folder.import_(mode).overruled
        assert "would change 30 rows, which stay" in held.reason
        assert said(folder)[:30] == before
        folder.write(path, line(path, -1, "2025/07/31", "別"))


LACKING = st.sets(st.sampled_from(["大項目", "メモ", "振替"]))
FILES = st.dictionaries(
    st.sampled_from(["1.csv", "2.csv", "3.csv", "4.csv"]),
    st.tuples(st.booleans(), LACKING, st.sets(st.sampled_from("ab")), st.integers(0, 9)),
)


def fill(folder, files, times):
    folder.files = {}
    for path, content in sorted(files.items()):
        is_bank, lacking, ids, number = content
        columns = [name for name in HEADER.split(",") if name not in lacking]
        rows = [dict(zip(HEADER.split(","), line(its_id, memo=f"m{number}", shop=its_id).split(","),
                         strict=True)) | {"大項目": f"c{number}", "振替": str(number % 2)}
                for its_id in sorted(ids)]  # fmt: skip
        lines = [",".join(columns), *(",".join(row[name] for name in columns) for row in rows)]
        if is_bank:
            lines = [BANK, *(f"2025/07/01,{its_id},100," for its_id in sorted(ids))]
        # Content that was there before has the time it had.
        days = times.setdefault((path, repr(content)), len(times))
        text = "\r\n".join([*lines, *[""] * (days + 1)])
        folder.put(path, text, saved=date(2025, 8, 10) + timedelta(days))


@given(st.lists(FILES, min_size=1, max_size=4))
def test_each_value_is_that_of_the_newest_file_that_says_it(steps):
    folder = LedgerFolder(mappings=Mappings((bank_of(),), ()))
    times: dict[tuple[str, str], int] = {}
    for files in steps:
        fill(folder, files, times)
        folder.import_()
    folder.import_("replace")
    listed = sorted(files.items(), key=lambda each: -times[each[0], repr(each[1])])
    for its_id in "ab":
        having = [content for _, content in listed if its_id in content[2]]
        wanted = []
        for name, value, of_bank, of_app in (
            ("大項目", "c{}", "未分類", ""),
            ("メモ", "m{}", "", ""),
            ("振替", "{}", "0", "0"),
        ):
            says = [each for each in having if not each[0] and name not in each[1]]
            default = of_bank if having and having[0][0] else of_app
            number = says[0][3] % (2 if name == "振替" else 10) if says else 0
            wanted.append(value.format(number) if says else default)
        found = [
            [row.category_major, row.memo, str(int(row.is_transfer))]
            for row in folder.rows()
            if row.description == its_id
        ]
        assert found == ([wanted] if having else [])
