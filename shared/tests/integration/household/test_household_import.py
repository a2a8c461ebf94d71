"""The whole import of a household: its ledger, and searches in its texts."""

import csv
import sys
from contextlib import contextmanager
from dataclasses import replace
from datetime import date

import pytest
from collection import Collection, check_indexes
from household_folder import HouseholdFolder
from ledger_folder import HEADER
from tiny_embedder import TinyBackend

from mdvec.database import column
from mdvec.database.connection import DatabaseError, open_database
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder, ModelUnavailable
from mdvec.embedding.options import BackendOptions, OpenAIOptions
from mdvec.household import deciding, review, rules
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.deciding import ReviewDecision
from mdvec.household.english import in_english
from mdvec.household.month import monthly_household
from mdvec.household.notes import note_row
from mdvec.household.options import HouseholdOptions, RemovalOptions
from mdvec.importing.endpoint_texts import SendingRefused
from mdvec.importing.job import ImportInterrupted
from mdvec.importing.options import ImportRefused
from mdvec.manage import registering
from mdvec.manage.compacting import compact
from mdvec.manage.doctor.database import check_leftovers
from mdvec.manage.doctor.examination import GROUPS, examine
from mdvec.manage.status import overview
from mdvec.manage.tool_import import import_tool
from mdvec.search.core.filters import Filters
from mdvec.settings.loading import load_with_origins
from mdvec.tools.registry import get_tool


def row(mf_id, description="スーパー", amount=-1200, day="2025/07/01", account="カード"):
    return f'1,{day},{description},"{amount:,}",{account},食費,食料品,,0,{mf_id}'


def export(household, name, *rows, time=None):
    household.put(name, HEADER, *rows, time=time)


def check_texts(household):
    """The indexes are exactly those of the stored texts."""
    with open_database(household.database, "read") as connection:
        check_indexes(get_tool(connection, household.name).tables_in(connection))


def files_opened_below(folder):
    """Records the names of files below a folder that Python opens."""
    opened = []

    def hear(event, arguments):
        if event == "open" and str(arguments[0]).startswith(f"{folder}/"):
            opened.append(arguments[0])

    sys.addaudithook(hear)
    return opened


@contextmanager
def csv_parses():
    """The calls of ``csv.reader`` in the block."""
    calls = []

    def hear(_frame, event, called):
        if event == "c_call" and called is csv.reader:
            calls.append(called)

    sys.setprofile(hear)
    try:
        yield calls
    finally:
        sys.setprofile(None)


class UnpluggedBackend(TinyBackend):
    """A model that is lost while an import runs."""

    def encode_documents(self, texts):
        raise ModelUnavailable("the model is not here any more")


def no_model(name):
    raise ModelUnavailable("the model is not here")


def test_each_transaction_is_found_with_its_row_date_and_amount(household):
    export(household, "7.csv", row("a"), row("b", "市営プール", -500), row("c", "書店", -1980))
    report = household.import_("new")
    assert (report.added, report.chunks, report.failed) == (3, 3, ())
    hit = household.search("市営プール", k=1).results[0]
    assert hit.content == row("b", "市営プール", -500)
    assert (hit.file_path, hit.start_line, hit.end_line) == ("7.csv", 3, 3)
    assert hit.heading == "2025-07-01 -500円 食費/食料品 取引ID 2"


def test_equal_subjects_are_embedded_once_and_share_one_vector_and_entry_of_words(household):
    """Dates and amounts are not embedded at all."""
    for month in ("06", "07"):
        rows = [row(f"{month}{n}", day=f"2025/{month}/{n:02}", amount=-n) for n in range(1, 9)]
        export(household, f"{month}.csv", *rows, row(f"{month}x", "市営プール"))
    report = household.import_("new")
    assert (report.chunks, report.chunks_embedded) == (18, 2)
    assert sorted(household.backend.embedded) == ["スーパー 食費 食料品", "市営プール 食費 食料品"]
    with open_database(household.database, "read") as connection:
        stored = "SELECT chunk_text FROM vectors_kakeibo ORDER BY id"
        assert connection.execute(stored).fetchall() == [
            ("スーパー 食費 食料品",), ("市営プール 食費 食料品",),
        ]  # fmt: skip
        counted = connection.execute("SELECT count(*) FROM fts_1_1_docsize").fetchall()
    assert counted == [(2,)]
    check_texts(household)


