"""Accounts that were linked again: all their rows have new IDs, and are still the same rows."""

from datetime import date

import pytest
from ledger_folder import JULY, line

from mdvec.household.core.pair import DetectionOptions
from mdvec.household.deciding import ReviewDecision, confirm
from mdvec.household.english import in_english
from mdvec.household.month import monthly_household
from mdvec.household.notes import list_notes, note_row
from mdvec.household.report import _gone_row_text
from mdvec.household.review import detect, list_candidates

LATER = date(2025, 8, 20)
SHOPS = [("そば", -900), ("本", -2400), ("薬", -1300), ("花", -700), ("靴", -8800), ("茶", -450)]


def of_bank(ids, rows=SHOPS, first=20):
    return [
        line(f"{ids}{n}", amount, f"2025/07/{first + n}", shop, "みどり銀行")
        for n, (shop, amount) in enumerate(rows)
    ]


def spent(folder):
    return -sum(row.amount for row in folder.rows() if row.counts)


TRUTH = -sum(amount for _, amount in SHOPS)
OTHERS = [line(f"c{n}", -10 - n, f"2025/07/{n + 1:02}", account="カード") for n in range(9)]
FILES = {
    "of the same days": (f"{JULY}.csv", f"{JULY} (1).csv", []),
    "of other days": (f"{JULY}.csv", "収入・支出詳細_2025-07-16_2025-08-15.csv", []),
    "of one name": ("7月.csv", "7月 (1).csv", []),
    "of two folders": ("2025/7月.csv", "2025/8月/全部.csv", OTHERS),
    "with rows of another account": ("mf_july.csv", "mf2.csv", OTHERS),
}


@pytest.mark.parametrize("files", FILES)
@pytest.mark.parametrize("at_once", [True, False])
def test_the_rows_count_once_in_whatever_files_they_are(folder, files, at_once):
    before, after, others = FILES[files]
    folder.write(before, *of_bank("old"), *others)
    if not at_once:
        folder.import_()
    august = line("a", -60, "2025/08/01", account="みどり銀行")
    folder.write(after, *of_bank("new"), *others, august, saved=LATER)
    report = folder.import_()
    assert (report.account_doubts, report.asked, report.removed) == ((), (), ())
    (named,) = report.linked_again
    assert named.file_path == after
    assert f"that {before} has under other IDs count once: 6 (14,550 yen)" in named.reason
    every = TRUTH + 60 + sum(10 + n for n in range(len(others)))
    assert spent(folder) == every
    assert {row.mf_id[:3] for row in folder.rows() if row.account == "みどり銀行"} == {"new", "a"}
    for mode in ("replace", "update"):
        folder.import_(mode)
        assert spent(folder) == every
    del folder.files[before]
    for mode in ("update", "replace", "update"):
        folder.import_(mode)
        assert spent(folder) == every


@pytest.mark.parametrize("rows", [SHOPS, SHOPS[:3]])
def test_notes_and_decisions_stay_with_their_rows(folder, rows):
    """Fewer than five rows are known where the older ones would be gone from the newest file."""
    own = line("o", -900, "2025/07/20", "そば処", "カード")
    folder.write(f"{JULY}.csv", *of_bank("old", rows), own)
    folder.import_()
    noted, twin, other = (folder.row_id(mf_id) for mf_id in ("old2", "old0", "o"))
    note_row(folder.ledger, transaction_id=noted, note="腰痛", tags=["医療費控除"])
    detect(folder.ledger, DetectionOptions())
    check = list_candidates(folder.ledger).candidates[0].check_id
    confirm(folder.ledger, check, ReviewDecision("duplicate", keep=other))
    before = spent(folder)
    folder.write(f"{JULY} (1).csv", *of_bank("new", rows), own, saved=LATER)
    report = folder.import_()
    assert (report.imported, report.removed, report.account_doubts) == (0, (), ())
    assert (folder.row_id("new2"), folder.row_id("new0")) == (noted, twin)
    assert spent(folder) == before
    (told,) = list_notes(folder.ledger).rows
    assert (told.row.id, told.note, told.tags) == (noted, "腰痛", ("医療費控除",))


