"""Choices for one sheet of a workbook: who has them, and what is said of those that have none."""

import pytest
from source_folder import problems, told, workbook

from mdvec.importing.options import ImportRefused

GOODS = (("番号", "数"), ("001", 100), ("002", 200), ("合計", 300))
NO_NAMES = [row[:2] for row in GOODS[1:]]


def unused(report):
    return told(report, "unused")


def test_a_choice_can_be_for_one_sheet_of_a_workbook(files):
    rows = (("店", "数"), ("A", 1), ("B", 2))
    workbook(files.folder / "w.xlsx", ("甲", rows), ("乙 ", (*rows, ("C", 3))))
    files.import_("new")
    other = files.content("t__w__乙_")
    files.choose("header=none", pattern="w.xlsx#甲")
    assert (len(files.read("t__w__甲")), files.content("t__w__乙_")) == (3, other)
    files.choose("数=text", pattern="w.xlsx#乙 ")
    assert (files.types("t__w__乙_")["数"], len(files.read("t__w__甲"))) == ("VARCHAR", 3)
    files.choose("header=auto", pattern="w.xlsx#甲")
    assert files.choices() == ["数 = text (w.xlsx#乙 )"]
    for columns, pattern, why in (
        ("header=none", "w.xlsx#丙", 'no sheet or table w.xlsx#丙; there are: 甲, "乙 "'),
        ("額=text", "w.xlsx#甲", "no file w.xlsx#甲 has a column '額'"),
    ):
        with pytest.raises(ImportRefused, match=why):
            files.choose(columns, pattern=pattern)


def test_a_sheet_that_fails_refuses_only_the_choices_that_are_for_it(files):
    book = files.folder / "a#1.xlsx"
    workbook(book, ("S", GOODS), ("T", GOODS), ("G", GOODS))
    files.import_("new")
    workbook(book, ("S", NO_NAMES), ("T", NO_NAMES), ("G", GOODS))
    asked = ["a#1.xlsx#S", "a#1.xlsx#T"]
    assert [*problems(files.import_())] == asked
    for _ in range(2):
        for columns, pattern, why in (
            ("totals=out", "*#T", r"^a#1\.xlsx#T: its header cannot be told"),
            ("番号=date", "a#1.xlsx#G", "nothing was changed"),
            ("そんな列=text", "a#1.xlsx#S", "nothing was changed"),
        ):
            with pytest.raises(ImportRefused, match=why):
                files.choose(columns, pattern=pattern)
        assert [*problems(files.choose("totals=out", pattern="a#1.xlsx#G"))] == asked
    assert files.choices() == ["totals = out (a#1.xlsx#G)"]
    assert [*problems(files.choose("header=none", pattern="a#1.xlsx#S"))] == asked[1:]
    assert problems(files.choose("header=none", pattern="a#1.xlsx#T")) == {}
    assert [len(files.read(f"t__a_1__{name}")) for name in "gst"] == [2, 3, 3]


def test_the_only_sheet_of_a_workbook_has_its_own_choices_while_it_has_that_name(files):
    book = files.folder / "a.xlsx"
    of_sheet = ("totals=out", "番号=text")
    workbook(book, ("明細", GOODS), ("メモ", (("a", "b"), ("x", "y"))))
    files.import_("new")
    files.choose(*of_sheet, pattern="a.xlsx#明細")
    workbook(book, ("明細", GOODS))
    said = files.import_()
    assert len(files.read("t__a")) == 2
    assert "for the choice" not in str(said.lines())
    assert files.choose(*of_sheet, pattern="a.xlsx#明細").unchanged == 1
    with pytest.raises(ImportRefused, match=r"no sheet or table a\.xlsx#6月; there are: 明細$"):
        files.choose("totals=out", pattern="a.xlsx#6月")
    with pytest.raises(ImportRefused, match=r"no file a\.xlsx#明細 has a column '額'"):
        files.choose("額=text", pattern="a.xlsx#明細")


