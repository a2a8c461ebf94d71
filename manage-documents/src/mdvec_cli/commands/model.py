"""`mdvec model …`: list the embedding models, try one, download one, calibrate one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from mdvec_cli.commands.completion import complete_tool_names
from mdvec_cli.commands.import_display import confirmed, counting_display
from mdvec_cli.commands.options import (
    ConfigOption,
    DatabaseOption,
    DisplayFormat,
    FormatOption,
    VerboseOption,
    chosen_format,
    settings_from,
)
from mdvec_cli.commands.output import print_json, print_line, print_table, say

if TYPE_CHECKING:
    from mdvec.embedding.catalog import ListedModel
    from mdvec.embedding.constants import ModelConstants
    from mdvec.manage.calibrating import Calibration

app = typer.Typer(
    help="List the embedding models, try one, download one, or calibrate one.",
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
    from mdvec.embedding.names import FORMS
    from mdvec.manage.registering import models_in_use

    settings = settings_from(config, database, verbose=verbose)
    options = settings.model.options()
    own = {settings.model.name, *models_in_use(settings.database_path)}
    models = catalog.list_models(own, options)
    if chosen_format(format_, settings) is DisplayFormat.JSON:
        print_json({"models": [_as_json(model) for model in models]})
        return
    print_table(
        "Models",
        ("name", "here", "dimension", "chunk size", "licence", "summary"),
        [
            (
                f"{card.name} (auto)" if model.is_auto else card.name,
                "yes" if model.missing is None else "no", card.dimension or None, card.default_size,
                card.licence, card.summary,
            )
            for model in models for card in [model.card]
        ],
    )  # fmt: skip
    for model in models:
        if model.missing is not None:
            say(f"{model.card.name}: {model.missing}; to get it: {model.card.how_to_get}")
    say(f"your own models: {FORMS}; see docs/models.md")


def _as_json(model: ListedModel) -> dict[str, object]:
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
def pull(
    name: Annotated[
        str,
        typer.Argument(
            help="The model to download: plamo, or st:<model>, such as st:cl-nagoya/ruri-v3-30m."
        ),
    ],
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Download a model's weights into the local model cache."""
    from mdvec.embedding import catalog

    settings = settings_from(config, database, verbose=verbose)
    say(catalog.pull(name, settings.model.options()))


@app.command("test")
def try_out(
    name: Annotated[str, typer.Argument(help="The model to try, as in --model of an import.")],
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Embed a one-word question, and show its time and dimension.

    A model behind an endpoint is sent only that word, and nothing of yours.
    """
    from mdvec.embedding.trial import try_model

    settings = settings_from(config, database, verbose=verbose)
    trial = try_model(name, settings.model.options())
    if chosen_format(format_, settings) is DisplayFormat.JSON:
        print_json(trial)
        return
    where = f" at {trial.host}" if trial.host else f" (loaded in {trial.load_seconds:.1f} s)"
    print_line(
        f"{trial.name}{where}: {trial.dimension} dimensions, "
        f"a question in {trial.question_seconds * 1000:.0f} ms"
    )


@app.command("calibrate")
def calibrate_command(
    name: Annotated[str, typer.Argument(help="The model, as in --model of an import.")],
    tool: Annotated[
        str | None,
        typer.Option("--name", "-n", help="The tool whose documents are used; by default, all.",
                     show_default=False, autocompletion=complete_tool_names),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Send texts to the model's endpoint without asking.")
    ] = False,
    minutes: Annotated[
        float,
        typer.Option(min=0.1, max=10_000,
                     help="About how long a model that runs here may embed; with less time, "
                          "fewer documents are sampled."),
    ] = 3.0,
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:  # fmt: skip
    """Fit how far searches trust a model, by the headings of your own documents.

    Each heading is a question that should find the text under it; all headings are removed from the
    texts first. New constants are kept only if the half of the headings that they were not fitted
    to is found better with them.
    """
    from mdvec.embedding import catalog
    from mdvec.manage.calibrating import calibrate

    settings = settings_from(config, database, verbose=verbose)
    options = settings.model.options()
    embedder = catalog.load(catalog.choose(name, options).card.name, options)
    with counting_display(f"calibrating {embedder.name}", "texts", quiet=verbose) as show:
        found = calibrate(
            settings.database_path,
            tool,
            embedder,
            may_send=lambda sending: yes or confirmed(f"{sending.sentence()} Send them?"),
            on_notice=say,
            on_progress=show,
            minutes=minutes,
        )
    if chosen_format(format_, settings) is DisplayFormat.JSON:
        print_json({**asdict(found), "is_better": found.is_better})
        return
    _print_calibration(found)


def _print_calibration(found: Calibration) -> None:
    before, after = found.figures_before, found.figures_after
    print_table(
        f"{found.model}: {found.questions} headings of {', '.join(found.tools)}",
        ("", "before", "now"),
        [
            ("headings found (nDCG@10)", f"{before.ndcg:.3f}", f"{after.ndcg:.3f}"),
            ("headings said to be answered", f"{before.confident:.0%}", f"{after.confident:.0%}"),
            ("unanswerable questions said to be", f"{before.misled:.0%}", f"{after.misled:.0%}"),
            ("trust in vectors", *(f"{one.vector_trust:g}" for one in (found.before, found.after))),
            ("cosine of unrelated passages", *map(_unrelated, (found.before, found.after))),
        ],
    )
    if found.is_better:
        say(f"searches with {found.fingerprint} use the new constants from now on")
    else:
        say("no other constants are better on the headings held out; nothing was changed")


def _unrelated(constants: ModelConstants) -> str:
    if constants.unrelated is None:
        return "not known"
    mean, deviation = constants.unrelated
    return f"{mean:.3f} ± {deviation:.3f}"