def test_of_rows_that_both_came_to_be_in_the_ledger_the_first_takes_the_others_decisions(folder):
    folder.write("7月.csv", *of_bank("old"))
    folder.write("7月 (1).csv", *of_bank("new", SHOPS[:2]), saved=date(2025, 8, 15))
    assert [doubt.rows for doubt in folder.import_().account_doubts] == [2]
    old, new = folder.row_id("old0"), folder.row_id("new0")
    note_row(folder.ledger, transaction_id=new, note="会食")
    folder.write("7月 (2).csv", *of_bank("new"), saved=LATER)
    assert folder.import_().account_doubts == ()
    assert (spent(folder), folder.row_id("new0")) == (TRUTH, min(old, new))
    (told,) = list_notes(folder.ledger).rows
    assert (told.row.id, told.note) == (min(old, new), "会食")


def test_what_the_newer_file_lacks_of_the_account_is_gone(folder):
    folder.write(f"{JULY}.csv", *of_bank("old"), line("x", -5, "2025/07/22", account="みどり銀行"))
    folder.write(
        "収入・支出詳細_2025-07-16_2025-08-15.csv", *of_bank("new"), saved=date(2025, 8, 30)
    )
    assert [row.amount for row in folder.import_().removed] == [-5]
    assert spent(folder) == TRUTH
    for mode in ("update", "replace", "update"):
        folder.import_(mode)
        assert spent(folder) == TRUTH


def test_fewer_than_five_equal_rows_are_told_with_their_yen_and_are_candidates(folder):
    few = SHOPS[:3]
    folder.write("7.csv", *of_bank("old", few))
    folder.write("8.csv", *of_bank("new", few), saved=LATER)
    (doubt,) = folder.import_().account_doubts
    assert (doubt.account, doubt.rows, doubt.spending, doubt.income) == ("みどり銀行", 3, 4600, 0)
    assert doubt.has_new_ids

    def notes():
        answer = monthly_household(folder.as_of(LATER), period="2025-07")
        return [note for note in answer.notes if "別の ID" in note]

    (note,) = notes()
    assert note.startswith("7.csv の明細（みどり銀行）3件（支出 4,600円）は")
    assert in_english(note).startswith("3 rows of 7.csv (みどり銀行; spending ¥4,600) have others")
    detection = detect(folder.ledger, DetectionOptions())
    assert detection.likely_count == 3
    first = list_candidates(folder.ledger).candidates[0]
    assert first.alike_count == 2
    assert first.reasons[0].startswith("連携し直した口座らしい")

    def decide(decision):
        choice = ReviewDecision(decision, alike=True)
        confirm(folder.ledger, first.check_id, choice)

    decide("not_duplicate")
    assert (notes(), folder.import_().account_doubts, spent(folder)) == ([], (), 2 * 4600)
    decide("duplicate")
    assert (notes(), folder.import_("replace").account_doubts, spent(folder)) == ([], (), 4600)


def test_an_id_in_common_does_not_hide_that_the_others_are_new(folder):
    kept = line("k", -77, "2025/07/22", "鍵", "みどり銀行")
    folder.write("7月.csv", *of_bank("old"), kept)
    folder.write("7月 (1).csv", *of_bank("new"), kept, saved=LATER)
    (doubt,) = folder.import_().account_doubts
    assert (doubt.rows, doubt.spending, spent(folder)) == (6, TRUTH, 2 * TRUTH + 77)
    folder.write("7月 (2).csv", *of_bank("old"), kept, saved=LATER)
    assert [each.rows for each in folder.import_("replace").account_doubts] == [6]


def test_ids_in_common_as_often_as_not_are_two_purchases_of_a_day(folder):
    folder.write("7月.csv", *of_bank("a"), line("b", -900, "2025/07/20", "そば", "みどり銀行"))
    again = line("c", -900, "2025/07/20", "そば", "みどり銀行")
    folder.write("7月 (1).csv", *of_bank("a"), again, saved=LATER)
    assert folder.import_().account_doubts == ()