def test_the_rows_of_a_subject_are_those_asked_for_then_the_newest(household):
    rows = [row(f"id{n}", day=f"2025/07/{n:02}", amount=-100 * n) for n in range(1, 9)]
    export(household, "7.csv", *rows)
    household.import_("new")

    def days(question):
        return [int(hit.heading[8:10]) for hit in household.search(question, k=3).results]

    assert days("スーパー") == [8, 7, 6]
    assert days("2025年7月3日のスーパー") == [3, 8, 7]
    assert days("スーパー 500円") == [5, 8, 7]


def test_a_hit_shows_the_present_marks_of_its_row(household):
    same = {"description": "家具店", "amount": -18700}
    export(household, "7.csv", row("a", **same), row("b", account="アプリ", **same))
    asked = replace(household.request("new"), options=HouseholdOptions(DetectionOptions()))
    import_tool(asked, lambda _: Embedder(household.backend))
    household.ask(deciding.confirm, 1, ReviewDecision("duplicate"))
    found = [hit.heading for hit in household.search("家具店", k=2).results]
    assert sorted(found) == [
        "2025-07-01 -18,700円 食費/食料品 取引ID 1",
        "2025-07-01 -18,700円 食費/食料品（集計外: 重複） 取引ID 2",
    ]


def test_rules_and_notes_are_found_at_once_and_embedded_by_the_next_import(household):
    shop = "ﾘﾝﾘﾝ"
    export(household,
        "7.csv", row("a", shop), row("b", shop, day="2025/07/09"), row("c", "書店"),
        row("d", "バス").replace("食費,食料品", "交通費,自転車"),
    )  # fmt: skip
    household.import_("new")
    embedded = list(household.backend.embedded)

    def found(question):
        hits = household.search(question, k=2, mode="lexical").results
        return [
            hit.heading for hit in hits if hit.content.startswith("1,2025") and shop in hit.content
        ]

    assert (found("自転車"), found("修理")) == ([], [])
    household.ask(rules.set_rule, shop="リンリン", category="自転車")
    household.ask(note_row, transaction_id=1, note="修理", tags=["通勤"])
    assert "2025-07-09 -1,200円 交通費/自転車 取引ID 2" in found("自転車 リンリン")
    for question in ("修理", "通勤"):
        assert found(question)[0] == "2025-07-01 -1,200円 交通費/自転車 「修理」 #通勤 取引ID 1"
    check_texts(household)
    assert household.backend.embedded == embedded
    household.import_()
    assert household.backend.embedded == [*embedded, "ﾘﾝﾘﾝ 交通費 自転車"]
    assert found("修理")[0].endswith("「修理」 #通勤 取引ID 1")
    household.ask(rules.remove_rule, shop="リンリン")
    household.ask(note_row, transaction_id=1)
    assert "2025-07-09 -1,200円 食費/食料品 取引ID 2" in found("リンリン 食料品")
    assert found("修理") == []
    check_texts(household)


def test_a_row_of_two_statement_files_is_found_once_in_the_newer(household):
    export(household, "early.csv", row("a"), row("b"), time=1_000)
    export(household, "late.csv", row("b", amount=-999), row("c"), time=2_000)
    report = household.import_("new")
    assert (report.details.ledger.rows_read, report.added, report.unchanged, report.chunks) == (
        4,
        3,
        1,
        3,
    )
    found = household.search("スーパー", k=10).results
    assert sorted((hit.file_path, hit.start_line) for hit in found) == [
        ("early.csv", 2), ("late.csv", 2), ("late.csv", 3),
    ]  # fmt: skip


