"""The page of a server that only reads: no form changes anything, and none is drawn."""

import html
import re

import pytest
from mdvec.database.connection import open_database
from page_ledger import ledger
from page_site import page_site, post
from table_of_cases import each

from mdvec_mcp.household.context import today

REFUSED = "This server only reads, so nothing can be changed here."
VIEWS = (
    "/", "/money", "/money/plan?all=1&subject=食費", "/review?decided=1&undo=1",
    "/money/rows?edit=1", "/review/categories?set=商店", "/data?sql=SELECT 1 AS a", "/tools",
    "/tools?part=list",
)  # fmt: skip
FORMS = {
    "/tools/add": {"path": "~", "kind": "markdown"},
    "/tools/active": {"tool": "kakeibo", "active": "0"},
    "/tools/reindex": {"tool": "kakeibo"},
    "/tools/stop": {"tool": "kakeibo"},
    "/review/detect": {"household": "kakeibo", "days": "1"},
    "/review/decide": {"household": "kakeibo", "check": "1", "decision": "duplicate"},
    "/review/categories/decide": {"household": "kakeibo", "decision": "skip", "shop": "商店"},
    "/money/plan/budget": {"household": "kakeibo", "subject": "食費", "amount": "5", "per": "year"},
    "/money/rows/change": {"do": "save", "id": "1", "one": "1", "note": "x"},
    "/data/save": {"sql": "SELECT 1", "name": "a"},
    "/tools/backup": {},
    "/tools/restore": {"backup": "a.zip", "replaces": "1"},
    "/data/export": {"sql": "SELECT 1 AS a"},
}  # fmt: skip


def rows():
    month = f"1,{today():%Y/%m}/01,"
    for account in ("カード", "銀行"):
        yield f"{month}スーパー,-1000,{account},食費,食料品,,0,{account}"
    yield f"{month}商店街,-700,財布,未分類,未分類,,0,c"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A ledger with a candidate, a budget and a rule, which a server that writes has set."""
    database = ledger(tmp_path_factory.mktemp("read-only"), rows())
    with page_site(database) as site, site.client() as client:
        post(client, "/review/detect")
        post(client, "/money/plan/budget", subject="食費", amount="9000", per="month")
        rule = {"decision": "set", "shop": "商店", "category": "食費"}
        assert post(client, "/review/categories/decide", **rule).status_code == 200
        drawn = {action for view in VIEWS for action in actions(client.get(view).text)}
        assert drawn == FORMS.keys() - {"/tools/stop"} | {"/look"}  # what the other must not draw
    return database


@pytest.fixture(scope="module")
def client(database):
    with page_site(database, server={"read_only": True}) as site, site.client() as client:
        yield client


def actions(page):
    """Where the forms of a page that change something lead."""
    return [html.unescape(one) for one in re.findall(r'<form method="post" action="([^"]*)"', page)]


def stored(database):
    with open_database(database, "read") as connection:
        tables = ("tools", "category_rules", "budgets", "duplicate_checks", "transactions")
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}


@each("view", VIEWS)
def test_no_view_draws_a_form_that_would_change_something(client, view):
    shown = client.get(view)
    assert shown.status_code == 200
    assert set(actions(shown.text)) <= {"/look"}
    assert "/tools#add" not in shown.text


def test_every_form_is_refused_in_one_sentence_and_changes_nothing(client, database):
    before = stored(database)
    assert all(before.values())
    for path, fields in FORMS.items():
        answer = post(client, path, **fields)
        assert (path, answer.status_code) == (path, 403)
        assert answer.text.count(REFUSED) == 1
    assert stored(database) == before


def test_the_rules_and_the_language_can_still_be_seen_and_chosen(client):
    assert "<strong>食費</strong>" in client.get("/review/categories").text
    assert 'lang="ja"' in post(client, "/look", here="/", language="ja").text
    assert "読むだけの設定" in post(client, "/tools/reindex", tool="kakeibo").text
    post(client, "/look", here="/", language="en")