def test_two_equal_purchases_stay_two(folder):
    coffees = [*SHOPS, ("珈琲", -300)]
    twice = [line(f"{ids}x", -300, "2025/07/26", "珈琲", "みどり銀行") for ids in ("old", "new")]
    folder.write("7月.csv", *of_bank("old", coffees), twice[0])
    folder.write("7月 (1).csv", *of_bank("new", coffees), twice[1], saved=LATER)
    bank = [line("", -300, "2025/07/26", "珈琲", "みどり銀行")] * 2
    folder.write("手元.csv", *bank, saved=LATER)
    for mode in ("update", "replace"):
        folder.import_(mode)
        assert spent(folder) == TRUTH + 600


@pytest.mark.parametrize("names", [("夫/7月.csv", "妻/7月.csv"), ("mf_july.csv", "mf2.csv")])
def test_one_outing_of_two_people_is_asked_about(folder, names):
    """Each pays for the way on a card of one name, so that all rows of these days are equal."""
    fares = [("大宮→東京", -580), ("東京→舞浜", -230), ("舞浜→品川", -480), ("品川→横浜", -310),
             ("横浜→鎌倉", -360), ("鎌倉→大宮", -1340)]  # fmt: skip
    for ids, name in zip(("夫", "妻"), names, strict=True):
        folder.write(name, *of_bank(ids, fares), saved=LATER)
    for mode in ("update", "replace"):
        report = folder.import_(mode)
        assert [(doubt.rows, doubt.has_new_ids) for doubt in report.account_doubts] == [(6, True)]
        assert (spent(folder), report.removed) == (2 * 3300, ())


def test_files_of_two_people_in_one_folder_are_told_apart_by_folders_as_the_import_says(folder):
    for name in ("7月.csv", "7月 (1).csv"):
        folder.write(name, *of_bank(name), saved=LATER)
    (named,) = folder.import_().linked_again
    assert "if the files are of two people, move one into a folder of its own" in named.reason
    assert (spent(folder), folder.import_().linked_again) == (TRUTH, ())
    folder.files[f"妻/{named.file_path}"] = folder.files.pop(named.file_path)
    assert folder.import_("replace").linked_again == ()
    assert spent(folder) == 2 * TRUTH


def test_two_people_on_one_train_are_two(folder):
    """The same fare each day says nothing; nor does a price that both pay."""
    for who, other in (("夫", -730), ("妻", -410)):
        fares = [line(f"{who}{n}", -180, f"2025/07/{n:02}", "電車", "Suica") for n in range(1, 21)]
        sundry = [
            line(f"{who}s{n}", other - n, f"2025/07/{n:02}", "物販", "Suica") for n in range(1, 8)
        ]
        folder.write(f"{who}/7.csv", *fares, *sundry)
    report = folder.import_()
    assert (report.account_doubts, len(folder.amounts())) == ((), 54)


def test_an_account_that_two_people_have_linked_is_asked_about_and_nothing_of_theirs_leaves(folder):
    """What each set for its rows may differ, too: she may leave out what he counts."""
    for number, who in enumerate("夫妻"):
        own = [
            line(f"{who}{n}", -1000 * number - n, f"2025/07/{n:02}", "店", "カード")
            for n in range(1, 9)
        ]
        folder.write(f"{who}/{JULY}.csv", *of_bank(who), *own, saved=date(2025, 8, 5 + number))
        report = folder.import_()
    assert [(doubt.rows, doubt.has_new_ids) for doubt in report.account_doubts] == [(6, True)]
    assert spent(folder) == 2 * TRUTH + 36 + 8036


def test_a_row_that_leaves_with_what_the_user_said_of_it_is_told_so(folder):
    """The texts of the new rows are others, so nothing says which of them has the note now."""
    folder.write(f"{JULY}.csv", *of_bank("old"), *OTHERS)
    folder.import_()
    note_row(folder.ledger, transaction_id=folder.row_id("old2"), note="腰痛")
    edited = [(f"{shop} 本店", amount) for shop, amount in SHOPS]
    folder.write(f"{JULY} (1).csv", *of_bank("new", edited), *OTHERS, saved=LATER)
    report = folder.import_()
    assert [row.description for row in report.removed if row.has_words] == ["薬"]
    noted = [text for row in report.removed if "your note" in (text := _gone_row_text(row))]
    assert [text.split()[2] for text in noted] == ["薬"]