def test_a_change_is_imported_and_unchanged_rows_stay(household):
    export(household, "7.csv", row("a"), row("b"), time=1_000)
    household.import_("new")
    embedded = len(household.backend.embedded)
    assert household.import_().chunks_embedded == 0
    export(household, "7 (1).csv", row("a"), row("b", "市営プール"), time=2_000)
    report = household.import_()
    assert (report.added, report.updated) == (0, 1)
    assert set(household.backend.embedded[embedded:]) <= {
        "スーパー 食費 食料品",
        "市営プール 食費 食料品",
    }
    assert [hit.file_path for hit in household.search("市営プール", k=1).results] == ["7 (1).csv"]
    assert household.search("スーパー", k=9).total_chunks == 2


@pytest.mark.parametrize(
    "filters",
    [Filters(exact=("スーパー",)), Filters(exclude=("駅",)), Filters(since=date(2025, 1, 1))],
)
def test_a_filter_of_notes_says_nothing_about_rows_but_what_finds_them(household, filters):
    export(household, "7.csv", row("a"))
    household.import_("new")
    answer = household.search("スーパー", filters=filters)
    assert (answer.results, answer.notes) == (
        (),
        (
            "kakeibo was left out: these filters are for notes and documents; the household's "
            "own tools find rows by words, days and amounts",
        ),
    )


def test_an_answer_counts_and_names_only_the_tools_that_its_filters_do_not_leave_out(household):
    export(household, "7.csv", row("a"))
    household.import_("new")
    notes = Collection(household.folder.parent / "notes", household.database)
    notes.write("a.md", "スーパーの献立")
    notes.import_("new")
    for filters, tools, total in (
        ({}, {"kakeibo", "notes"}, 2),
        ({"filters": Filters(exact=("献立",))}, {"notes"}, 1),
    ):
        answer = household.search("スーパー", tools=None, **filters)
        assert (set(answer.tools), answer.total_chunks) == (tools, total)
    alone = household.search("スーパー", filters=Filters(exact=("献立",)))
    assert (alone.tools, alone.total_chunks) == (("kakeibo",), 1)


def test_that_amounts_are_not_searched_is_told_unless_the_answer_is_sure(household):
    export(household, "7.csv", row("a"))
    household.import_("new")
    assert not household.search("スーパー").notes
    (*_, note) = household.search("48,000円").notes
    assert note == (
        "in kakeibo only shops, categories and memos are searched; the household's own tools "
        "find rows by words, days and amounts"
    )


def test_rows_of_a_deleted_file_are_found_until_a_replace(household):
    export(household, "6.csv", row("a", "市営プール", day="2025/06/30"))
    export(household, "7.csv", row("b"))
    household.import_("new")
    (household.folder / "6.csv").unlink()
    report = household.import_()
    assert (report.deleted, report.details.ledger.without_file) == (0, 1)
    for again in (report, household.import_()):
        assert again.details.lines(again)[1].text == (
            "gone or changed since, with rows that the ledger keeps: 6.csv; to delete the rows "
            "that are in no file now: mdvec import -n kakeibo --mode replace"
        )
    assert household.search("市営プール", k=1).results[0].file_path == "6.csv"
    report = household.import_("replace")
    assert (report.deleted, report.chunks) == (1, 1)
    assert [hit.file_path for hit in household.search("市営プール", k=9).results] == ["7.csv"]


def test_an_import_stopped_after_the_ledger_continues_with_the_texts(household):
    export(household, "7.csv", row("a"))
    household.import_("new")
    export(household, "8.csv", row("b", "市営プール"))
    with pytest.raises(ModelUnavailable):
        import_tool(household.request("update"), lambda _: Embedder(UnpluggedBackend()))
    assert len(household.transactions()) == 2
    report = household.import_()
    assert (report.added, report.unchanged, report.chunks) == (0, 2, 2)
    assert household.search("市営プール", k=1).results[0].file_path == "8.csv"


def without_ledger(household):
    with open_database(household.database, "write") as connection:
        connection.execute("ALTER TABLE statement_rows RENAME TO lost_rows")


