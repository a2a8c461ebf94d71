"""Files with a repeated header: sections of accounts, or downloads of one joined by hand."""

import pytest
from source_folder import SourceFolder

from mdvec.database.connection import open_database
from mdvec.household.statement_preview import MappingRefused
from mdvec.manage.household_mapping import map_statement

CARD = "ご利用日,ご利用店名,ご利用金額"
BANK = "日付,摘要,摘要内容,支払い金額,預かり金額,差引残高,メモ"
FEE = "2026/7/1,手数料,,110,,{},"
ASKED = "the header is repeated, with equal rows below both"
TRAIN, SHOP, BOOKS = "2026/07/01,鉄道,1000", "2026/07/02,店,300", "2026/07/03,本屋,500"


class Cards(SourceFolder):
    """A household's folder with statements whose kinds have mappings or not."""

    def put(self, name, *lines):
        (self.folder / name).write_text("\n".join([*lines, ""]), "utf-8")

    def map(self, name, *stated):
        return map_statement(self.database, self.folder / name, None, stated=stated, save=True)

    def amounts(self):
        with open_database(self.database, "read") as connection:
            rows = connection.execute("SELECT amount FROM transactions ORDER BY amount")
            return [amount for (amount,) in rows]

    def asked(self):
        """Whether the import asks about a repeated header."""
        return [ASKED in each.reason for each in self.import_("update").details.ledger.passed_over]


@pytest.fixture
def cards(tmp_path):
    return Cards(tmp_path / "csv", tmp_path / "vectors.sqlite", name="kakeibo")


@pytest.mark.parametrize(
    ("stated", "amounts"),
    [
        ('sections = "accounts"', [-1000, -1000, -500, -300]),
        ('sections = "downloads"', [-1000, -500, -300]),
        ('account_column = "利用者"', [-1000, -1000, -500, -300]),
    ],
)
def test_equal_rows_below_two_headers_count_as_the_user_says(cards, stated, amounts):
    cards.put(
        "card.csv", f"{CARD},利用者", f"{TRAIN},本人", f"{SHOP},本人", "",
        f"{CARD},利用者", f"{TRAIN},家族", f"{BOOKS},家族",
    )  # fmt: skip
    with pytest.raises(MappingRefused, match=ASKED):
        cards.map("card.csv", 'ignored = ["利用者"]')
    cards.map("card.csv", 'ignored = ["利用者"]', stated)
    assert cards.asked() == []
    assert cards.amounts() == amounts
    assert cards.asked() == []
    assert cards.amounts() == amounts


def test_a_saved_kind_asks_once_the_header_is_repeated_and_never_loses_a_row(cards):
    cards.put("card 1.csv", CARD, TRAIN, TRAIN, CARD, BOOKS)
    cards.map("card 1.csv")
    assert (cards.asked(), cards.amounts()) == ([], [-1000, -1000, -500])
    cards.put("card 2.csv", CARD, TRAIN, SHOP, CARD, TRAIN)
    assert (cards.asked(), cards.amounts()) == ([True], [-1000, -1000, -500])
    cards.map("card 2.csv", 'sections = "accounts"')
    assert (cards.asked(), cards.amounts()) == ([], [-1000, -1000, -500, -300])


def test_what_rows_or_balances_prove_of_joined_downloads_is_not_asked(cards):
    later = "2026/7/5,電気,,500,,9390,", "2026/7/6,水道,,300,,9090,"
    gas = "2026/7/8,ガス,,700,,8390,"
    cards.put("bank.csv", BANK, FEE.format(9890), *later, BANK, *later, gas)
    days = [f"2026/07/0{day},店,{day}0" for day in range(1, 8)]
    cards.put("card.csv", CARD, *days[:6], CARD, *days[1:])
    cards.map("card.csv")
    assert cards.asked() == []
    assert cards.amounts() == [-700, -500, -300, -110, -70, -60, -50, -40, -30, -20, -10]


def test_sections_of_two_accounts_with_a_fee_on_one_day_are_asked_about_until_stated(cards):
    cards.put("bank.csv", BANK, FEE.format(9890), BANK, FEE.format(49890))
    assert (cards.asked(), cards.amounts()) == ([True], [])
    assert cards.map("bank.csv", 'sections = "accounts"').rows_read == 2
    assert (cards.asked(), cards.amounts()) == ([], [-110, -110])


def test_a_card_with_a_line_above_each_holders_rows_is_asked_about_too(cards):
    holders = "架空 太郎 様,4980-12**-****-****,カード", "架空 花子 様,4980-99**-****-****,カード"
    row = "2026/07/01,鉄道,1000,１,１,1000,"
    cards.put("202607.csv", holders[0], row, holders[1], row, ",,,,,2000,")
    assert (cards.asked(), cards.amounts()) == ([True], [])
    cards.map("202607.csv", 'sections = "accounts"')
    assert (cards.asked(), cards.amounts()) == ([], [-1000, -1000])


def test_a_book_of_ones_own_with_a_repeated_header_is_asked_about(cards):
    cards.put("book.csv", *["日付,大項目,内容,金額", "2026/07/01,食費,店,-30"] * 2)
    assert cards.asked() == [True]
