"""The tools, resources and prompts offered at one time; complete before any client sees them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import FunctionResource, Resource, ResourceTemplate
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from mdvec.tools.names import own_name

from mdvec_mcp.compact_schema import compact_input, compact_output

ToolTemplates = dict[CodeType, Tool]
"""The first tool built from each function definition, with its schemas."""
Completion = Callable[[dict[str, str]], Awaitable[list[str]]]
"""The values that an argument may have, given the arguments that are known already."""


@dataclass(slots=True)
class Offer:
    """The tools, resources and prompts, and the instructions for the model.

    Tools whose functions share one definition share their schemas, so building the tools of 200
    rows takes little longer than building one.

    Attributes:
        instructions: what the model reads before it uses the tools.
        row_names: the names of the rows of the table ``tools``, which the server's own tools must
            not use.
        templates: a cache that this offer fills; pass it on to the next one.
        tools: by name, in the order in which they are listed.
        resources: by URI.
        resource_templates: by their URI templates.
        completions: by a resource template's URI and the name of its argument.
        prompts: by name.
    """

    instructions: str
    row_names: frozenset[str] = frozenset()
    templates: ToolTemplates = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    resource_templates: dict[str, ResourceTemplate] = field(default_factory=dict)
    completions: dict[tuple[str, str], Completion] = field(default_factory=dict)
    prompts: dict[str, Prompt] = field(default_factory=dict)

    def add_tool(
        self,
        fn: Callable[..., Any],
        *,
        name: str | None = None,
        description: str,
        annotations: ToolAnnotations,
        structured_output: bool,
    ) -> None:
        """Add one of the server's own tools, under another name if a row has its name.

        The name defaults to the function's.
        """
        called = own_name(name or fn.__name__, self.row_names)
        self._add(fn, called, description, annotations, structured_output=structured_output)

    def add_row_tool(
        self,
        fn: Callable[..., Any],
        *,
        name: str,
        title: str | None,
        description: str,
        annotations: ToolAnnotations,
        structured_output: bool,
    ) -> None:
        """Add the tool of a row, under the row's name."""
        self._add(fn, name, description, annotations, structured_output=structured_output)
        self.tools[name].title = title

    def _add(
        self,
        fn: Callable[..., Any],
        name: str,
        description: str,
        annotations: ToolAnnotations,
        *,
        structured_output: bool,
    ) -> None:
        template = self.templates.get(fn.__code__)
        if template is None:
            built = Tool.from_function(
                fn, name, description=description, annotations=annotations,
                structured_output=structured_output,
            )  # fmt: skip
            template = self.templates[fn.__code__] = _with_compact_schemas(built)
        own = {"fn": fn, "name": name, "description": description}
        self.tools[name] = template.model_copy(update=own)

    def add_resource(
        self, uri: str, description: str, mime_type: str, read: Callable[[], Any]
    ) -> None:
        """Add a resource, named after the part of its URI that follows "://"."""
        self.resources[uri] = FunctionResource.from_function(
            read, uri, name=uri.partition("://")[2], description=description, mime_type=mime_type
        )

    def add_resource_template(
        self,
        uri: str,
        description: str,
        mime_type: str,
        read: Callable[..., Any],
        completions: Mapping[str, Completion],
    ) -> None:
        """Add a template of resources, named after its function, and what completes its URI."""
        self.resource_templates[uri] = ResourceTemplate.from_function(
            read, uri, description=description, mime_type=mime_type
        )
        for argument, complete in completions.items():
            self.completions[uri, argument] = complete

    def add_prompt(self, prompt: Prompt) -> None:
        """Add a prompt."""
        self.prompts[prompt.name] = prompt


def _with_compact_schemas(tool: Tool) -> Tool:
    """The tool with shorter equivalent schemas for listing; calls do not use them."""
    listed = tool.fn_metadata.output_schema
    output = None if listed is None else compact_output(listed)
    metadata = tool.fn_metadata.model_copy(update={"output_schema": output})
    return tool.model_copy(
        update={"parameters": compact_input(tool.parameters), "fn_metadata": metadata}
    )
