"""What the server offers: its tools, resources and prompts, and the instructions for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, TypeVar

from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import FunctionResource, ResourceManager
from mcp.server.mcpserver.tools import Tool as McpTool
from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import ToolAnnotations
from mdvec.tools import own_name

from mdvec_mcp.compact_schema import compact_input

ALWAYS_LOADED = {"anthropic/alwaysLoad": True}
"""The part of a tool's ``_meta`` that makes clients which defer tools load it at once."""
Completion = Callable[[dict[str, str]], Awaitable[list[str]]]
"""The values that an argument may have, depending on the other arguments."""
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(slots=True)
class Offer:
    """The tools, resources and prompts, and the instructions for the model.

    Attributes:
        row_names: the names of users' tools, which the server's own tools must not use.
        templates: the first tool built from each function definition; the others share its schema,
            so that 200 tools take little longer than one tool. Pass it on to the next offer.
        tools: by name, in the order in which they are listed.
        answers: by tool that answers in Japanese or English, as the call requests, the class of its
            structured answer, or a union of classes.
        views: by tool, a function from a call's arguments to the address of the App's view, if any.
        resources: by URI.
        completions: by a resource template's URI and the name of its argument.
        prompts: by name.
        left_out: the server's own tools that are disabled, each with the setting that enables it.
        instructions: the text that the model reads before it uses the tools.
    """

    row_names: frozenset[str] = frozenset()
    templates: dict[CodeType, McpTool] = field(default_factory=dict)
    tools: dict[str, McpTool] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    views: dict[str, Callable[[Mapping[str, Any]], str | None]] = field(default_factory=dict)
    resources: ResourceManager = field(default_factory=ResourceManager)
    completions: dict[tuple[str, str], Completion] = field(default_factory=dict)
    prompts: dict[str, Prompt] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    instructions: str = ""

    def tool(
        self,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str,
        annotations: ToolAnnotations,
        meta: dict[str, Any] | None = None,
        answer: Any = None,  # noqa: ANN401 - a class or a union of classes
        is_row: bool = False,
    ) -> Callable[[F], F]:
        """Add the decorated function as a user's tool (``is_row``) or as one of the server's tools.

        Without ``name``, the tool is named after the function. A tool of the server gets another
        name if a user's tool already has this one. One with an ``answer`` takes ``language``, and
        answers in Japanese or English.
        """

        def add(fn: F) -> F:
            called = name or fn.__name__
            if not is_row:
                called = own_name(called, self.row_names)
            template = self.templates.get(fn.__code__)
            if template is None:
                template = McpTool.from_function(
                    fn, called, description=description, annotations=annotations,
                    structured_output=False,
                )  # fmt: skip
                template.parameters = compact_input(template.parameters)
                self.templates[fn.__code__] = template
            own = {"fn": fn, "name": called, "title": title, "description": description}
            self.tools[called] = template.model_copy(update={**own, "meta": meta})
            if answer is not None:
                self.answers[called] = answer
            return fn

        return add

    def add_resource(
        self, uri: str, description: str, mime_type: str, read: Callable[[], Any]
    ) -> None:
        """Add a resource, named after the part of its URI that follows "://"."""
        resource = FunctionResource.from_function(
            read, uri, uri.partition("://")[2], description=description, mime_type=mime_type
        )
        self.resources.add_resource(resource)

    def named(self, tool: str) -> str:
        """The name of one of the server's own tools, with the reason if it is not offered."""
        called = own_name(tool, self.row_names)
        if called in self.tools:
            return called
        return f"{called} (this server does not offer it{self.left_out.get(called, '')})"

    def lists(self) -> dict[ServerEvent, list[object]]:
        """The contents of its lists as clients see them, by the event that announces a change."""
        tools, files = self.tools.values(), self.resources.list_resources()
        return {
            ToolsListChanged(): [(t.name, t.title, t.description, t.parameters) for t in tools],
            ResourcesListChanged(): [str(file.uri) for file in files],
            PromptsListChanged(): [*self.prompts],
        }
