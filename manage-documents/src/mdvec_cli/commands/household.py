"""`mdvec household …`: how a household's files are read, and its ledger for other programs."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from mdvec import dates, household, manage

from mdvec_cli.commands.terminal import (
    FormatOption,
    GivenPath,
    SettingsOptions,
    begin_data,
    command_group,
    is_japanese,
    name_option,
    print_json,
    print_part,
    print_table,
    print_text,
    say,
    wants_json,
    with_settings_options,
)

if TYPE_CHECKING:
    from mdvec.household import StatementPreview

app = command_group("Show how a household's files are read; export its ledger.")

HouseholdOption = Annotated[str, name_option("The household.")]
_MAX_NAMED = 5


@app.command("map")
@with_settings_options
def map_(
    options: SettingsOptions,
    file: Annotated[GivenPath, typer.Argument(help="A bank's or card's CSV.")],
    name: Annotated[
        str | None,
        name_option("The household; may be left out if there is one, or the file is in its "
                    "folder."),
    ] = None,
    account: Annotated[
        str, typer.Option(help="The account's name in answers.", show_default=False)
    ] = "",
    stated: Annotated[
        list[str] | None,
        typer.Option("--set", help="A line of the mapping, as TOML: 'positive = \"spending\"'."),
    ] = None,
    save: Annotated[
        bool, typer.Option("--save", help="Keep the mapping in the household's folder.")
    ] = False,
    format_: FormatOption = None,
) -> None:  # fmt: skip
    """Show how a bank's or card's CSV is read: the mapping of its columns, and five rows.

    For an unknown kind of file a mapping is proposed; --save keeps it as TOML in the household's
    folder, where it can be changed, and every import reads files of that kind with it. It is not
    kept while something is undecided that would change a figure: --set states it.
    """
    settings = options.settings()
    as_json = wants_json(format_, settings)
    shown = manage.map_statement(
        settings.database_path, file, name, account=account, save=save,
        stated=stated or (), language="ja" if is_japanese() and not as_json else "en",
    )  # fmt: skip
    if as_json:
        print_json(shown)
    else:
        _print(shown)
    _say_next(shown)


@app.command("export")
@with_settings_options
def export_command(
    options: SettingsOptions,
    name: HouseholdOption,
    format_: Annotated[
        Literal["beancount", "hledger", "csv"],
        typer.Option("--format", help="What reads it; csv has the rows that do not count, too."),
    ] = "beancount",
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The first day.")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The last day.")
    ] = None,
) -> None:
    """Write the ledger to stdout for Beancount, hledger or a table; its sums there are ours.

    Each row is a transaction of its account and its category. Transfers and rows outside the
    calculation move money to Equity, a bill decided to be a card's to the card, so that balances
    are right and no category has them; rows decided to be duplicates, or gone from the statements,
    are left out.
    """
    settings = options.settings()
    if since is not None and until is not None and until < since:
        raise typer.BadParameter(
            f"it is before --since {since:%Y-%m-%d}; swap them", param_hint="--until"
        )
    pieces = manage.export_household(
        settings.database_path, name, format_, since and since.date(), until and until.date()
    )
    begin_data()
    for piece in pieces:
        print_part(piece)


@app.command("expenses")
@with_settings_options
def expenses(
    options: SettingsOptions,
    which: Annotated[
        Literal["medical", "furusato"], typer.Argument(help="医療費控除 or ふるさと納税.")
    ],
    name: HouseholdOption,
    year: Annotated[
        int | None,
        typer.Option(min=1900, max=2199, help="The calendar year; default: the latest with rows."),
    ] = None,
    format_: FormatOption = None,
) -> None:
    """List the rows of a year for the tax office by person, their sum, and rows that look near.

    Categories, rules and tags choose the rows; the answer says how to change that.
    """
    settings = options.settings()
    listed = manage.household_expenses(settings.database_path, name, which, year, dates.today())
    if wants_json(format_, settings):
        print_json(listed)
    else:
        print_text(listed.text if is_japanese() else household.in_english(listed.text))


def _print(shown: StatementPreview) -> None:
    if shown.toml:
        print_text(shown.toml)
        print_text("\n")
    transfer = "振替" if is_japanese() else "transfer"
    print_table(
        f"{shown.kind} ({shown.origin})",
        ("line", "date", "yen", "description", "account", "category", "counts"),
        [
            (
                row.line,
                row.date,
                "-" if row.amount is None else f"{row.amount:,}",
                row.description,
                row.account,
                row.category,
                transfer if row.is_transfer else row.counts,
            )
            for row in shown.rows
        ],
    )


def _say_next(shown: StatementPreview) -> None:
    say(f"{shown.rows_read} rows read as {shown.kind} ({shown.origin})")
    if shown.balances_compared:
        fitting = shown.balances_compared - len(shown.misfits)
        where = ", ".join(map(str, shown.misfits[:_MAX_NAMED]))
        misfits = f"; look at line {where}" if shown.misfits else ""
        say(f"balance: {fitting} of {shown.balances_compared} fit the row beside them{misfits}")
    for check in shown.checks:
        say(f"check: {check}")
    for question in shown.undecided:
        say(f"undecided: {question}")
    for line, reason in shown.bad[:_MAX_NAMED]:
        say(f"failed: line {line}: {reason}")
    if len(shown.bad) > _MAX_NAMED:
        say(f"… and {len(shown.bad) - _MAX_NAMED} more; --format json lists them all")
    if shown.saved:
        say(f"saved: {shown.saved}")
        say(f"next: mdvec import -n {shown.household} --mode update")
    elif shown.undecided:
        say("next: the same command with --set 'KEY = VALUE' for what is undecided, and --save")
    elif shown.origin == "proposed":
        say("next: the same command with --save, if the rows are right")
