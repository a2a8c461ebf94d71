"""What the official conformance suite asks a server for, on our server class: for tests only."""

from __future__ import annotations

import base64
import io
import json
import wave

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.server.mcpserver.resources import TextResource
from mcp.server.subscriptions import PromptsListChanged, ToolsListChanged
from mcp_types import (
    AudioContent,
    CallToolResult,
    Completion,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from mdvec_mcp.protocol import MdvecServer
from PIL import Image

_PAUSE_SECONDS = 0.05


def conformance_server() -> MdvecServer:
    """A server with the tools, resources and prompts that the suite calls by name."""
    server = MdvecServer("mdvec-conformance", version="1")
    _add_tools(server)
    _add_resources(server)
    _add_prompts(server)

    @server.completion()
    async def complete(_ref: object, _argument: object, _context: object) -> Completion:
        return Completion(values=[])

    return server


def _add_tools(server: MdvecServer) -> None:
    contents: dict[str, list[ContentBlock]] = {
        "test_simple_text": [_text("This is a simple text response for testing.")],
        "test_image_content": [_image()],
        "test_audio_content": [
            AudioContent(type="audio", data=_base64(_wave()), mime_type="audio/wav")
        ],
        "test_embedded_resource": [
            _embedded(
                "test://embedded-resource", "text/plain", "This is an embedded resource content."
            )
        ],
        "test_multiple_content_types": [
            _text("Multiple content types test:"),
            _image(),
            _embedded(
                "test://mixed-content-resource",
                "application/json",
                json.dumps({"test": "data", "value": 123}),
            ),
        ],
    }
    for name, content in contents.items():
        _add_constant(server, name, content)

    async def fail() -> str:
        raise ToolError("This tool intentionally returns an error for testing")

    async def progress(context: Context) -> str:
        for done in (0, 50, 100):
            await context.report_progress(done, 100)
            await anyio.sleep(_PAUSE_SECONDS)
        return "done"

    async def change_tools() -> str:
        await server.announce([ToolsListChanged()])
        return "told"

    async def change_prompts() -> str:
        await server.announce([PromptsListChanged()])
        return "told"

    changing = "Tells the clients of a change, as the rows of a database would."
    server.add_tool(change_tools, name="test_trigger_tool_change", description=changing)
    server.add_tool(change_prompts, name="test_trigger_prompt_change", description=changing)
    server.add_tool(fail, name="test_error_handling", description="Fails.")
    server.add_tool(progress, name="test_tool_with_progress", description="Reports its progress.")


def _add_constant(server: MdvecServer, name: str, content: list[ContentBlock]) -> None:
    async def constant() -> CallToolResult:
        return CallToolResult(content=content)

    server.add_tool(constant, name=name, description="Returns what the suite expects.")


def _add_resources(server: MdvecServer) -> None:
    text = "This is the content of the static text resource."
    server.add_resource(
        TextResource(uri="test://static-text", name="text", mime_type="text/plain", text=text)
    )

    @server.resource("test://static-binary", mime_type="image/png")
    def binary() -> bytes:
        return _picture()

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002 - the suite's name
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _add_prompts(server: MdvecServer) -> None:
    @server.prompt("test_simple_prompt", description="Simple.")
    def simple() -> str:
        return "This is a simple prompt for testing."

    @server.prompt("test_prompt_with_arguments", description="With arguments.")
    def with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt("test_prompt_with_embedded_resource", description="With a resource.")
    def with_resource(resourceUri: str) -> list[Message]:  # noqa: N803 - the suite's name
        text = "Embedded resource content for testing."
        return [
            UserMessage(_embedded(resourceUri, "text/plain", text)),
            UserMessage("Please process the embedded resource above."),
        ]

    @server.prompt("test_prompt_with_image", description="With an image.")
    def with_image() -> list[Message]:
        return [UserMessage(_image()), UserMessage("Please analyze the image above.")]


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


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
