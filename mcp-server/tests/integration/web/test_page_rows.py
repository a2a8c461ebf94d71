"""The view of rows over a real port: found, sorted, corrected, and each correction undone."""

import html
import re

import pytest
from hostile import text_in
from page_ledger import ledger
from page_site import page_site, post, table_in, undone

SHOPS = ("青葉書店 本店", "喫茶 麦", "青葉書店 渋谷")


def rows():
    for day in range(1, 29):
        yield f"1,2025/07/{day:02},喫茶 麦,-{400 + day},財布,食費,カフェ,,0,c{day}"
        yield f"1,2025/07/{day:02},青葉書店 本店,-1000,銀行,教養・教育,書籍,,0,k{day}"
    yield "1,2025/07/30,青葉書店 渋谷,-3000,財布,未分類,未分類,贈り物,0,o1"
    yield "1,2025/07/31,給与,300000,銀行,収入,給与,,0,i1"
    yield "1,2025/05/02,貯蓄へ,-70000,銀行,その他,その他,,1,t1"
    yield "1,2025/05/03,文具店,-500,財布,その他,その他,,0,s1"


@pytest.fixture
def client(tmp_path):
    with page_site(ledger(tmp_path, rows())) as site, site.client() as client:
        yield client


def shown(client, **fields):
    answer = client.get("/money/rows", params=fields)
    assert answer.status_code == 200, text_in(answer.text)
    return answer.text


def cells(page, column):
    """A column of the table: its texts from top to bottom."""
    table = re.search(r"<tbody>(.*?)</tbody>", page, re.DOTALL)[1]
    found = re.findall(r"<tr.*?</tr>", table, re.DOTALL)
    return [text_in(re.findall(r"<td.*?</td>", row, re.DOTALL)[column]).strip() for row in found]


def row_id(client, shop):
    page = shown(client, q=shop)
    return re.search(r'name="id" value="(\d+)"', page)[1]


def change(client, do, **fields):
    return post(client, "/money/rows/change", do=do, **fields)


def test_rows_are_found_sorted_paged_and_downloaded(client):
    page = shown(client, q="青葉書店", period="2025-07")
    assert "29" in re.search(r"<h1>(.*?)</h1>", page)[1]
    assert set(cells(page, 3)) == {"青葉書店 本店", "青葉書店 渋谷"}
    assert cells(shown(client, min="2000", max="4000"), 3) == ["青葉書店 渋谷"]
    assert cells(shown(client, min="￥2,000", max="4,000円"), 3) == ["青葉書店 渋谷"]
    refused = client.get("/money/rows", params={"min": "2千"})
    assert (refused.status_code, "“2千” is not a whole number" in refused.text) == (400, True)
    assert cells(shown(client, q="贈り物"), 3) == ["青葉書店 渋谷"]
    assert cells(shown(client, account="銀行", category="給与"), 3) == ["給与"]
    assert cells(shown(client, since="2025-07-30", until="2025-07-31", sort="oldest"), 1) == [
        "2025-07-30", "2025-07-31",
    ]  # fmt: skip
    sorted_shops = cells(shown(client, sort="shop", period="2025-07", page="2"), 3)
    assert sorted_shops == sorted(sorted_shops)
    assert len(cells(shown(client, period="2025-07", page="2"), 3)) == 58 - 50
    assert len(cells(shown(client, period="2025-07", page="99"), 3)) == 58 - 50  # the last
    names, *table = table_in(client.get("/money/rows.csv", params={"period": "2025-07"}))
    assert len(table) == 58
    assert sum(int(row[names.index("amount")]) for row in table) == 300_000 - 28_000 - 3_000 - sum(
        400 + day for day in range(1, 29)
    )
    assert "No row fits" in shown(client, q="どこにもない")


def test_the_sums_are_of_the_rows_that_count_and_say_so(client):
    page = text_in(shown(client, period="2025-05"))
    assert "貯蓄へ" in page  # it is shown, as a transfer
    assert "Spending 500 yen · Income 0 yen of the 1 rows that count" in page
    assert "Spending 500 yen · Income 0 yen" in text_in(
        shown(client, period="2025-05", rows="counted")
    )
    moved = text_in(shown(client, period="2025-05", rows="transfer"))
    assert "Money out 70,000 yen · Money in 0 yen" in moved


def test_a_row_is_corrected_and_the_correction_undone(client):
    gift = row_id(client, "渋谷")
    page = shown(client, q="渋谷", edit=gift)
    assert 'value="未分類 &gt; 未分類"' in page
    done = change(
        client, "save", id=gift, one="1", shown="q=渋谷&sort=shop",
        category="教養・教育 > 書籍", note="誕生日", tags="贈り物、本",
    )  # fmt: skip
    assert (done.status_code, done.url.params["sort"]) == (200, "shop")  # back where it was
    assert cells(done.text, 4) == ["教養・教育 / 書籍 set by you"]
    assert "誕生日" in done.text
    assert "#贈り物" in done.text
    assert "Your corrections (1)" in done.text
    assert cells(undone(client, done.text).text, 4) == ["未分類 / 未分類"]
    assert "Your corrections" not in shown(client)


