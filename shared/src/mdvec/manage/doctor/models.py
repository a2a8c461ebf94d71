"""Checks the sources of tools, and the embedding models that tools and settings need."""

from __future__ import annotations

from collections.abc import Iterator

from mdvec.database import DatabaseError, open_database
from mdvec.embedding import CARDS, BackendOptions, catalog, endpoint_of, family_of
from mdvec.manage.doctor.findings import Finding, Installation
from mdvec.manage.registering import list_tools
from mdvec.tools import (
    KINDS,
    Tool,
    is_being_imported,
    registry,
    reserved_names_taken,
    still_to_come,
)


def check_models(installation: Installation) -> Iterator[Finding]:
    """Check that the models of tools and settings, and the reranker, are here; none is loaded."""
    needed = _needed(installation)
    for card in CARDS.values():
        lack = catalog.missing(card)
        if lack is None:
            yield Finding("ok", "models", f"{card.name} is here")
        elif card.name in needed:
            yield Finding(
                "trouble", "models", f"{card.name} is missing ({lack}); {needed[card.name]}",
                card.how_to_get,
            )  # fmt: skip
        elif card.onnx is None:  # of these there are too many to list
            yield Finding("ok", "models", f"{card.name} is not here ({lack}); nothing needs it")
    yield from _of_reranker(installation)
    options = installation.settings.model.options()
    for name in sorted(needed.keys() - CARDS.keys()):
        if family_of(name) is not None:
            yield _of_own(name, needed[name], options)
            continue
        yield Finding(
            "trouble", "models", f"this version has no model {name}; {needed[name]}",
            "mdvec import -n NAME --mode replace",
        )  # fmt: skip


def _of_own(name: str, reason: str, options: BackendOptions) -> Finding:
    """The finding about a user's own model; nothing is sent to its endpoint."""
    card = catalog.card_named(name, options)
    if lack := catalog.missing(card, options):
        return Finding("trouble", "models", f"{name}: {lack}; {reason}", card.how_to_get)
    endpoint = endpoint_of(name, options)
    if endpoint is None:
        return Finding("ok", "models", f"{name} is here")
    return Finding(
        "ok", "models",
        f"{name} sends texts and questions to {endpoint.host}; "
        f"mdvec model test {name} asks whether it answers",
    )  # fmt: skip


def _of_reranker(installation: Installation) -> Iterator[Finding]:
    """The finding about the reranker of the settings, if there is one; it is not loaded."""
    reranker = installation.settings.reranker()
    if reranker is None:
        return
    if lack := reranker.missing():
        yield Finding(
            "trouble", "models",
            f"the reranker {reranker.name}: {lack}; searches keep their usual order",
            f"mdvec model pull {reranker.name}, or another [search] reranker",
        )  # fmt: skip
    else:
        yield Finding("ok", "models", f"the reranker {reranker.name} is here")


def _needed(installation: Installation) -> dict[str, str]:
    """What needs each model, by the model's name."""
    needed = {}
    if installation.settings.model.name != catalog.AUTO:
        needed[installation.settings.model.name] = "[model] name asks for it"
    try:
        tools = list_tools(installation.database, active_only=False)
    except DatabaseError:  # the checks of the database report it
        return needed
    for tool in tools:
        if tool.model is not None:
            needed[tool.model] = f"the tool {tool.name} was imported with it"
    return needed


def check_sources(installation: Installation) -> Iterator[Finding]:
    """Check that each tool's source exists and its last import finished."""
    with open_database(installation.database, "read") as connection:
        rows = registry.list_tools(connection)
        stopped = {tool.id: still_to_come(connection, tool) for tool in rows}
    if not rows:
        yield Finding(
            "warning", "sources", "there are no tools yet",
            'mdvec tool add -n NAME -d "what it contains" -s FOLDER',
        )  # fmt: skip
    for taken in reserved_names_taken([tool.name for tool in rows]):
        yield Finding("warning", "sources", taken)
    for tool in rows:
        yield _source(tool)
        how = f"mdvec import -n {tool.name}"
        if is_being_imported(installation.database, tool):
            yield Finding("ok", "sources", stopped[tool.id] or f"{tool.name} is being imported")
        elif (sentence := stopped[tool.id]) is not None:
            yield Finding("warning", "sources", sentence, f"{how} --mode update")
        elif tool.last_import_at is None:
            yield Finding("warning", "sources", f"{tool.name} was never imported", how)


def _source(tool: Tool) -> Finding:
    if tool.source.exists():
        return Finding("ok", "sources", f"{tool.name}: {tool.source} is there")
    has_texts = KINDS[tool.kind].has_texts
    effect = "searches find what was imported" if has_texts else "queries cannot read it"
    return Finding(
        "warning" if has_texts else "trouble", "sources",
        f"{tool.name}: {tool.source} does not exist; {effect}, imports fail",
        f"mdvec tool update -n {tool.name} -s FOLDER",
    )  # fmt: skip
