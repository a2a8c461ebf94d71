"""The server announces exactly its capabilities, in both generations of the protocol."""

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import stdio_client
from mcp.server.apps import EXTENSION_ID


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
def test_the_advertised_capabilities_match_the_protocol_version(filled, server, mode, version):
    agreed, said, counts = offered(server(filled / "vectors.sqlite"), mode)
    assert (agreed, counts) == (version, (7, 0, 0))
    subscribes = version == "2026-07-28"
    assert said.model_dump(exclude_none=True) == {
        "tools": {"list_changed": True},
        "prompts": {"list_changed": True},
        "resources": {"list_changed": True, "subscribe": subscribes},
        **({"extensions": {EXTENSION_ID: {}}} if subscribes else {}),
    }
    assert (said.logging, said.completions, said.experimental) == (None, None, None)