@pytest.mark.parametrize(
    ("how", "prepare"),
    [(ModelUnavailable, None), (KeyboardInterrupt, None), (SystemExit, None),
     (DatabaseError, without_ledger)],
)  # fmt: skip
def test_a_rebuild_that_did_not_finish_is_begun_again_with_its_model(household, how, prepare):
    export(household, "7.csv", row("a"))
    household.import_("new")
    if prepare is not None:
        prepare(household)

    def ended(_) -> None:
        raise how

    asked = replace(household.request("replace"), model="tiny")
    with pytest.raises((how, ImportInterrupted)):
        import_tool(asked, lambda _: Embedder(household.backend), on_progress=ended)
    again = "continue with: mdvec import -n kakeibo --mode replace --model tiny"
    assert overview(household.database).tools[0].unfinished.endswith(again)
    settings = load_with_origins({}, flags={"database": {"path": str(household.database)}})
    examine(settings, fix=True, groups=[one for one in GROUPS if one.check is check_leftovers])
    compact(household.database)
    assert overview(household.database).tools[0].unfinished.endswith(again)
    with open_database(household.database, "read") as connection:
        names = column(connection, "SELECT name FROM sqlite_schema WHERE name LIKE '%@%'")
    assert [name for name in names if not name.startswith("options_")] == []


def test_a_folder_without_statement_files_deletes_nothing(household):
    export(household, "7.csv", row("a"))
    household.import_("new")
    (household.folder / "7.csv").unlink()
    for mode in ("update", "replace"):
        with pytest.raises(ImportRefused, match="there is no CSV file in"):
            household.import_(mode)
    assert len(household.transactions()) == 1


def test_new_is_for_an_empty_ledger(household):
    export(household, "7.csv", row("a"))
    household.import_("new")
    with pytest.raises(ImportRefused, match="has 1 transaction already; use --mode update"):
        household.import_("new")


def rows_after_refusal(household, mode, error, why, load=no_model, **more):
    """How many rows there are after an import that is refused, and so has not begun."""
    with pytest.raises(error, match=why):
        import_tool(replace(household.request(mode), **more), load)
    assert overview(household.database).tools[0].unfinished is None
    return len(household.transactions())


def test_an_import_that_lacks_its_model_or_is_refused_for_another_has_not_begun(household):
    missing = ModelUnavailable, "the model is not here"
    export(household, "7.csv", row("a"))
    assert rows_after_refusal(household, "new", *missing) == 0
    household.import_("new")
    import_tool(household.request("update"), no_model)  # nothing has changed, so none is needed
    export(household, "8.csv", row("b"))
    assert rows_after_refusal(household, "replace", *missing) == 1
    assert rows_after_refusal(household, "update", *missing) == 1
    other = ImportRefused, "build it again with --mode replace"
    assert rows_after_refusal(household, "update", *other, model="use") == 1


def test_a_first_import_or_a_replacement_that_may_not_send_its_texts_has_not_begun(household):
    """The endpoint is another machine's, and nothing listens there."""
    chosen = BackendOptions(
        openai=OpenAIOptions(base_url="http://0.0.0.0:9/v1", dimensions=16), environment={}
    )
    refused = {
        "error": SendingRefused, "why": "nothing was sent", "model": "openai:tiny",
        "load": lambda _: catalog.load("openai:tiny", chosen),
    }  # fmt: skip
    export(household, "7.csv", row("a"))
    assert rows_after_refusal(household, "new", **refused) == 0
    household.import_("new")
    assert rows_after_refusal(household, "replace", **refused) == 1
    export(household, "8.csv", row("b"))
    assert rows_after_refusal(household, "replace", **refused) == 1


def test_two_households_never_mix_and_deleting_one_leaves_the_other(household, tmp_path):
    other = HouseholdFolder(tmp_path / "other", household.database, name="second")
    export(household, "7.csv", row("a"))
    export(other, "7.csv", row("a", "市営プール"))
    household.import_("new")
    other.import_("new")
    assert [hit.tool for hit in other.search("スーパー", k=9).results] == ["second"]
    registering.delete_tool(household.database, "kakeibo")
    with open_database(household.database, "read") as connection:
        left = connection.execute("SELECT description FROM transactions").fetchall()
    assert left == [("市営プール",)]


