"""The view of suggested categories over a real port: taken, written, in bulk, and undone."""

import re

import pytest
from hostile import text_in
from page_ledger import ledger
from page_site import page_site, post, undone

OPEN = ("青葉書店 大宮", "青葉書店 渋谷", "青葉書店 上野")


def rows():
    for day in range(1, 6):
        yield f"1,2025/07/{day:02},青葉書店 本店,-1000,財布,教養・教育,書籍,,0,k{day}"
        yield f"1,2025/07/{day:02},喫茶 麦,-400,財布,食費,カフェ,,0,c{day}"
    for number, shop in enumerate(OPEN):
        yield f"1,2025/07/10,{shop},-{3000 - number},財布,未分類,未分類,,0,o{number}"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    database = ledger(tmp_path_factory.mktemp("suggestions"), rows())
    with page_site(database) as site, site.client() as client:
        yield client


def shown(client):
    return client.get("/review/categories").text


def is_open(client):
    return int(re.search(r'id="open">(\d+)<', shown(client))[1])


def decide(client, decision, shop, **fields):
    return post(client, "/review/categories/decide", decision=decision, shop=shop, **fields)


def test_a_suggestion_is_taken_and_undone_and_skipping_changes_nothing(client):
    before = is_open(client)
    assert "like “青葉書店 本店” so far" in text_in(shown(client))
    told = decide(client, "set", OPEN[0], category="教養・教育 > 書籍", part="1").json()
    assert (told["open"], told["text"]) == (before - 1, "now 教養・教育 > 書籍 (1 rows)")
    assert decide(client, "skip", OPEN[0], part="1").json()["open"] == before - 1
    assert decide(client, "skip", OPEN[0], part="1", undo="1").json()["open"] == before
    other = decide(client, "set", OPEN[0], category="カフェ")
    assert "Categories that you set: 1" in text_in(other.text)
    back = undone(client, other.text)
    assert "Categories that you set" not in back.text
    assert "食費 &gt; カフェ" in undone(client, back.text).text  # which is undone as well
    undone(client, undone(client, back.text).text)
    assert is_open(client) == before


def test_all_with_the_same_suggestion_are_taken_and_undone_together(client):
    before = is_open(client)
    done = decide(client, "set", [], category="教養・教育 > 書籍", alike="1")
    assert is_open(client) == before - len(OPEN)
    undone(client, done.text)
    assert is_open(client) == before


@pytest.mark.parametrize(
    ("shop", "category", "told"),
    [("青葉書店", "無い", "no category fits"), ("あ", "食費", "too short"),
     ("青葉書店", "支出", "this needs a category")],
)  # fmt: skip
def test_a_wrong_decision_ends_in_one_sentence_and_changes_nothing(client, shop, category, told):
    before = is_open(client)
    answer = decide(client, "set", shop, category=category)
    assert (answer.status_code, told in text_in(answer.text)) == (400, True)
    assert is_open(client) == before


def test_a_refused_category_stays_in_its_field_with_the_reason_beside_it(client):
    answer = decide(client, "set", OPEN[0], category="無い")
    (card,) = [card for card in answer.text.split("<li")[1:] if "aria-invalid" in card]
    assert OPEN[0] in card
    assert ('value="無い" autofocus' in card, "no category fits" in card) == (True, True)
