"""The server announces exactly its capabilities, in both generations of the protocol."""

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import stdio_client


def offered(parameters, mode):
    """The agreed protocol, the announced capabilities, and the sizes of the lists."""

    async def ask():
        with anyio.fail_after(60):
            async with Client(stdio_client(parameters), mode=mode) as client:
                counts = (
                    len((await client.list_tools()).tools),
                    len((await client.list_prompts()).prompts),
                    len((await client.list_resources()).resources),
                )
                return client.protocol_version, client.server_capabilities, counts

    return anyio.run(ask)


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_no_change_notifications_are_announced(filled, server, mode, version):
    agreed, said, counts = offered(server(filled / "vectors.sqlite"), mode)
    assert (agreed, counts) == (version, (5, 0, 0))
    promised = {
        what: value
        for part in ("tools", "prompts", "resources")
        for what, value in getattr(said, part).model_dump().items()
        if value
    }
    assert promised == {}
    assert (said.logging, said.completions, said.experimental) == (None, None, None)


@pytest.mark.parametrize("method", ["subscriptions/listen", "resources/subscribe"])
def test_subscriptions_are_refused(filled, wire, method):
    one = wire(filled / "vectors.sqlite").greet()
    answer = one.call(method, {"uri": "data://available_months", "notifications": {}})
    assert answer["error"]["code"] == -32601
