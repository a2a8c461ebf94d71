"""What the server offers at one time, and how that follows the rows of the database."""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import FunctionResource, ResourceManager
from mcp.server.mcpserver.tools import Tool
from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import ToolAnnotations
from mdvec.database.connection import DatabaseError
from mdvec.manage.registering import offered_state
from mdvec.tools.names import own_name
from mdvec.tools.rows import Tool as Row
from mdvec.tools.unfinished import described_tool

from mdvec_mcp.compact_schema import compact_input
from mdvec_mcp.file_stamp import FileStamp, stamp_of

logger = logging.getLogger("mdvec")

ALWAYS_LOADED = {"anthropic/alwaysLoad": True}
"""The part of a tool's ``_meta`` with which clients that defer tools load it at once."""
ToolTemplates = dict[CodeType, Tool]
"""The first tool built from each function definition, with its schema."""
Completion = Callable[[dict[str, str]], Awaitable[list[str]]]
"""The values that an argument may have, given the arguments that are known already."""


@dataclass(slots=True)
class Offer:
    """The tools, resources and prompts, and the instructions for the model.

    Tools whose functions share one definition share their schemas, so building the tools of 200
    rows takes little longer than building one.

    Attributes:
        row_names: the names of the rows of the table ``tools``, which the server's own tools must
            not use.
        templates: a cache that this offer fills; pass it on to the next one.
        tools: by name, in the order in which they are listed.
        answers: by tool, the class of its structured answer, or a union of classes.
        views: by tool, the address of the App's view of a call with some arguments, if it has one.
        resources: by URI.
        completions: by a resource template's URI and the name of its argument.
        prompts: by name.
        instructions: what the model reads before it uses the tools.
    """

    row_names: frozenset[str] = frozenset()
    templates: ToolTemplates = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    views: dict[str, Callable[[Mapping[str, Any]], str | None]] = field(default_factory=dict)
    resources: ResourceManager = field(default_factory=ResourceManager)
    completions: dict[tuple[str, str], Completion] = field(default_factory=dict)
    prompts: dict[str, Prompt] = field(default_factory=dict)
    instructions: str = ""

    def add_tool(
        self,
        fn: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str,
        annotations: ToolAnnotations,
        meta: dict[str, Any] | None = None,
        answer: Any = None,  # noqa: ANN401 - a class or a union of classes
        is_row: bool = False,
    ) -> None:
        """Add the tool of a row under the row's name, or one of the server's own.

        The server's own tool is named after its function, if it has no ``name``, and gets another
        name if a row has its name.
        """
        called = name or fn.__name__
        if not is_row:
            called = own_name(called, self.row_names)
        template = self.templates.get(fn.__code__)
        if template is None:
            built = Tool.from_function(
                fn, called, description=description, annotations=annotations,
                structured_output=False,
            )  # fmt: skip
            compact = compact_input(built.parameters)
            template = built.model_copy(update={"parameters": compact})
            self.templates[fn.__code__] = template
        own = {"fn": fn, "name": called, "title": title, "description": description, "meta": meta}
        self.tools[called] = template.model_copy(update=own)
        if answer is not None:
            self.answers[called] = answer

    def add_resource(
        self, uri: str, description: str, mime_type: str, read: Callable[[], Any]
    ) -> None:
        """Add a resource, named after the part of its URI that follows "://"."""
        self.resources.add_resource(
            FunctionResource.from_function(
                read, uri, name=uri.partition("://")[2], description=description,
                mime_type=mime_type,
            )
        )  # fmt: skip

    def add_resource_template(
        self,
        uri: str,
        description: str,
        mime_type: str,
        read: Callable[..., Any],
        completions: Mapping[str, Completion],
    ) -> None:
        """Add a template of resources, named after its function, and what completes its URI."""
        self.resources.add_template(read, uri, description=description, mime_type=mime_type)
        for argument, complete in completions.items():
            self.completions[uri, argument] = complete

    @property
    def resource_uris(self) -> list[str]:
        """The URIs of its resources."""
        return [str(resource.uri) for resource in self.resources.list_resources()]

    def listed_tools(self) -> list[tuple[object, ...]]:
        """What clients are told of its tools."""
        return [
            (tool.name, tool.title, tool.description, tool.parameters)
            for tool in self.tools.values()
        ]


class LiveOffer:
    """The offer of a database's active rows, and its changes. Thread-safe.

    While the file is missing, emptied or unreadable, the last offer stays: its tools say what
    happened to the database.

    Args:
        database: the database file.
        rows: its active rows.
        make: makes the offer of rows.
    """

    def __init__(
        self, database: Path, rows: Sequence[Row], make: Callable[[Sequence[Row]], Offer]
    ) -> None:
        self._database = database
        self._make = make
        self._lock = threading.Lock()
        self._seen: FileStamp | None = None
        self._shown = _shown_fields(rows)
        self._ledgers: list[int] | None = None
        self.offer = make(rows)

    def poll(self) -> list[ServerEvent]:
        """Read the rows again if the file has changed, and return the events for clients.

        Costs two stat calls while nothing changes.
        """
        with self._lock:
            stamp = stamp_of(self._database)
            if stamp is None or stamp == self._seen:
                return []
            self._seen = stamp if stamp.is_settled() else None
            try:
                state = offered_state(self._database)
            except DatabaseError as error:
                logger.info("the tools stay as they are: %s", error)
                return []
            return [] if state is None else self._follow(*state)

    def _follow(self, rows: Sequence[Row], ledgers: list[int]) -> list[ServerEvent]:
        old, shown = self.offer, _shown_fields(rows)
        if shown != self._shown:
            self.offer = self._make(rows)
        was, self._shown, self._ledgers = self._ledgers, shown, ledgers
        events: list[ServerEvent] = []
        if old.listed_tools() != self.offer.listed_tools():
            events.append(ToolsListChanged())
        if old.resource_uris != self.offer.resource_uris:
            events.append(ResourcesListChanged())
        if old.prompts.keys() != self.offer.prompts.keys():
            events.append(PromptsListChanged())
        if was not in (None, ledgers):
            events += [ResourceUpdated(uri) for uri in self.offer.resource_uris]
        return events


def _shown_fields(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    """The part of the rows that the offer shows or uses."""
    return [
        (row.name, row.title, row.kind, described_tool(row), row.model, row.last_import_at,
         row.generation)
        for row in rows
    ]  # fmt: skip
