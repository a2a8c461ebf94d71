"""What the official conformance suite asks a server for, on our server class: for tests only."""

from __future__ import annotations

import base64
import io
import json
import wave
from collections.abc import Callable
from typing import Any

import anyio
from fixed_offer import FixedOffer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Message, Prompt, UserMessage
from mcp.server.subscriptions import PromptsListChanged, ServerEvent, ToolsListChanged
from mcp_types import AudioContent, EmbeddedResource, ImageContent, TextResourceContents
from mdvec_mcp.calls import READ_ONLY, ToolReply
from mdvec_mcp.offer import Offer
from mdvec_mcp.protocol import MdvecServer
from PIL import Image

_PAUSE_SECONDS = 0.05


def conformance_server() -> MdvecServer:
    """A server with the tools, resources and prompts that the suite calls by name."""
    server, offer = MdvecServer("mdvec-conformance", version="1"), Offer()
    live = FixedOffer(offer)
    _add_tools(server, offer, live.changes)
    _add_resources(offer)
    _add_prompts(offer)
    server.follow(live)
    return server


def _add_tools(server: MdvecServer, offer: Offer, changes: list[ServerEvent]) -> None:
    replies = {
        "test_simple_text": ToolReply("This is a simple text response for testing."),
        "test_image_content": ToolReply("An image.", blocks=(_image(),)),
        "test_audio_content": ToolReply(
            "A sound.",
            blocks=(AudioContent(type="audio", data=_base64(_wave()), mime_type="audio/wav"),),
        ),
        "test_embedded_resource": ToolReply(
            "A resource.",
            blocks=(
                _embedded(
                    "test://embedded-resource",
                    "text/plain",
                    "This is an embedded resource content.",
                ),
            ),
        ),
        "test_multiple_content_types": ToolReply(
            "Multiple content types test:",
            blocks=(
                _image(),
                _embedded(
                    "test://mixed-content-resource",
                    "application/json",
                    json.dumps({"test": "data", "value": 123}),
                ),
            ),
        ),
    }
    for name, reply in replies.items():
        _add_constant(offer, name, reply)

    async def fail() -> ToolReply:
        raise ToolError("This tool intentionally returns an error for testing")

    async def progress(context: Context) -> ToolReply:
        for done in (0, 50, 100):
            await context.report_progress(done, 100)
            await anyio.sleep(_PAUSE_SECONDS)
        return ToolReply("done")

    async def change_tools() -> ToolReply:
        changes.append(ToolsListChanged())
        await server.refresh()
        return ToolReply("announced")

    async def change_prompts() -> ToolReply:
        changes.append(PromptsListChanged())
        await server.refresh()
        return ToolReply("announced")

    tools: dict[str, Callable[..., Any]] = {
        "test_trigger_tool_change": change_tools,
        "test_trigger_prompt_change": change_prompts,
        "test_error_handling": fail,
        "test_tool_with_progress": progress,
    }
    for name, fn in tools.items():
        offer.tool(name=name, description="For the suite.", annotations=READ_ONLY)(fn)


def _add_constant(offer: Offer, name: str, reply: ToolReply) -> None:
    @offer.tool(name=name, description="Returns what the suite expects.", annotations=READ_ONLY)
    async def constant() -> ToolReply:
        return reply


def _add_resources(offer: Offer) -> None:
    text = "This is the content of the static text resource."
    offer.add_resource("test://static-text", "A text.", "text/plain", lambda: text)
    offer.add_resource("test://static-binary", "A picture.", "image/png", _picture)

    def template(id: str) -> str:  # noqa: A002 - the suite's name
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    async def completed(_given: dict[str, str]) -> list[str]:
        return []

    uri = "test://template/{id}/data"
    offer.resources.add_template(
        template, uri, description="A template.", mime_type="application/json"
    )
    offer.completions[uri, "id"] = completed


def _add_prompts(offer: Offer) -> None:
    def simple() -> str:
        return "This is a simple prompt for testing."

    def with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    def with_resource(resourceUri: str) -> list[Message]:  # noqa: N803 - the suite's name
        text = "Embedded resource content for testing."
        return [
            UserMessage(_embedded(resourceUri, "text/plain", text)),
            UserMessage("Please process the embedded resource above."),
        ]

    def with_image() -> list[Message]:
        return [UserMessage(_image()), UserMessage("Please analyze the image above.")]

    prompts = {
        "test_simple_prompt": simple,
        "test_prompt_with_arguments": with_arguments,
        "test_prompt_with_embedded_resource": with_resource,
        "test_prompt_with_image": with_image,
    }
    for name, fn in prompts.items():
        offer.prompts[name] = Prompt.from_function(fn, name=name, description="For the suite.")


def _image() -> ImageContent:
    return ImageContent(type="image", data=_base64(_picture()), mime_type="image/png")


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    resource = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=resource)


def _picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (1, 1), "red").save(file, "PNG")
    return file.getvalue()


def _wave() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8_000)
        sound.writeframes(bytes(160))
    return file.getvalue()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
