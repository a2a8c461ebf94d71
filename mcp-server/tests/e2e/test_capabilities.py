"""The server announces exactly its capabilities, in both generations of the protocol."""

import pytest
from mcp.server.apps import EXTENSION_ID


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_the_advertised_capabilities_match_the_protocol_version(
    filled, connect_here, tmp_path, mode, version
):
    with connect_here(filled / "vectors.sqlite", home=tmp_path, mode=mode) as connected:
        client, call = connected.client, connected.portal.call
        assert client.protocol_version == version
        assert len(call(client.list_tools).tools) == 7
        assert call(client.list_prompts).prompts == call(client.list_resources).resources == []
        said = client.server_capabilities
    subscribes = version == "2026-07-28"
    assert said.model_dump(exclude_none=True) == {
        "tools": {"list_changed": True},
        "prompts": {"list_changed": True},
        "resources": {"list_changed": True, "subscribe": subscribes},
        **({"extensions": {EXTENSION_ID: {}}} if subscribes else {}),
    }
    assert (said.logging, said.completions, said.experimental) == (None, None, None)
