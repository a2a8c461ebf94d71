"""A household's folder with statements of several kinds, and mappings for some of them."""

from datetime import date
from pathlib import Path

import pytest

from mdvec.household import EmptyLedger
from mdvec.household.account_report import accounts_report
from mdvec.household.english import in_english
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.mapping_review import mapping_answer
from mdvec.household.month import combined_households, monthly_household
from mdvec.household.notes import list_notes, note_row
from mdvec.household.row_filters import RowFilter
from mdvec.household.statement_preview import MappingRefused
from mdvec.manage import registering
from mdvec.manage.household_mapping import NoHousehold, map_statement
from mdvec.sync.freshness import check_source

MONEY_FORWARD = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID"
SMBC = "年月日,お引出し,お預入れ,お取り扱い内容,残高,メモ,ラベル"
UNKNOWN = "日にち,取引日,つかった額,もらった額,ことがら\n,2025/7/1,300,,架空パン\n"
OWN = """
name = "手帳"
header = ["取引日", "つかった額", "もらった額", "ことがら"]
date = "取引日"
description = "ことがら"
paid_out = "つかった額"
paid_in = "もらった額"
account = "財布"
"""


def counted(household):
    """The account, description and amount of each row that counts."""
    return sorted(
        (row.account, row.description, row.amount) for row in household.transactions() if row.counts
    )


def is_stale(household):
    return check_source(household.database, household.name, household.rules).is_stale


def test_one_folder_holds_all_kinds_and_a_file_that_no_mapping_fits_is_named(household):
    household.put("mf.csv", MONEY_FORWARD, "1,2025/07/01,米,-500,現金,食費,食料品,,0,a")
    household.put("smbc.csv", SMBC, '2025/7/2,110,,"手数料",890,"",')
    household.put("手帳 1.csv", *UNKNOWN.splitlines())
    household.put("assets.csv", '"日付","合計（円）"')
    report = household.import_("new")
    assert counted(household) == [("三井住友銀行", "手数料", -110), ("現金", "米", -500)]
    passed_over = {each.file_path: each.reason for each in report.details.ledger.passed_over}
    assert passed_over["手帳 1.csv"].endswith(
        "; to import it: mdvec household map '手帳 1.csv' -n kakeibo"
    )
    assert passed_over["assets.csv"] == "it is an asset history, not transactions"


def test_what_an_import_will_not_guess_can_be_stated_and_is_then_read(household):
    household.put("mf.csv", MONEY_FORWARD, "1,2025/07/01,米,-500,現金,食費,食料品,,0,a")
    household.put("a.csv", "日付,内容,金額", "2025/7/1,店A,1000", "2025/7/2,店B,2000")
    (passed_over,) = household.import_("new").details.ledger.passed_over
    assert passed_over.reason.endswith("to import it: mdvec household map a.csv -n kakeibo")
    with pytest.raises(MappingRefused, match="this is undecided"):
        household.map("a.csv", save=True)
    stated = ['positive = "spending"']
    assert household.map("a.csv", stated=stated, save=True).saved
    household.import_("update")
    assert counted(household) == [("a", "店A", -1000), ("a", "店B", -2000), ("現金", "米", -500)]


