"""Messages that can be no request get the reply that JSON-RPC asks for."""

import json

from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec_mcp.envelope import reply_to_unusable, without_lone_surrogates

PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


@each(
    ("text", "code", "id_", "words"),
    [
        ("{", -32700, None, "this is not JSON"),
        ("これは JSON ではない", -32700, None, "this is not JSON"),
        ("[" * 100_000, -32700, None, "the message is nested too deeply"),
        ("\ufeff" + json.dumps(PING), -32700, None, "byte order mark"),
        (json.dumps([PING]), -32600, None, "batches"),
        ("null", -32600, None, "a JSON object"),
        (json.dumps(PING | {"jsonrpc": "1.0"}), -32600, 7, '"jsonrpc": "2.0"'),
        (json.dumps({"id": "a", "method": "ping"}), -32600, "a", '"jsonrpc": "2.0"'),
        (json.dumps(PING | {"params": [1]}), -32600, 7, "params must be an object"),
        (json.dumps(PING | {"id": 1.5}), -32600, None, "the id must be a string or an integer"),
        (json.dumps(PING | {"id": None}), -32600, None, "the id must be a string or an integer"),
        (json.dumps(PING | {"id": True}), -32600, None, "the id must be a string or an integer"),
        (json.dumps(PING | {"method": 1}), -32600, 7, "the method must be a string"),
        ('{"jsonrpc": "2.0", "id": 9}', -32600, 9, "must have a method"),
    ],
)
def test_an_unusable_message_gets_an_error_with_the_id_if_that_can_be_told(text, code, id_, words):
    reply = json.loads(reply_to_unusable(text))
    assert (reply["jsonrpc"], reply["id"], reply["error"]["code"]) == ("2.0", id_, code)
    assert words in reply["error"]["message"]


@each(
    "message",
    [
        PING,
        PING | {"id": "a", "params": {"a": [1]}},
        PING | {"params": None},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}},
    ],
)
def test_requests_notifications_and_responses_are_usable(message):
    assert reply_to_unusable(json.dumps(message)) is None


@given(st.text())
def test_a_reply_is_one_line_of_json(text):
    reply = reply_to_unusable(text)
    assert reply is not None
    assert "\n" not in reply
    assert json.loads(reply)["error"]["code"] in (-32700, -32600)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_text_without_lone_surrogates_stays_as_it_is(text):
    written = json.dumps(text)
    assert without_lone_surrogates(written) == written
