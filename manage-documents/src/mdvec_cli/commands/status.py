"""`mdvec status`: what the database holds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from mdvec_cli.commands.output import (
    file_size,
    print_facts,
    print_json,
    print_line,
    print_table,
    say,
)

if TYPE_CHECKING:
    from mdvec.files.scan import ScanRules
    from mdvec.manage.status import ToolDetails, ToolStatus


def status_command(
    name: Annotated[
        str | None,
        typer.Option("--name", "-n", help="One tool in detail.", show_default=False),
    ] = None,
    format_: FormatOption = None,
    database: DatabaseOption = None,
    config: ConfigOption = None,
    verbose: VerboseOption = False,
) -> None:
    """Show all tools at a glance, or one with its documents and vectors, or its tables."""
    settings = settings_from(config, database, verbose=verbose)
    as_json = chosen_format(format_, settings) is Format.JSON
    if name is None:
        _overview(settings.database_path, as_json=as_json)
    else:
        _details(settings.database_path, name, as_json=as_json)


def _overview(database: Path, *, as_json: bool) -> None:
    from mdvec.manage.status import overview

    found = overview(database)
    if as_json:
        print_json(found)
        return
    for warning in found.warnings:
        say(f"warning: {warning}")
    print_line(f"database: {found.database} ({file_size(found.file_size)})")
    if not found.tools:
        print_line('no tools yet; begin with: mdvec tool add -n NAME -d "what is in it" -s FOLDER')
        return
    texts = [tool for tool in found.tools if tool.tables is None]
    if texts:
        _print_texts(texts)
    data = [tool for tool in found.tools if tool.tables is not None]
    if data:
        print_table(
            "Datasets",
            ("name", "active", "kind", "tables", "rows", "last import (UTC)"),
            [
                (tool.name, tool.is_active, tool.kind, tool.tables, tool.rows, tool.last_import_at)
                for tool in data
            ],
        )
    for tool in found.tools:
        if tool.unfinished:
            say(f"note: {tool.unfinished}")


def _print_texts(tools: list[ToolStatus]) -> None:
    print_table(
        "Tools",
        ("name", "active", "kind", "documents", "vectors", "model", "last import (UTC)"),
        [
            (
                tool.name, tool.is_active, tool.kind, tool.documents, tool.vectors, tool.model,
                tool.last_import_at,
            )
            for tool in tools
        ],
    )  # fmt: skip


def _details(database: Path, name: str, *, as_json: bool) -> None:
    from mdvec.manage.status import details

    found = details(database, name)
    if as_json:
        print_json(_as_json(found))
        return
    if found.status.unfinished:
        say(f"note: {found.status.unfinished}")
    if found.status.tables is not None:
        _dataset_details(found)
        return
    chunking, numbers = found.chunking, found.statistics
    print_facts(
        found.status.name,
        [
            ("description", found.description),
            ("source", found.source),
            ("kind", found.status.kind),
            ("active", found.status.is_active),
            ("model", found.fingerprint),
            ("chunks", chunking and f"{chunking.strategy}, up to {chunking.size} tokens, "
                                    f"overlap {chunking.overlap}"),
            ("files", found.scan and _files(found.scan)),
            ("created (UTC)", found.created_at),
            ("last import (UTC)", found.status.last_import_at),
            ("documents", found.status.documents),
            ("vectors", found.status.vectors),
            ("dimension", found.dimension),
            ("chunk length", (f"{numbers.shortest} to {numbers.longest} characters, "
                             f"{numbers.mean:.0f} on average")),
            ("embeddings", file_size(numbers.embedding_bytes)),
        ],
    )  # fmt: skip
    print_table(
        "Documents",
        ("file", "title", "bytes", "chunks", "updated (UTC)"),
        [
            (line.file_path, line.title, line.size, line.chunks, line.updated_at)
            for line in found.documents
        ],
    )


def _files(rules: ScanRules) -> str:
    excluded = f", without {', '.join(rules.exclude)}" if rules.exclude else ""
    return f"{', '.join(rules.extensions)}{excluded}, up to {file_size(rules.max_bytes)}"


def _dataset_details(found: ToolDetails) -> None:
    print_facts(
        found.status.name,
        [
            ("description", found.description),
            ("source", found.source),
            ("kind", found.status.kind),
            ("active", found.status.is_active),
            ("created (UTC)", found.created_at),
            ("last import (UTC)", found.status.last_import_at),
            ("tables", found.status.tables),
            ("rows", found.status.rows),
        ],
    )
    print_table(
        "Tables",
        ("table", "from", "rows", "columns", "period of", "first", "last"),
        [
            (
                table.name, table.origin, table.rows, len(table.columns), table.period_column,
                table.first, table.last,
            )
            for table in found.tables
        ],
    )  # fmt: skip


def _as_json(found: ToolDetails) -> dict[str, object]:
    details = asdict(found)
    status = details.pop("status")
    counts = {
        "document_count": status.pop("documents"),
        "vector_count": status.pop("vectors"),
        "table_count": status.pop("tables"),
        "row_count": status.pop("rows"),
    }
    return {**status, **counts, **details}