@pytest.mark.parametrize(
    ("header", "rows", "why", "stated", "expected"),
    [
        (
            "日付,大項目,中項目,内容,金額,メモ",
            ("2025/7/1,食費,食料品,店A,3000,", "2025/7/25,収入,給与,勤め先,300000,"),
            "undecided: column 金額: is a positive amount money spent",
            ['positive = "spending"', 'reversals = {"大項目" = ["収入"]}'],
            [("店A", -3000), ("勤め先", 300000)],
        ),
        (
            "日付,大分類,内容,金額",
            ("2025/7/1,食費,店A,3000", "2025/7/2,食費,店B,700"),
            "undecided: column 金額: is a positive amount money spent",
            ['positive = "spending"'],
            [("店A", -3000), ("店B", -700)],
        ),
        (
            "日付,口座,内容,金額,残高",
            ("2025/7/1,銀行,勤め先,300000,300000", "2025/7/2,銀行,家賃,-90000,210000"),
            "something in it is undecided",
            [],
            [("勤め先", 300000), ("家賃", -90000)],
        ),
        ("日付,大項目,内容,金額", ("2025/7/1,食費,店A,-30",), "", [], [("店A", -30)]),
    ],
)
def test_a_ledger_of_ones_own_with_names_like_money_forwards_is_not_taken_for_its(
    household, header, rows, why, stated, expected
):
    household.put("帳簿.csv", header, *rows)
    passed_over = household.import_("new").details.ledger.passed_over
    assert [why in each.reason for each in passed_over] == ([True] if why else [])
    assert household.map("帳簿.csv").origin == ("proposed" if why else "moneyforward")
    assert household.map("帳簿.csv", stated=[*stated, 'account = "帳簿"'], save=True).saved
    household.import_("update")
    found = [(shop, amount) for _, shop, amount in counted(household)]
    assert sorted(found) == sorted(expected)


def test_income_in_a_ledger_of_spending_is_asked_about(household):
    rows = "2025/7/1,食費,店A,3000", "2025/7/25,収入,勤め先,300000"
    household.put("帳簿.csv", "日付,大項目,内容,金額", *rows)
    with pytest.raises(MappingRefused, match="column 大項目: the amounts of 収入 would be spent"):
        household.map("帳簿.csv", stated=['positive = "spending"'], save=True)


def test_answers_and_sources_name_the_files_that_no_sum_has(household):
    def told():
        month = household.ask(monthly_household, period="2025-07")
        found = household.ask(find_transactions, RowFilter(query="店B"), ListingOptions())
        notes = [[each for each in of.notes if "取り込めず" in each] for of in (month, found)]
        assert notes[0] == notes[1]
        return notes[0]

    household.put("card 7.csv", "日付,大項目,内容,金額", "2025/7/2,食費,店B,700")
    household.import_("new")
    with pytest.raises(EmptyLedger, match=r"^取り込めた明細がありません。card 7\.csv は取り込めず"):
        household.ask(monthly_household, period="2025-07")
    household.put("mf.csv", MONEY_FORWARD, "1,2025/07/01,米,-500,現金,食費,食料品,,0,a")
    household.import_("update")
    (note,) = told()
    assert note.startswith("card 7.csv は取り込めず、どの合計にも入っていません")
    assert in_english(note).startswith("card 7.csv could not be imported and is in no sum")
    source = household.source()
    assert not source.freshness.is_stale
    assert [(each.file_path, "column 金額" in each.reason) for each in source.failed] == [
        ("card 7.csv", True)
    ]
    (household.folder / "8.csv").write_bytes(b"\xff\xff\xff\n\xff")
    household.import_("update")
    assert told()[0].startswith("8.csv ほか 1ファイル は取り込めず")
    (household.folder / "8.csv").unlink()
    household.map("card 7.csv", stated=['positive = "spending"'], save=True)
    household.import_("update")
    assert told() == []
    source = household.source()
    assert source.failed == ()


ANSER = "照会口座,番号,勘定日,出金金額(円),入金金額(円),残高(円),取引区分,摘要"


def test_a_file_of_a_known_kind_whose_days_need_a_format_is_asked_about_wherever_it_is_named(
    household,
):
    household.put("meisai.csv", ANSER, "普通,1,06年11月03日,500,,9500,振込,家賃")
    household.import_("new")
    with pytest.raises(EmptyLedger, match=r"^取り込めた明細がありません。meisai\.csv は取り込めず"):
        household.ask(monthly_household, period="2024-11")
    source = household.source()
    assert "column 勘定日" in source.failed[0].reason
    assert "2024-11-03 令和" in source.failed[0].reason
    assert source.failed[0].reason.endswith("mdvec household map meisai.csv -n kakeibo")
    answer = mapping_answer(household.folder, "meisai.csv")
    assert "2024-11-03 令和" in answer.undecided[0]
    assert "読めない行: 1行（最初は 2行目: 日付を読み取れません" in str(answer.text)
    household.map("meisai.csv", stated=['date_format = "令和"'], save=True)
    household.import_("update")
    assert counted(household) == [("普通", "家賃 振込", -500)]
    assert household.source().failed == ()


