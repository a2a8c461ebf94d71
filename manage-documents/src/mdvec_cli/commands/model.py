"""`mdvec model …`: list the embedding models, download one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    DisplayFormat,
    FormatOption,
    VerboseOption,
    chosen_format,
    settings_from,
)
from mdvec_cli.commands.output import print_json, print_table, say

if TYPE_CHECKING:
    from mdvec.embedding.catalog import ListedModel

app = typer.Typer(
    help="List the embedding models, or download one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("ls")
def ls(
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """List the models: which are installed, and which one `auto` chooses."""
    from mdvec.embedding import catalog

    settings = settings_from(config, database, verbose=verbose)
    models = catalog.list_models()
    if chosen_format(format_, settings) is DisplayFormat.JSON:
        print_json({"models": [_as_json(model) for model in models]})
        return
    print_table(
        "Models",
        ("name", "here", "dimension", "chunk size", "licence", "summary"),
        [
            (
                f"{card.name} (auto)" if model.is_auto else card.name,
                "yes" if model.missing is None else "no", card.dimension, card.default_size,
                card.licence, card.summary,
            )
            for model in models for card in [model.card]
        ],
    )  # fmt: skip
    for model in models:
        if model.missing is not None:
            say(f"{model.card.name}: {model.missing}; to get it: {model.card.how_to_get}")


def _as_json(model: ListedModel) -> dict[str, object]:
    card = model.card
    return {
        "name": card.name,
        "available": model.missing is None,
        "missing": model.missing,
        "auto": model.is_auto,
        "dimension": card.dimension,
        "chunk_size": card.default_size,
        "max_tokens": card.max_tokens,
        "licence": card.licence,
        "summary": card.summary,
        "how_to_get": card.how_to_get,
    }


@app.command("pull")
def pull(
    name: Annotated[str, typer.Argument(help="The model to download: plamo.")],
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Download a model's weights into the local model cache."""
    from mdvec.embedding import catalog

    settings_from(config, database, verbose=verbose)
    say(catalog.pull(name))
