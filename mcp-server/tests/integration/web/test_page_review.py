"""The view of duplicates over a real port: decided, undone, in bulk, and with hostile rows."""

import re

import pytest
from hostile import text_in
from mdvec.database.connection import open_database
from page_ledger import ledger
from page_site import page_site, post, token_of
from table_of_cases import each

PAIRS = 12


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    lines = []
    for number in range(PAIRS):
        day, yen = 1 + number % 28, -1_000 - number
        shop = "スーパー" if number < 4 else f"店{number}"
        lines += [
            f"1,2025/07/{day:02},{shop},{yen},{account},食費,食料品,,0,{number}{account}"
            for account in ("カード", "銀行")
        ]
    return ledger(tmp_path_factory.mktemp("review"), lines)


@pytest.fixture(scope="module")
def client(database):
    with page_site(database) as site, site.client() as client:
        post(client, "/review/detect")
        yield client


def is_open(client):
    return int(re.search(r'id="open">(\d+)<', client.get("/review").text)[1])


def checks(client, query=""):
    return re.findall(r'data-check="(\d+)"', client.get(f"/review{query}").text)


def test_every_candidate_is_decided_and_each_decision_is_undone(client):
    ids = checks(client)
    assert len(ids) == is_open(client) == PAIRS
    token = token_of(client)
    for number, id_ in enumerate(ids):
        decision = "duplicate" if number % 2 else "not_duplicate"
        data = {"csrf": token, "check": id_, "decision": decision, "part": "1"}
        told = client.post("/review/decide", data=data).json()
        assert told["open"] == PAIRS - number - 1
    assert "No pair is waiting" in client.get("/review").text
    assert set(checks(client, "?decided=1&page=999")) == set(ids)  # the last page
    for id_ in ids:
        data = {"csrf": token, "check": id_, "decision": "skip", "alike": "1"}
        assert client.post("/review/decide", data=data).status_code == 200
    assert is_open(client) == PAIRS


def test_the_page_says_why_and_marks_what_differs(client):
    shown = client.get("/review").text
    assert "days apart: 0" in text_in(shown)
    assert "<mark>カード</mark>" in shown
    assert "<mark>スーパー</mark>" not in shown


def test_the_row_that_the_user_names_stays(client, database):
    card = re.search(r'<li class="card.*?</li>', client.get("/review").text, re.DOTALL)[0]
    id_ = re.search(r'data-check="(\d+)"', card)[1]
    _, second = re.findall(r'name="keep" value="(\d+)"', card)
    post(client, "/review/decide", check=id_, decision="duplicate", keep=second)
    with open_database(database, "read") as connection:
        rows = connection.execute("SELECT duplicate_of FROM transactions WHERE is_duplicate")
        assert [str(row) for (row,) in rows] == [second]
    back = post(client, "/review/decide", check=id_, decision="skip", alike="1")
    assert (back.status_code, is_open(client)) == (200, PAIRS)


def test_candidates_alike_are_decided_and_undone_together(client):
    shown = client.get("/review").text
    id_ = re.search(r"<details><summary>.*?</form>", shown, re.DOTALL)[0]
    id_ = re.search(r'name="check" value="(\d+)"', id_)[1]
    done = post(client, "/review/decide", check=id_, decision="duplicate", alike="1")
    assert "Decided." in done.text
    assert is_open(client) < PAIRS - 1
    post(client, "/review/decide", check=id_, decision="skip", alike="1")
    assert is_open(client) == PAIRS


@each(
    ("fields", "told"),
    [({"check": "1", "decision": "maybe"}, "decision needs one of"),
     ({"check": "1"}, "decision needs one of"),
     ({"decision": "duplicate"}, "there is no candidate"),
     ({"check": "99999999", "decision": "skip", "part": "1"}, "there is no candidate"),
     ({"check": "1", "decision": "duplicate", "keep": "99999"}, "keep needs transactions"),
     ({"check": "1", "decision": "skip", "household": "none"}, "there is no household")],
)  # fmt: skip
def test_a_wrong_decision_ends_in_one_sentence_and_changes_nothing(client, fields, told):
    before = is_open(client)
    answer = post(client, "/review/decide", **fields)
    assert (answer.status_code, told in text_in(answer.text)) == (400, True)
    assert is_open(client) == before


def test_without_a_household_the_view_says_what_to_do(tmp_path):
    with page_site(tmp_path / "v.sqlite") as site, site.client() as client:
        assert "No household is active" in client.get("/review").text
        assert post(client, "/review/detect").status_code == 400


def test_a_transfer_leaves_both_rows_out_and_is_undone(tmp_path):
    lines = [
        "1,2025/07/05,振替 貯蓄へ,-30000,銀行,未分類,未分類,,0,a",
        "1,2025/07/05,振込 普通から,30000,貯蓄,収入,その他,,0,b",
    ]
    with page_site(ledger(tmp_path, lines)) as site, site.client() as client:
        shown = post(client, "/review/detect").text
        assert "Possibly a transfer" in shown
        assert 'name="keep"' not in shown
        form = re.search(r'<form[^>]*data-key="1".*?</form>', shown, re.DOTALL)[0]
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        told = client.post("/review/decide", data={**fields, "part": "1"}).json()
        assert told == {"open": 0, "text": "marked as a transfer"}
        assert text_in(client.get("/money?period=2025-07").text).count("(transfer)") == 2
        post(client, "/review/decide", check=fields["check"], decision="skip", alike="1")
        assert is_open(client) == 1


def test_a_cards_bill_is_decided_alone_and_undone(tmp_path):
    lines = [
        "1,2026/06/03,家電店,-30000,楽天カード,趣味・娯楽,家電,,0,a",
        "1,2026/06/21,スーパー,-24321,楽天カード,食費,食料品,,0,b",
        "1,2026/07/27,ラクテンカードサービス,-54321,三菱UFJ銀行,未分類,未分類,,0,c",
    ]
    with page_site(ledger(tmp_path, lines)) as site, site.client() as client:
        shown = post(client, "/review/detect").text
        assert "Possibly a card&#39;s bill" in shown
        assert "¥54,321" in shown
        check = re.search(r'data-check="(\d+)"', shown)[1]
        told = post(client, "/review/decide", check=check, decision="duplicate", part="1",
                    transfer="card_bill", alike="1").json()  # fmt: skip
        assert told == {"open": 0, "text": "marked as a card's bill"}
        assert "No pair is waiting" in client.get("/review").text
        assert "marked as a card&#39;s bill" in client.get("/review?decided=1").text
        post(client, "/review/decide", check=check, decision="skip", alike="1")
        assert is_open(client) == 1