GONE = {
    "- = NULL (a.xlsx#明細)": "--read na=auto --for 'a.xlsx#明細'",
    "- in 番号 = NULL (a.xlsx#明細)": "--read '番号=auto' --for 'a.xlsx#明細', which takes back as "
    "well: 番号 = text (a.xlsx#明細)",
    "番号 = text (a.xlsx#明細)": "--read '番号=auto' --for 'a.xlsx#明細', which takes back as "
    "well: - in 番号 = NULL (a.xlsx#明細)",
    "notes = out (a.xlsx#明細)": "--read notes=auto --for 'a.xlsx#明細'",
    "totals = out (a.xlsx#明細)": "--read totals=auto --for 'a.xlsx#明細'",
    "header_row = none (a.xlsx#明細2)": "--header-row 0 --for 'a.xlsx#明細2'",
    "totals = out (b.csv)": "--read totals=auto --for b.csv",
    "encoding = utf-8-sig (b.*)": "--encoding auto --for 'b.*'",
    "delimiter = , (b.*)": "--delimiter auto --for 'b.*'",
}


@pytest.mark.parametrize("others", [(), (("メモ", (("a", "b"), ("x", "y"))),)])
def test_a_choice_whose_file_or_sheet_is_gone_is_told_once(files, others):
    workbook(files.folder / "a.xlsx", ("明細2", GOODS), *others)
    files.write("b.csv", "番号,数\n1,2\n")
    files.import_("new")
    files.choose("header=none", pattern="a.xlsx#明細2")
    workbook(files.folder / "a.xlsx", ("明細", GOODS), *others)
    of_sheet = ("na=-", "番号=na:-", "番号=text", "notes=out", "totals=out")
    files.choose(*of_sheet, pattern="a.xlsx#明細")
    files.choose("totals=out", pattern="b.csv")
    files.choose(encoding="utf-8", delimiter=",", pattern="b.*")
    workbook(files.folder / "a.xlsx", ("6月", GOODS), *others)
    (files.folder / "b.csv").rename(files.folder / "c.csv")
    report = files.import_()
    lines = {
        f"no file or table is there for the choice {choice}; take it back with {back}"
        for choice, back in GONE.items()
    }
    assert sorted(report.json_fields()["dataset"]["unused"]) == sorted(lines)
    assert set(unused(report)) <= {f"unused: {line}" for line in lines}
    assert "for the choice" not in str(told(report))


@pytest.mark.parametrize("names", [("a", "b"), ("m_1", "m_2", "m_3")])
def test_a_renamed_sheet_is_told_at_each_import_whatever_other_workbooks_hold(files, names):
    first, *others = (files.folder / f"{name}.xlsx" for name in names)
    for book in others:
        workbook(book, ("売上", GOODS))
    workbook(first, ("明細", GOODS))
    files.import_("new")
    files.choose("totals=out", pattern="*.xlsx#明細")
    workbook(first, ("6月", GOODS))
    said = [unused(files.import_()) for _ in range(3)]
    assert said[0] == said[1] == said[2] != []
    with pytest.raises(ImportRefused, match=r"no sheet or table \*#明細; there are: 6月, 売上$"):
        files.choose("totals=out", pattern="*#明細")
    with pytest.raises(ImportRefused, match="no sheet or table"):
        files.choose("totals=out", pattern=f"{others[0].name}#明細")
    first.unlink()
    assert unused(files.import_()) == said[0]
    workbook(first, ("明細", GOODS))
    assert unused(files.import_()) == []
    assert unused(files.import_()) == []


def test_a_workbook_left_out_of_a_combined_table_hides_no_missing_sheet(files):
    for name in ("m_1", "m_2"):
        workbook(files.folder / f"{name}.xlsx", ("売上", GOODS))
    files.import_("new")
    workbook(files.folder / "m_3.xlsx", ("明細", GOODS), ("甲", GOODS))
    assert "m_3.xlsx" in str(files.choose("totals=out", pattern="m_3.xlsx#明細").lines())
    workbook(files.folder / "m_3.xlsx", ("乙", GOODS), ("甲", GOODS))
    assert [len(unused(files.import_())) for _ in range(2)] == [1, 1]


def test_a_choice_for_a_sheet_that_is_hidden_or_a_file_that_fails_is_refused_or_kept(files):
    book = workbook(files.folder / "a.xlsx", ("甲", GOODS), ("乙", GOODS), ("丙", GOODS))
    files.import_("new")
    files.choose("totals=out", pattern="a.xlsx#乙")
    for name in "乙丙":
        book[name].sheet_state = "hidden"
    book.save(files.folder / "a.xlsx")
    assert unused(files.import_()) == []
    for _ in range(2):
        with pytest.raises(ImportRefused, match=r"^a\.xlsx#丙: it is a hidden sheet; .* changed$"):
            files.choose("totals=out", pattern="a.xlsx#丙")
    (files.folder / "a.xlsx").write_bytes(b"damaged")
    assert unused(files.import_()) == []