def test_sources_name_the_rows_of_a_file_that_cannot_be_read_and_answers_a_file_of_only_such(
    household,
):
    mf = "1,2025/07/{:02},米,{},現金,食費,食料品,,0,a{}"
    household.put("bad.csv", MONEY_FORWARD, *(mf.format(n, "-1.5", n) for n in (1, 2)))
    household.put("mf.csv", MONEY_FORWARD, mf.format(3, -500, 3), mf.format(4, "x", 4))
    household.import_("new")
    for mode in ("update", "replace"):
        source = household.source()
        assert [(each.file_path, each.reason.partition(":")[0]) for each in source.failed] == [
            ("bad.csv", "2 rows cannot be read, the first in line 2"),
            ("mf.csv", "1 row cannot be read, the first in line 3"),
        ]
        month = household.ask(monthly_household, period="2025-07")
        of_bad, of_mf = (
            [note for note in month.notes if note.startswith(name)] for name in ("bad", "mf")
        )
        assert [note.partition("、")[0] for note in of_bad] == ["bad.csv は取り込めず"]
        assert [note.partition("、")[0] for note in of_mf] == [
            "mf.csvに読めないか円でない行が 1件あり"
        ]
        household.import_(mode)


def test_statements_of_unknown_kinds_and_workbooks_are_named_wherever_left_out_files_are(household):
    household.put("謎信金.csv", *UNKNOWN.splitlines())
    household.put("家計簿.xlsx", "PK")
    household.put("memo.txt", "not a statement")
    household.import_("new")
    with pytest.raises(
        EmptyLedger, match=r"^取り込めた明細がありません。家計簿\.xlsx ほか 1ファイル は"
    ):
        household.ask(lambda ledger: combined_households({"kakeibo": ledger}))
    assert [each.file_path for each in household.source().failed] == ["家計簿.xlsx", "謎信金.csv"]
    household.put("mf.csv", MONEY_FORWARD, "1,2025/07/01,米,-500,現金,食費,食料品,,0,a")
    household.import_("update")
    for _ in range(2):
        assert not is_stale(household)
        month = household.ask(monthly_household, period="2025-07")
        accounts = household.ask(accounts_report)
        (note,) = accounts.notes
        assert note.startswith(
            "家計簿.xlsx ほか 1ファイル は取り込めず、どの合計にも入っていません"
        )
        assert note in month.notes
        household.import_("update")
    (household.folder / "手帳.mapping.toml").write_text(OWN, "utf-8")
    assert is_stale(household)


def test_two_files_of_one_account_are_given_its_name_one_after_the_other(household):
    card = '"利用日","利用店名・商品名","利用者","支払方法","利用金額","支払手数料","支払総額"'
    rows = [f'"2026/06/0{n}","店{n}","本人","1回払い","{n}","0","{n}"' for n in (1, 2, 3)]
    household.put("明細.csv", card, *rows, encoding="utf-8")
    household.put("meisai.csv", card, *rows[:2], encoding="utf-8")
    household.import_("new")
    household.today = date(2026, 7, 1)
    (note,) = household.ask(accounts_report).notes
    command = "mdvec household map FILE -n kakeibo --account NAME --set 'files = \"FILE\"' --save"
    assert command in note
    assert "household map FILE -n kakeibo --account NAME --set 'files" in in_english(note)
    for name in ("明細.csv", "meisai.csv"):
        done = household.map(name, account="家族カード", stated=[f'files = "{name}"'], save=True)
    assert Path(done.saved).name == "家族カード-2.mapping.toml"
    household.put("3.csv", card, rows[0], encoding="utf-8")
    with pytest.raises(MappingRefused, match=r"家族カード[.]mapping[.]toml exists"):
        household.map("3.csv", account="家族カード", save=True)
    (household.folder / "3.csv").unlink()
    household.import_("update")
    assert counted(household) == [("家族カード", f"店{n}", -n) for n in (1, 2, 3)]


