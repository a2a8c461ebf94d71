"""The view of candidates shows a card's bill: decided alone, always, and taken back."""

import re

import pytest
from page_ledger import ledger
from page_site import page_site, post, token_of

LINES = [
    "1,2026/06/03,家電店,-30000,楽天カード,趣味・娯楽,家電,,0,a",
    "1,2026/06/21,スーパー,-24321,楽天カード,食費,食料品,,0,b",
    "1,2026/07/27,ラクテンカードサービス,-54321,三菱UFJ銀行,未分類,未分類,,0,c",
]


@pytest.fixture
def client(tmp_path):
    with page_site(ledger(tmp_path, LINES)) as site, site.client() as client:
        post(client, "/review/detect")
        yield client


def test_a_bill_is_decided_on_the_page_and_undone(client):
    shown = client.get("/review").text
    assert "Possibly a card&#39;s bill" in shown
    assert "¥54,321" in shown
    check = re.search(r'data-check="(\d+)"', shown)[1]
    data = {
        "csrf": token_of(client), "check": check, "decision": "duplicate", "part": "1",
        "transfer": "card_bill", "alike": "1",
    }  # fmt: skip
    told = client.post("/review/decide", data=data).json()
    assert told == {"open": 0, "text": "marked as a card's bill"}
    assert "No pair is waiting" in client.get("/review").text
    assert "marked as a card&#39;s bill" in client.get("/review?decided=1").text
    post(client, "/review/decide", check=check, decision="skip", alike="1")
    assert 'id="open">1<' in client.get("/review").text
