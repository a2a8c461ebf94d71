"""Completes the names of the database's tools in the shell."""

from __future__ import annotations

import os
from pathlib import Path

import typer


def complete_tool_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names with this beginning; none if the database cannot be read."""
    from mdvec.errors import MdvecError
    from mdvec.manage.registering import list_tools
    from mdvec.settings import load_settings

    config, database = (ctx.params.get(name) for name in ("config", "database"))
    path = None if database is None else str(Path(database).expanduser().absolute())
    try:
        settings = load_settings(
            os.environ,
            config=None if config is None else Path(config),
            project_folder=Path.cwd(),
            flags={"database": {"path": path}},
        )
        tools = list_tools(settings.database_path, active_only=False)
    except MdvecError:
        return []
    return [tool.name for tool in tools if tool.name.startswith(incomplete)]
