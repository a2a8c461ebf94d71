"""`mdvec model …`: which embedding models there are, and fetching one."""

from __future__ import annotations

from typing import Annotated

import typer

from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    Format,
    FormatOption,
    VerboseOption,
    chosen_format,
    settings_from,
)
from mdvec_cli.commands.output import print_json, print_table, say

app = typer.Typer(
    help="See which embedding models there are, and fetch one.",
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
    """List the models, which are here, and which one `auto` takes."""
    from mdvec.embedding import catalog
    from mdvec.embedding.cards import CARDS

    settings = settings_from(config, database, verbose=verbose)
    auto = catalog.choose(catalog.AUTO).card
    rows = [(card, catalog.missing(card)) for card in CARDS.values()]
    if chosen_format(format_, settings) is Format.JSON:
        print_json(
            {
                "models": [
                    {
                        "name": card.name, "available": lack is None, "missing": lack,
                        "auto": card is auto, "dimension": card.dimension,
                        "chunk_size": card.default_size, "max_tokens": card.max_tokens,
                        "licence": card.licence, "summary": card.summary,
                        "how_to_get": card.how_to_get,
                    }
                    for card, lack in rows
                ]
            }
        )  # fmt: skip
        return
    print_table(
        "Models",
        ("name", "here", "dimension", "chunk size", "licence", "summary"),
        [
            (
                f"{card.name} (auto)" if card is auto else card.name,
                "yes" if lack is None else "no", card.dimension, card.default_size, card.licence,
                card.summary,
            )
            for card, lack in rows
        ],
    )  # fmt: skip
    for card, lack in rows:
        if lack is not None:
            say(f"{card.name}: {lack}; to get it: {card.how_to_get}")


@app.command("pull")
def pull(
    name: Annotated[str, typer.Argument(help="The model to fetch: plamo.")],
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Fetch a model's weights into the local model cache."""
    from mdvec.embedding import catalog

    settings_from(config, database, verbose=verbose)
    say(catalog.pull(name))