def test_a_rule_of_the_shop_is_tried_made_and_undone(client):
    gift = row_id(client, "渋谷")
    tried = change(client, "always", id=gift, one="1", category="書籍", shown="q=青葉書店")
    assert "1 rows would move" in text_in(tried.text)
    assert "未分類 / 未分類" in cells(tried.text, 4)
    made = change(client, "rule", id=gift, category="書籍", shown="q=青葉書店")
    assert set(cells(made.text, 4)) == {"教養・教育 / 書籍"}
    again = change(client, "rule", id=gift, category="カフェ", shown="q=渋谷")
    assert cells(again.text, 4) == ["食費 / カフェ"]
    assert cells(undone(client, again.text).text, 4) == ["教養・教育 / 書籍"]  # the rule before it
    assert "未分類 / 未分類" in cells(undone(client, made.text).text, 4)


def fields_of(page):
    """The fields of the form that corrects a row, as it was opened."""
    form = re.search(r'<section id="edit".*?</form>', page, re.DOTALL)[0]
    fields = dict(re.findall(r'name="(\w+)"(?: list="\w+")? value="([^"]*)"', form))
    del fields["csrf"], fields["do"]
    return {name: html.unescape(value) for name, value in fields.items()}


def test_a_form_opened_earlier_takes_back_nothing_that_was_changed_meanwhile(client):
    gift = row_id(client, "渋谷")
    opened = fields_of(shown(client, q="渋谷", edit=gift))
    change(client, "save", **opened | {"category": "教養・教育 > 書籍", "tags": "贈り物"})
    done = change(client, "save", **opened | {"note": "誕生日"})
    assert cells(done.text, 4) == ["教養・教育 / 書籍 set by you"]
    assert "誕生日" in done.text
    assert "#贈り物" in done.text
    refused = change(client, "save", **opened | {"note": "見舞い", "tags": "父"})
    assert (refused.status_code, "changed elsewhere meanwhile" in refused.text) == (400, True)
    again = fields_of(refused.text)
    assert [again[name] for name in ("category", "note", "tags", "seen_tags")] == [
        "教養・教育 > 書籍", "見舞い", "父", "贈り物",
    ]  # fmt: skip
    assert cells(change(client, "save", **again).text, 6) == ["贈り物 見舞い #父"]
    late = undone(client, done.text)
    assert (late.status_code, "changed elsewhere meanwhile" in late.text) == (400, True)
    made = change(client, "rule", id=gift, category="書籍", shown="q=青葉書店")
    change(client, "rule", id=gift, category="カフェ", shown="q=青葉書店")
    assert undone(client, made.text).status_code == 400


def test_several_rows_are_changed_at_once_and_nothing_is_changed_by_what_is_refused(client):
    page = shown(client, q="喫茶", period="2025-07", sort="oldest")
    ids = re.findall(r'name="id" value="(\d+)"', page)
    done = change(client, "save", id=ids[:3], category="書籍", tags="取材", shown="q=喫茶")
    assert cells(done.text, 4).count("教養・教育 / 書籍 set by you") == 3
    assert done.text.count("#取材") == 6  # in the table, and among the corrections
    refused = change(client, "save", id=ids, category="無い", tags="x", shown="q=喫茶")
    assert (refused.status_code, "no category fits" in refused.text) == (400, True)
    assert "#x" not in shown(client, q="喫茶")
    assert (refused.text.count(" checked"), 'value="無い"' in refused.text) == (len(ids), True)
    typed = change(client, "save", id=ids[0], one="1", category="無い", note="手紙", shown="q=喫茶")
    assert (typed.status_code, 'id="edit"' in typed.text) == (400, True)
    assert ('value="無い"' in typed.text, 'value="手紙"' in typed.text) == (True, True)
    assert 'id="refused" role="alert">' in typed.text
    back = undone(client, done.text).text
    assert set(cells(back, 4)) == {"食費 / カフェ"}
    assert "#取材" not in back
    for was in ("", "{", "[[1]]", '[["x", "", [], ""]]', "5", "[" * 9_000):
        assert change(client, "restore", was=was).status_code == 400
    assert change(client, "save", id="999999", one="1").status_code == 400
    for do in ("save", "always", "rule"):
        for row in ("", "x", "9" * 5_000):
            assert change(client, do, id=row, one="1").status_code == 400


def test_a_change_whose_undo_is_too_long_for_an_address_is_made_and_says_so(client):
    ids = re.findall(r'name="id" value="(\d+)"', shown(client, q="喫茶", sort="oldest"))
    for row in ids[:8]:
        change(client, "save", id=row, one="1", category="カフェ", note="長" * 500)
    done = change(client, "save", id=ids[:8], tags="x", shown="q=喫茶")
    assert "too long to be undone" in done.text
    assert 'value="restore"' not in done.text
    assert "#x" in done.text