def test_a_new_column_of_a_saved_kind_is_asked_about_and_what_is_stated_goes_into_its_file(
    household,
):
    household.put("架空カード1.csv", "利用日,利用店名,利用金額", "2025/7/1,店A,1000")
    mapping = Path(household.map("架空カード1.csv", save=True).saved)
    mapping.write_text(f"{mapping.read_text('utf-8')}# mine\n", "utf-8")
    new = ("利用日,利用店名,利用金額,状態", "2025/8/1,店A,1100,確定", "2025/8/2,店B,200,失敗")
    household.put("架空カード2.csv", *new)
    (passed_over,) = household.import_("new").details.ledger.passed_over
    assert passed_over.reason.startswith(
        "something in it is undecided: column 状態 says 確定、失敗"
    )
    assert passed_over.reason.endswith("mdvec household map '架空カード2.csv' -n kakeibo")
    assert counted(household) == [("架空カード", "店A", -1000)]
    with pytest.raises(MappingRefused, match="reads this file already"):
        household.map("架空カード2.csv", save=True)
    stated = ["skipped = {'状態' = ['失敗']}"]
    assert household.map("架空カード2.csv", stated=stated, save=True).saved == str(mapping)
    assert mapping.read_text("utf-8").count("# mine") == 1
    household.import_("update")
    assert counted(household) == [("架空カード", "店A", -1100), ("架空カード", "店A", -1000)]
    household.put("架空カード3.csv", new[0], "2025/9/1,店C,10,確定", "2025/9/2,店D,20,審査中")
    (passed_over,) = household.import_("update").details.ledger.passed_over
    assert "column 状態 says 審査中" in passed_over.reason


def test_zeros_settle_nothing_and_a_month_in_a_columns_name_asks_nothing_anew(household):
    header = "利用日,利用店名,利用金額,手数料,7月支払額"
    household.put("架空カード1.csv", header, "2025/7/1,店A,1000,0,500")
    household.map("架空カード1.csv", stated=['ignored = ["7月支払額"]'], save=True)
    household.put("架空カード2.csv", header.replace("7", "8"), "2025/8/1,店A,1100,0,600")
    assert household.import_("new").details.ledger.passed_over == ()
    household.put("架空カード3.csv", header.replace("7", "9"), "2025/9/1,店A,1200,30,600")
    (passed_over,) = household.import_("update").details.ledger.passed_over
    assert "column 手数料 has other numbers than the amounts" in passed_over.reason
    assert len(counted(household)) == 2


def test_foreign_rows_are_left_out_with_their_sum(household):
    lines = ("2025-07-01,Shop,-1000,JPY", "2025-07-02,Cafe,-5.20,USD", "2025-07-03,Cafe,-1.10,USD")
    household.put("a.csv", "Date,Description,Amount,Currency", *lines)
    household.map("a.csv", stated=['currency = "Currency"'], save=True)
    (failed,) = household.import_("new").details.ledger.failed
    assert (failed.line, failed.reason) == (
        3, "rows in USD (2, -6.30 in sum) are left out: only yen can be added up",
    )  # fmt: skip
    assert counted(household) == [("a", "Shop", -1000)]


def test_files_of_one_bank_that_are_renamed_or_sorted_into_folders_double_nothing(household):
    rows = ('2025/7/2,110,,"手数料",890,"",', '2025/7/28,10000,,"カード",790,"",')
    household.put("smbc_a.csv", SMBC, *rows)
    household.put("smbc_b.csv", SMBC, *rows, '2025/7/29,300,,"別の店",490,"",')
    household.import_("new")
    before = counted(household)
    for name, folder in (("smbc_a.csv", "夫"), ("smbc_b.csv", "妻")):
        (household.folder / folder).mkdir()
        (household.folder / name).rename(household.folder / folder / name)
    household.import_("update")
    assert counted(household) == before
    (household.folder / "妻").rename(household.folder / "花子")
    household.import_("update")
    assert counted(household) == before


