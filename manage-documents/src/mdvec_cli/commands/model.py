"""`mdvec model …`: list the embedding models, try one, download one."""

from __future__ import annotations

from typing import Annotated

import typer
from mdvec import embedding, manage

from mdvec_cli.commands.terminal import (
    FormatOption,
    SettingsOptions,
    command_group,
    confirmed,
    in_own_language,
    print_json,
    print_sentence,
    print_table,
    say,
    wants_json,
    with_settings_options,
)

app = command_group("List the embedding models, try one, or download one.")


@app.command("ls")
@with_settings_options
def ls(options: SettingsOptions, format_: FormatOption = None) -> None:
    """List the models: which are installed, and which one `auto` chooses."""
    settings = options.settings()
    backend = settings.model.options()
    own = {settings.model.name, *manage.models_in_use(settings.database_path)}
    models = embedding.catalog.list_models(own, backend)
    if wants_json(format_, settings):
        print_json({"models": [_as_json(model) for model in models]})
        return
    print_table(
        "Models",
        ("name", "here", "dimension", "chunk size", "licence", "summary"),
        [
            (
                f"{card.name} (auto)" if model.is_auto else card.name,
                model.missing is None, card.dimension or None, card.default_size,
                card.licence, in_own_language(card.summary),
            )
            for model in models for card in [model.card]
        ],
    )  # fmt: skip
    for model in models:
        if model.missing is not None:
            say(f"{model.card.name}: {model.missing}; to get it: {model.card.how_to_get}")
    say(f"your own models: {embedding.FORMS}; see docs/models.md")


def _as_json(model: embedding.ListedModel) -> dict[str, object]:
    card = model.card
    return {
        "name": card.name,
        "available": model.missing is None,
        "missing": model.missing,
        "auto": model.is_auto,
        "dimension": card.dimension or None,
        "chunk_size": card.default_size,
        "max_tokens": card.max_tokens,
        "licence": card.licence,
        "summary": card.summary,
        "how_to_get": card.how_to_get,
    }


@app.command("pull")
@with_settings_options
def pull(
    options: SettingsOptions,
    name: Annotated[
        str,
        typer.Argument(
            help="The model to download, of mdvec model ls, or onnx:<model> or st:<model>."
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Download without asking.")] = False,
) -> None:
    """Download a model's weights into the local model cache.

    It first says what comes from where, its size and its licence, and asks.
    """
    settings = options.settings()

    def may_download(sentence: str) -> bool:
        if yes:
            say(sentence)
        return yes or confirmed(f"{sentence} Download it?")

    say(embedding.catalog.pull(name, may_download, settings.model.options()))


@app.command("test")
@with_settings_options
def try_out(
    options: SettingsOptions,
    name: Annotated[str, typer.Argument(help="The model to try, as in --model of an import.")],
    format_: FormatOption = None,
) -> None:
    """Embed a one-word question, and show its time and dimension.

    A model behind an endpoint is sent only that word, and nothing of yours.
    """
    settings = options.settings()
    trial = embedding.try_model(name, settings.model.options())
    if wants_json(format_, settings):
        print_json(trial)
        return
    where = f" at {trial.host}" if trial.host else f" (loaded in {trial.load_seconds:.1f} s)"
    print_sentence(
        f"{trial.name}{where}: {trial.dimension} dimensions, "
        f"a question in {trial.question_seconds * 1000:.0f} ms"
    )