def test_a_change_is_followed_by_reading_and_parsing_only_the_file_that_changed(household):
    export(household, "7.csv", row("a"), row("b", "市営プール"))
    export(household, "8.csv", row("c"), row("d"))
    household.import_("new")
    export(household, "7.csv", row("a"), row("x", "市営プール"))  # as many bytes as before
    opened = files_opened_below(household.folder)
    with csv_parses() as parses:
        report = household.import_()
    assert (report.added, report.chunks, len(parses)) == (1, 5, 1)
    assert opened == [str(household.folder / "7.csv")]


def test_renamed_statements_are_followed_by_reading_each_once(household):
    export(household, "7.csv", row("a"), row("b", "市営プール"))
    household.import_("new")
    export(household, "8.csv", row("a"), row("b", "市営プール"))
    (household.folder / "7.csv").unlink()
    opened = files_opened_below(household.folder)
    with csv_parses() as parses:
        assert household.import_().unchanged == 2
    assert (opened, len(parses)) == ([str(household.folder / "8.csv")], 1)
    hit = household.search("市営プール", k=1).results[0]
    assert (hit.file_path, hit.content) == ("8.csv", row("b", "市営プール"))


def test_rows_keep_their_text_when_something_else_was_saved_in_place_of_their_statement(household):
    export(household, "7.csv", row("a"), row("b", "市営プール"))
    export(household, "8.csv", row("c"))
    household.import_("new")
    (household.folder / "7.csv").write_text("日付,合計（円）\n2025/07/01,1\n2025/07/02,2\n")
    report = household.import_()
    assert [problem.file_path for problem in report.failed] == ["7.csv"]
    hit = household.search("市営プール", k=1).results[0]
    assert (hit.file_path, hit.content) == ("7.csv", row("b", "市営プール"))


def test_a_row_that_left_the_sums_is_not_found_until_it_is_restored(household):
    july = "収入・支出詳細_2025-07-01_2025-07-31"
    export(household, f"{july}.csv", row("a"), row("b", "市営プール"), time=1_755_000_000)
    export(household, f"{july} (1).csv", row("a"), time=1_755_000_001)
    report = household.import_("new")
    (gone,) = report.details.ledger.removed
    assert (gone.description, report.chunks) == ("市営プール", 1)
    asked = replace(
        household.request("update"),
        options=HouseholdOptions(removals=RemovalOptions(keep=(gone.id,))),
    )
    before = household.transactions(), overview(household.database)
    for mode in ("update", "replace"):
        with pytest.raises(ModelUnavailable):
            import_tool(replace(asked, mode=mode), no_model)
        assert (household.transactions(), overview(household.database)) == before
    report = import_tool(asked, lambda _: Embedder(household.backend))
    (again,) = report.details.ledger.returned
    assert (again.id, again.description, report.chunks) == (gone.id, "市営プール", 2)
    assert household.search("市営プール", k=1).results[0].content == row("b", "市営プール")
    wrong = replace(
        household.request("update"), options=HouseholdOptions(removals=RemovalOptions(keep=(99,)))
    )
    with pytest.raises(ImportRefused, match="no row 99 of 'kakeibo' is gone"):
        import_tool(wrong, lambda _: Embedder(household.backend))


def import_and_detect(household, mode="update"):
    """The report of an import that looks for duplicates."""
    asked = replace(household.request(mode), options=HouseholdOptions(DetectionOptions()))
    return import_tool(asked, lambda _: Embedder(household.backend))


def test_an_import_tells_of_new_duplicates_until_the_user_hears_of_them(household):
    same = {"description": "家具店", "amount": -18790}
    export(household, "7.csv", row("a", **same))
    assert import_and_detect(household, "new").details.candidates.purchases == 0
    export(household, "8.csv", row("b", account="アプリ", **same))
    report = import_and_detect(household)
    assert report.details.candidates.purchases == 1
    assert "1 new pair is likely one purchase booked twice" in report.details.lines(report)[-1].text
    assert import_and_detect(household).details.candidates is None
    assert "が1件あります" in household.ask(review.take_news)
    assert household.ask(review.take_news) == ""