def test_a_header_alone_and_a_damaged_encoding_have_a_sentence_each(household):
    household.put("mf.csv", MONEY_FORWARD, "1,2025/07/01,米,-500,現金,食費,食料品,,0,a")
    household.put("empty.csv", SMBC)
    (household.folder / "damaged.csv").write_bytes(
        SMBC.encode("cp932") + b"\r\n\x81\xff,1,,a,1,,\r\n"
    )
    report = household.import_("new")
    passed_over = {each.file_path: each.reason for each in report.details.ledger.passed_over}
    assert passed_over == {"empty.csv": "it has a header, but no rows"}
    assert [(each.file_path, each.reason) for each in report.failed] == [
        ("damaged.csv", "line 2 is neither UTF-8 nor cp932 (Shift_JIS); download it again")
    ]
    household.put("empty.csv", SMBC, '2025/7/2,110,,"手数料",890,"",')
    assert household.import_("update").added == 1


def test_a_statement_twice_or_in_parts_is_imported_once(household):
    same = '2025/7/2,110,,"手数料",{},"",'
    household.put("7.csv", SMBC, same.format(780), same.format(890))
    household.import_("new")
    household.put("copy.csv", SMBC, same.format(780), same.format(890), encoding="utf-8-sig")
    household.put("part.csv", SMBC, '2025/7/3,5,,"電気",775,"",', same.format(780))
    report = household.import_("update")
    assert (report.added, report.details.ledger.unchanged) == (1, 5)
    assert [amount for _, _, amount in counted(household)] == [-110, -110, -5]


def test_a_mapping_that_is_added_brings_the_file_in_and_one_that_changes_reads_it_anew(household):
    household.put("手帳.csv", *UNKNOWN.splitlines())
    household.import_("new")
    assert counted(household) == []
    mapping = household.folder / "手帳.mapping.toml"
    mapping.write_text(OWN, "utf-8")
    assert is_stale(household)
    household.import_("update")
    assert counted(household) == [("財布", "架空パン", -300)]
    assert not is_stale(household)
    household.ask(note_row, transaction_id=1, note="控え")
    mapping.write_text(OWN.replace("財布", "共有の財布"), "utf-8")
    assert is_stale(household)
    report = household.import_("update")
    assert counted(household) == [("共有の財布", "架空パン", -300)]
    assert (report.added, report.updated, report.deleted) == (0, 1, 0)
    assert [row.note for row in household.ask(list_notes).rows] == ["控え"]
    assert household.import_("update").unchanged == 1


def test_a_broken_mapping_is_named_and_what_it_read_stays(household):
    household.put("手帳.csv", *UNKNOWN.splitlines())
    mapping = household.folder / "手帳.mapping.toml"
    mapping.write_text(OWN, "utf-8")
    household.import_("new")
    mapping.write_text(OWN + "amuont = 1\n", "utf-8")
    report = household.import_("update")
    assert counted(household) == [("財布", "架空パン", -300)]
    failed = {each.file_path: each.reason for each in report.failed}
    assert failed.keys() == {"手帳.csv", "手帳.mapping.toml"}
    assert failed["手帳.mapping.toml"].startswith("it has no key 'amuont'")


def test_a_proposal_that_is_saved_reads_every_file_of_its_kind(household):
    household.put("架空信金1.csv", "取引日,内容,出金,入金", "2025/7/1,電気,300,")
    household.put("架空信金2.csv", "取引日,内容,出金,入金", "2025/8/1,電気,310,")
    shown = household.map("架空信金1.csv", save=True)
    assert shown.saved == str(household.folder / "架空信金.mapping.toml")
    assert household.map("架空信金2.csv").origin == "own"
    household.import_("new")
    assert counted(household) == [("架空信金", "電気", -310), ("架空信金", "電気", -300)]


