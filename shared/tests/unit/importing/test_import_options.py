"""The model and the chunking that an import uses."""

from dataclasses import replace
from pathlib import Path

import pytest
from table_of_cases import each

from mdvec.embedding.cards import E5_SMALL, PLAMO, USE
from mdvec.importing.options import ChunkingSettings, ImportRefused, model_to_load, resolve_chunking
from mdvec.text.tokens import ChunkingOptions, InvalidChunking
from mdvec.tools.registry import Tool

STORED = ChunkingOptions("heading", 300, 20, (1, 2), 80)


def tool(model=None, chunking=None):
    return Tool(
        id=1,
        name="notes",
        description="",
        source=Path("/notes"),
        kind="markdown",
        is_active=True,
        model=model,
        fingerprint=model and f"{model}@1:512:l2",
        dimension=model and 512,
        chunking=chunking,
        generation=1 if model else 0,
        last_import_at=None,
        created_at="",
        updated_at="",
    )


NEW, IMPORTED = tool(), tool("use", STORED)


@each(
    ("known", "requested", "rebuild", "usual", "asked"),
    [
        (NEW, None, False, None, None),
        (NEW, "auto", False, None, None),
        (NEW, "plamo", False, None, "plamo"),
        (IMPORTED, None, False, None, "use"),
        (IMPORTED, "use", False, None, "use"),
        (IMPORTED, "auto", False, None, "use"),
        (IMPORTED, None, True, None, "use"),
        (IMPORTED, "auto", True, None, None),
        (IMPORTED, "plamo", True, None, "plamo"),
        (NEW, None, False, "plamo", "plamo"),
        (IMPORTED, None, False, "plamo", "use"),
        (IMPORTED, None, True, "plamo", "plamo"),
    ],
)
def test_a_tool_stays_with_its_model_unless_a_rebuild_takes_another(
    known, requested, rebuild, usual, asked
):  # fmt: skip
    assert model_to_load(known, requested, usual, rebuild=rebuild) == asked


@pytest.mark.parametrize("card", [PLAMO, USE, E5_SMALL], ids=lambda card: card.name)
def test_a_new_tool_has_its_models_default_chunking(card):
    assert resolve_chunking(NEW, ChunkingSettings(), card, rebuild=True) == ChunkingOptions(
        "heading", card.default_size, card.default_overlap, (1, 2, 3), 50
    )


def test_requested_options_count_and_the_rest_is_default():
    overrides = ChunkingSettings(strategy="token", size=100, heading_levels=(2,))
    expected = ChunkingOptions("token", 100, 12, (2,), 50)
    assert resolve_chunking(NEW, overrides, PLAMO, rebuild=True) == expected


def test_a_small_size_reduces_the_default_overlap_but_not_a_requested_one():
    small = resolve_chunking(NEW, ChunkingSettings(size=64), E5_SMALL, rebuild=True)
    requested = resolve_chunking(NEW, ChunkingSettings(size=64, overlap=60), E5_SMALL, rebuild=True)
    assert (small.overlap, requested.overlap) == (8, 60)


def test_an_update_keeps_the_tools_chunking():
    assert resolve_chunking(IMPORTED, ChunkingSettings(), None, rebuild=False) == STORED
    same = ChunkingSettings(
        strategy="heading", size=300, overlap=20, heading_levels=(1, 2), min_chars=80
    )
    assert resolve_chunking(IMPORTED, same, None, rebuild=False) == STORED


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_household_whose_texts_are_not_split_takes_no_request_meant_for_notes(rebuild):
    household = replace(IMPORTED, kind="household")
    assert resolve_chunking(household, ChunkingSettings(size=64), USE, rebuild=rebuild) == STORED


@each(
    ("overrides", "told"),
    [
        (ChunkingSettings(strategy="token"), "strategy = heading; to change it to token"),
        (ChunkingSettings(size=64), "size = 300; to change it to 64"),
        (ChunkingSettings(overlap=0), "overlap = 20; to change it to 0"),
        (ChunkingSettings(heading_levels=(1,)), "heading_levels = 1, 2; to change it to 1"),
        (ChunkingSettings(min_chars=0), "min_chars = 80; to change it to 0"),
    ],
)
def test_an_update_with_other_options_is_refused_and_names_replace(overrides, told):
    with pytest.raises(ImportRefused) as refused:
        resolve_chunking(IMPORTED, overrides, USE, rebuild=False)
    (name, *_) = told.split()
    assert str(refused.value) == (
        f"the tool 'notes' was chunked with {told}, build it again with: {IMPORTED.rebuilt_by}; "
        f"to keep it, name no other in the command, nor as [chunking] {name} in the settings"
    )


def test_a_rebuild_keeps_options_that_were_not_requested():
    expected = ChunkingOptions("heading", 200, 20, (1, 2), 80)
    assert resolve_chunking(IMPORTED, ChunkingSettings(size=200), USE, rebuild=True) == expected


def test_a_rebuild_with_another_model_takes_that_models_sizes():
    expected = ChunkingOptions(
        "heading", PLAMO.default_size, PLAMO.default_overlap, (1, 2), 80
    )  # fmt: skip
    assert resolve_chunking(IMPORTED, ChunkingSettings(), PLAMO, rebuild=True) == expected


def test_chunks_over_the_models_limit_are_refused():
    with pytest.raises(InvalidChunking) as refused:
        resolve_chunking(NEW, ChunkingSettings(size=513), E5_SMALL, rebuild=True)
    assert str(refused.value) == (
        "chunks of 513 tokens are too long for the model 'e5-small', which takes 512; "
        "choose a smaller --chunk-size"
    )
    assert resolve_chunking(NEW, ChunkingSettings(size=512), E5_SMALL, rebuild=True).size == 512


def test_a_tool_that_was_never_imported_has_nothing_to_update():
    with pytest.raises(ImportRefused, match="'notes' has no model yet"):
        resolve_chunking(NEW, ChunkingSettings(), None, rebuild=False)