def test_an_import_tells_of_a_cards_bills_and_leaves_out_later_ones_once_it_always_does(household):
    bank = {"account": "三菱UFJ銀行", "description": "ラクテンカードサービス"}
    card = {"account": "楽天カード"}
    export(household,
        "card.csv", row("a", amount=-30_000, day="2026/06/03", **card),
        row("b", amount=-24_321, day="2026/06/21", **card),
    )  # fmt: skip
    import_and_detect(household, "new")
    export(household, "bank.csv", row("c", amount=-54_321, day="2026/07/27", **bank))
    report = import_and_detect(household)
    assert report.details.candidates.bills == 1
    assert "1 new card bill equals the card's own rows" in report.details.lines(report)[-1].text
    (bill,) = household.ask(review.list_candidates).candidates
    household.ask(deciding.confirm, bill.check_id, ReviewDecision("duplicate", alike=True))
    export(household, "card8.csv", row("d", amount=-18_790, day="2026/07/05", **card))
    export(household, "bank8.csv", row("e", amount=-18_790, day="2026/08/27", **bank))
    report = import_and_detect(household)
    assert (report.details.candidates.bills, report.details.followed_bills) == (0, 1)
    assert "as decided for all bills of the card: 1 card bill" in (
        report.details.lines(report)[-1].text
    )


def test_an_import_without_options_looks_for_no_duplicates(household):
    same = {"description": "家具店", "amount": -18790}
    export(household, "7.csv", row("a", **same), row("b", account="アプリ", **same))
    assert household.import_("new").details.candidates is None


def test_other_csv_files_are_skipped_and_bad_rows_reported(household):
    export(household, "7.csv", row("a"), "1,2025/13/01,x,-1,y,食費,食料品,,0,bad")
    (household.folder / "assets.csv").write_text(
        "日付,合計（円）\n2025/07/01,100\n", encoding="cp932"
    )
    (household.folder / "login.csv").write_text("<!DOCTYPE html><html>", encoding="utf-8")
    report = household.import_("new")
    assert [problem.file_path for problem in report.details.ledger.net_worth] == ["assets.csv"]
    assert [(bad.path, bad.line) for bad in report.details.ledger.failed] == [("7.csv", 3)]
    assert [problem.file_path for problem in report.failed] == ["login.csv"]
    assert report.chunks == 1


def test_a_newer_file_that_counts_as_older_is_named_until_the_other_is_downloaded_again(household):
    def spent_and_notes():
        month = household.ask(monthly_household, period="2026-06")
        return month.spending, [each for each in month.notes if "優先" in each]

    household.today = date(2026, 8, 20)
    year, june = (
        f"収入・支出詳細_2026-{days}.csv" for days in ("01-01_2026-12-31", "06-01_2026-06-30")
    )
    kept, july = row("a", amount=-600, day="2026/06/10"), row("c", day="2026/07/03")
    wrong, double = (row("b", amount=-1000, day="2026/06/15"), row("d", day="2026/06/30"))
    corrected = row("b", amount=-8000, day="2026/06/15")
    export(household, year, kept, wrong, double, july, time=1_783_209_600)
    household.import_("new")
    export(household, june, kept, corrected, time=1_786_320_000)
    for _ in range(2):
        household.import_()
        spent, (note,) = spent_and_notes()
        assert spent == 2800
        assert note.startswith(f"{june}より、後の日まで明細のあるファイルを優先しています")
        assert in_english(note) == (
            f"a file with rows of later days takes precedence over {june}; list_sources says why"
        )
        ((path, reason),) = [(each.file_path, each.reason) for each in household.source().failed]
        assert (path, reason.endswith("download its days again, too")) == (june, True)
    export(household, year, kept, corrected, july, time=1_786_400_000)
    household.import_()
    assert spent_and_notes() == (8600, [])
    assert household.source().failed == ()