@pytest.mark.parametrize("how", [{"account": "妻"}, {"stated": ['account = "妻"']}])
def test_a_ready_made_mapping_is_copied_to_give_its_account_a_name(household, how):
    household.put("7.csv", SMBC, '2025/7/2,110,,"a",890,"",')
    household.map("7.csv", **how, save=True)
    household.import_("new")
    assert counted(household) == [("妻", "a", -110)]


def test_an_import_says_once_that_an_account_has_the_name_of_its_kind_of_file(household):
    def named(mode="update"):
        lines = household.import_(mode).lines()
        return [line.text for line in lines if "kind of file" in line.text]

    household.put("mf.csv", MONEY_FORWARD, "1,2025/07/01,米,-500,現金,食費,食料品,,0,a")
    household.put("手帳 1.csv", *UNKNOWN.splitlines())
    (household.folder / "手帳.mapping.toml").write_text(OWN, encoding="utf-8")
    household.put("7.csv", SMBC, '2025/7/2,110,,"a",890,"",')
    assert named("new") == [
        "called after their kind of file: 三井住友銀行 (7.csv); to name an account: "
        "mdvec household map 7.csv -n kakeibo --account NAME --save"
    ]
    household.put("8.csv", SMBC, '2025/8/2,110,,"a",780,"",')
    assert named() == named("replace") == []
    card = "利用日,利用店名・商品名,利用者,支払方法,利用金額"
    household.put("5月.csv", card, "2025/5/2,店,本人,1回払い,500")
    household.put("6月.csv", card, "2025/6/2,店,本人,1回払い,500")
    household.put("星.csv", "日付,お支払い金額,お預かり金額,摘要,残高,備考", "2025/7/1,,5,ATM,6,")
    assert named() == [
        "called after their kind of file: 楽天カード (5月.csv …), 東京スター銀行 (星.csv); "
        "to name an account: mdvec household map FILE -n kakeibo --account NAME --save"
    ]


def test_what_cannot_be_saved_is_refused_with_what_to_do(household, tmp_path):
    household.put("7.csv", SMBC, '2025/7/2,110,,"a",890,"",')
    household.put("mf.csv", MONEY_FORWARD)
    household.map("7.csv", save=True)
    with pytest.raises(MappingRefused, match="reads this file already"):
        household.map("7.csv", save=True)
    with pytest.raises(MappingRefused, match="needs no mapping"):
        household.map("mf.csv", save=True)
    with pytest.raises(MappingRefused, match="there is no file"):
        household.map("8.csv")
    with pytest.raises(MappingRefused, match="--name NAME"):
        map_statement(tmp_path / "none.sqlite", household.folder / "7.csv", None, save=True)
    household.put("8.csv", "取引日,内容,出金,入金", "2025/7/1,電気,300,")
    with pytest.raises(MappingRefused, match="--account NAME"):
        household.map("8.csv", account="三井住友銀行", save=True)
    (household.folder / "x.mapping.toml").write_text("x", "utf-8")
    with pytest.raises(MappingRefused, match=r"x\.mapping\.toml: it is not valid TOML"):
        household.map("7.csv")


def test_a_household_must_be_named_where_there_are_several(household, tmp_path):
    household.put("7.csv", SMBC, '2025/7/2,110,,"a",890,"",')
    (tmp_path / "other").mkdir()
    registering.add_tool(household.database, "notes", "d", tmp_path / "other", "markdown")
    with pytest.raises(NoHousehold, match="is a markdown, not a household"):
        map_statement(household.database, household.folder / "7.csv", "notes")
    registering.add_tool(household.database, "second", "d", tmp_path / "other", "household")
    assert household.map("7.csv").household == "kakeibo"  # the file is in its folder
    elsewhere = tmp_path / "7.csv"
    elsewhere.write_bytes((household.folder / "7.csv").read_bytes())
    with pytest.raises(MappingRefused, match="kakeibo, second"):
        map_statement(household.database, elsewhere, None)
