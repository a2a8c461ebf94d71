"""The page's views in a chat: what clients are listed, and what the apps' own tool shows."""

import pytest
from client_here import client_of
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from page_ledger import ledger
from table_of_cases import each

from mdvec_mcp.apps.offering import VIEWS, add_apps

APPS = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
ROWS = [
    f"1,2025/07/{day:02},<b>パン{day}</b>,-{300 + day},財布,食費,食料品,,0,{day}"
    for day in range(1, 6)
] + ["1,2025/07/05,<b>パン5</b>,-305,カード,食費,食料品,,0,x"]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return ledger(tmp_path_factory.mktemp("apps"), ROWS)


def client_with(database, *extensions, **sections):
    """A client of these extensions, of a server under these settings."""
    return client_of(database, extensions, add_apps, **sections)


@pytest.fixture(scope="module")
def app(database):
    """The client that has apps."""
    with client_with(database, APPS) as connected:
        yield connected


@pytest.fixture(scope="module")
def plain(database):
    """A client without."""
    with client_with(database) as connected:
        yield connected


@pytest.fixture
def shown(app):
    """What the apps' tool shows."""
    client, call = app
    return lambda **arguments: call(client.call_tool, "show_view", arguments).structured_content


def listed(connected):
    client, call = connected
    tools = {tool.name: tool.meta for tool in call(client.list_tools).tools}
    files = {str(one.uri): one.mime_type for one in call(client.list_resources).resources}
    return tools, files


def test_a_client_without_apps_is_listed_what_it_always_was(plain):
    tools, files = listed(plain)
    assert "show_view" not in tools
    assert not any("ui" in (meta or {}) for meta in tools.values())
    assert not any(uri.startswith("ui:") for uri in files)


def test_a_client_without_apps_cannot_call_what_only_they_may(plain):
    client, call = plain
    refused = call(client.call_tool, "show_view", {"address": "/"})
    assert refused.is_error
    assert "there is no tool 'show_view'" in refused.content[0].text


@each("chosen", [{"tools": "core"}, {"read_only": True}])
def test_a_server_that_leaves_tools_out_has_no_apps(database, chosen):
    with client_with(database, APPS, server=chosen) as connected:
        tools, files = listed(connected)
    assert "query" in tools
    assert "show_view" not in tools
    assert not any("ui" in (meta or {}) for meta in tools.values())
    assert not any(uri.startswith("ui:") for uri in files)


def test_a_client_with_apps_reads_the_file_of_each_tool_that_has_one(app):
    tools, files = listed(app)
    drawn = {name: meta["ui"] for name, meta in tools.items() if "ui" in (meta or {})}
    assert drawn.pop("show_view") == {"visibility": ["app"]}
    assert drawn.keys() == VIEWS.keys()
    (uri,) = {ui["resourceUri"] for ui in drawn.values()}
    assert files[uri] == APP_MIME_TYPE
    client, call = app
    text = call(client.read_resource, uri).contents[0].text
    assert "{script}" not in text
    assert "src=" not in text.replace("data-", "")


def test_only_an_app_gets_the_address_of_its_view_and_the_text_beside_the_text(app, plain):
    def answered(connected):
        client, call = connected
        month = call(client.call_tool, "get_monthly_household", {"year": 2025, "month": 7})
        found = call(client.call_tool, "search", {"query": "パン"})
        return month.content[0].text, month.structured_content, found.structured_content

    text, month, found = answered(app)
    assert (month, found) == ({"text": text, "view": "/money?period=2025-07"}, None)
    assert answered(plain) == (text, None, None)


@each(
    ("tool", "arguments", "address", "words"),
    [
        ("get_monthly_household", {"year": 2025, "month": 7}, "/money?period=2025-07", "1,820"),
        ("get_category_trend", {"category": "食費", "period": "2025年7月"}, None, "circle"),
        ("detect_duplicates", {}, "/review?", "pairs"),
        ("household_report", {"report": "budget", "period": "2025-07"},
         "/money/plan?period=2025-07", "Budgets"),
        ("household_report", {"report": "compare", "period": "2025-07"}, "/money?period=2025-07",
         "1,820"),
        ("list_duplicate_candidates", {"skip_checked": False}, "/review?decided=1", "pairs"),
        ("profile", {"table_or_query": "transactions"}, "/data/table?name=transactions&all=1",
         "amount"),
        ("profile", {"table_or_query": "SELECT 6*7 AS answer"}, None, "<h3><bdi>answer</bdi></h3>"),
        ("profile", {"table_or_query": "transactions", "columns": ["amount"],
                     "date_range": ["2025-07-02", "2025-07-04"], "date_column": "date"},
         None, "2025-07-02 – 2025-07-04"),
        ("query", {"query": "SELECT 6*7 AS a", "chart": "bar"},
         "/data?sql=SELECT+6%2A7+AS+a&chart=bar", "42"),
    ],
)  # fmt: skip
def test_what_a_tool_answered_is_shown_by_its_view(shown, tool, arguments, address, words):
    view = shown(address=VIEWS[tool](arguments), language="en-GB")
    assert view["status"] == 200
    assert address in (None, view["address"])
    assert words in view["body"]
    assert "<b>" not in view["body"]
    assert "<main" not in view["body"]


@each(
    "address",
    ["/tools", "/tools/folders?path=/", "/", "/document?tool=a", "/moneyx", "money", "//x/money",
     "/static/x/page.js", "/open?code=1", "/look", "//[", "http://[x/money", "/money/months.csv",
     "/money/chart?of=categories&period=2025-07"],
)  # fmt: skip
def test_folders_and_files_are_not_shown_in_a_chat(shown, address):
    assert shown(address=address) == {"address": address, "status": 404, "body": ""}


@each(
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
def test_arguments_that_no_tool_would_take_end_in_a_view_or_a_sentence(shown, tool, arguments):
    view = shown(address=VIEWS[tool](arguments))
    assert view["status"] in (200, 400)
    assert view["body"]


def test_an_address_may_be_written_in_japanese(shown):
    assert "1,820" in shown(address="/money?period=2025年7月")["body"]


def test_every_argument_that_a_view_takes_is_one_of_its_tools(app):
    """An app gets a tool's arguments as the model gave them, under the tool's own names."""

    class Seen(dict):
        def get(self, name, default=None):
            self[name] = default
            return default

    client, call = app
    tools = call(client.list_tools).tools
    schemas = {tool.name: tool.input_schema["properties"] for tool in tools}
    for name, address in VIEWS.items():
        asked_for = Seen()
        address(asked_for)
        assert asked_for.keys() <= schemas[name].keys(), name


def test_a_form_decides_and_leads_on_to_the_view(shown):
    found = shown(address="/review/detect", form="days=3&household=kakeibo")
    assert (found["status"], found["address"]) == (200, "/review?household=kakeibo")
    assert '<strong id="open">1</strong>' in found["body"]


def test_a_form_of_nonsense_is_answered_in_a_sentence(shown):
    found = shown(address="/review/decide", form="check=9999&decision=%00", language="en")
    assert found["status"] == 400
    assert 'class="trouble"' in found["body"]
