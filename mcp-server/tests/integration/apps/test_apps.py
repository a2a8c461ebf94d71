"""The page's views in a chat: what clients are listed, and what the apps' own tool shows."""

import pytest
from client_here import client_of
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from page_ledger import ledger

from mdvec_mcp.apps.offering import VIEWS, add_apps

APPS = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
ROWS = [
    f"1,2025/07/{day:02},<b>パン{day}</b>,-{300 + day},財布,食費,食料品,,0,{day}"
    for day in range(1, 6)
] + ["1,2025/07/05,<b>パン5</b>,-305,カード,食費,食料品,,0,x"]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return ledger(tmp_path_factory.mktemp("apps"), ROWS)


def asked(database, work, *extensions, **sections):
    """What ``work`` found with a client of these extensions, under these settings."""
    with client_of(database, extensions, add_apps, **sections) as (client, call):
        return call(work, client)


def shown(database, **arguments):
    """What the apps' tool shows."""

    async def work(client):
        return (await client.call_tool("show_view", arguments)).structured_content

    return asked(database, work, APPS)


async def listed(client):
    tools = {tool.name: tool.meta for tool in (await client.list_tools()).tools}
    files = {str(one.uri): one.mime_type for one in (await client.list_resources()).resources}
    return tools, files


def test_a_client_without_apps_is_listed_what_it_always_was(database):
    tools, files = asked(database, listed)
    assert "show_view" not in tools
    assert not any("ui" in (meta or {}) for meta in tools.values())
    assert not any(uri.startswith("ui:") for uri in files)


def test_a_client_without_apps_cannot_call_what_only_they_may(database):
    async def work(client):
        return await client.call_tool("show_view", {"address": "/"})

    refused = asked(database, work)
    assert refused.is_error
    assert "there is no tool 'show_view'" in refused.content[0].text


@pytest.mark.parametrize("chosen", [{"tools": "core"}, {"read_only": True}])
def test_a_server_that_leaves_tools_out_has_no_apps(database, chosen):
    tools, files = asked(database, listed, APPS, server=chosen)
    assert "query" in tools
    assert "show_view" not in tools
    assert not any("ui" in (meta or {}) for meta in tools.values())
    assert not any(uri.startswith("ui:") for uri in files)


def test_a_client_with_apps_reads_the_file_of_each_tool_that_has_one(database):
    tools, files = asked(database, listed, APPS)
    drawn = {name: meta["ui"] for name, meta in tools.items() if "ui" in (meta or {})}
    assert drawn.pop("show_view") == {"visibility": ["app"]}
    assert drawn.keys() == VIEWS.keys()
    (uri,) = {ui["resourceUri"] for ui in drawn.values()}
    assert files[uri] == APP_MIME_TYPE

    async def work(client):
        return (await client.read_resource(uri)).contents[0].text

    text = asked(database, work, APPS)
    assert "{script}" not in text
    assert "src=" not in text.replace("data-", "")


def test_only_an_app_gets_the_address_of_its_view_and_the_text_beside_the_text(database):
    asked_for = {"year": 2025, "month": 7}

    async def work(client):
        month = await client.call_tool("get_monthly_household", asked_for)
        other = await client.call_tool("search", {"query": "パン"})
        return month, other.structured_content

    month, other = asked(database, work, APPS)
    text = month.content[0].text
    assert month.structured_content == {"text": text, "view": "/money?period=2025-07"}
    assert other is None
    month, other = asked(database, work)
    assert (month.content[0].text, month.structured_content, other) == (text, None, None)


@pytest.mark.parametrize(
    ("tool", "arguments", "address", "words"),
    [
        ("get_monthly_household", {"year": 2025, "month": 7}, "/money?period=2025-07", "1,820"),
        ("get_category_trend", {"category": "食費", "period": "2025年7月"}, None, "circle"),
        ("detect_duplicates", {}, "/review?", "pairs"),
        (
            "household_report",
            {"report": "budget", "period": "2025-07"},
            "/money/plan?period=2025-07",
            "Budgets",
        ),
        (
            "household_report",
            {"report": "compare", "period": "2025-07"},
            "/money?period=2025-07",
            "1,820",
        ),
        ("list_duplicate_candidates", {"skip_checked": False}, "/review?decided=1", "pairs"),
        ("profile", {"table_or_query": "transactions"}, "/data/table?name=transactions", "amount"),
        ("profile", {"table_or_query": "SELECT 6*7 AS answer"}, None, "<h2>answer</h2>"),
        (
            "profile",
            {
                "table_or_query": "transactions",
                "columns": ["amount"],
                "date_range": ["2025-07-02", "2025-07-04"],
                "date_column": "date",
            },
            None,
            "2025-07-02 – 2025-07-04",
        ),
        (
            "query",
            {"query": "SELECT 6*7 AS a", "chart": "bar"},
            "/data?sql=SELECT+6%2A7+AS+a",
            "42",
        ),
    ],
)
def test_what_a_tool_answered_is_shown_by_its_view(database, tool, arguments, address, words):
    view = shown(database, address=VIEWS[tool](arguments), language="en-GB")
    assert view["status"] == 200
    assert address in (None, view["address"])
    assert words in view["body"]
    assert "<b>" not in view["body"]
    assert "<main" not in view["body"]


@pytest.mark.parametrize(
    "address",
    ["/tools", "/tools/folders?path=/", "/", "/document?tool=a", "/moneyx", "money", "//x/money",
     "/static/x/page.js", "/open?code=1", "/look", "//[", "http://[x/money", "/money/months.csv",
     "/money/chart?of=categories&period=2025-07"],
)  # fmt: skip
def test_folders_and_files_are_not_shown_in_a_chat(database, address):
    assert shown(database, address=address) == {"address": address, "status": 404, "body": ""}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_monthly_household", {"year": 2025, "month": [7]}),
        ("get_monthly_household", {"year": {}, "month": 7, "period": ["x"], "page": {}}),
        ("profile", {"table_or_query": [1], "date_range": [1], "columns": "x"}),
        ("profile", {"table_or_query": "nothing"}),
        ("query", {"chart": "bar"}),
        ("query", {"query": "SELECT '" + "x" * 100_000, "chart": "bar"}),
    ],
)
def test_arguments_that_no_tool_would_take_end_in_a_view_or_a_sentence(database, tool, arguments):
    view = shown(database, address=VIEWS[tool](arguments))
    assert view["status"] in (200, 400)
    assert view["body"]


def test_an_address_may_be_written_in_japanese(database):
    assert "1,820" in shown(database, address="/money?period=2025年7月")["body"]


def test_every_argument_that_a_view_takes_is_one_of_its_tools(database):
    """An app gets a tool's arguments as the model gave them, under the tool's own names."""

    class Seen(dict):
        def get(self, name, default=None):
            self[name] = default
            return default

    tools = asked(database, lambda client: client.list_tools(), APPS).tools
    schemas = {tool.name: tool.input_schema["properties"] for tool in tools}
    for name, address in VIEWS.items():
        asked_for = Seen()
        address(asked_for)
        assert asked_for.keys() <= schemas[name].keys(), name


def test_a_form_decides_and_leads_on_to_the_view(database):
    found = shown(database, address="/review/detect", form="days=3&household=kakeibo")
    assert (found["status"], found["address"]) == (200, "/review?household=kakeibo")
    assert '<strong id="open">1</strong>' in found["body"]


def test_a_form_of_nonsense_is_answered_in_a_sentence(database):
    found = shown(database, address="/review/decide", form="check=9999&decision=%00", language="en")
    assert found["status"] == 400
    assert 'class="trouble"' in found["body"]
