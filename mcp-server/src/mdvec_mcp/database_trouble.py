"""What is said when the database is not what it was: gone, replaced, emptied or unreadable."""

from __future__ import annotations

from pathlib import Path

from mdvec.database.connection import DatabaseEmptied, DatabaseError, DatabaseMissing
from mdvec.manage.registering import list_tools

_MORE = "the user finds more in this server's log, or in a terminal with: mdvec status"


def in_english(error: DatabaseError) -> str:
    """Why nothing can be answered, for the model; the user's home is not named."""
    if isinstance(error, DatabaseMissing):
        return (
            f"the database file is not there; it was looked for at {_shown(error.path)}. If it was "
            "moved, the user can put it back, or start this server with --database; a new one "
            'begins with: mdvec tool add -n NAME -d "what is in it" -s FOLDER'
        )
    if isinstance(error, DatabaseEmptied):
        return emptied_in_english(error.path)
    return f"the database cannot be used now: {_without_home(str(error))}. {_MORE}"


def in_japanese(error: DatabaseError) -> str:
    """The same for the household's tools."""
    if isinstance(error, DatabaseMissing):
        return (
            f"データベースのファイルがありません。探した場所: {_shown(error.path)}。"
            "移動した場合は元に戻すか、サーバーの --database で場所を指定してください。"
            "場所は、ターミナルの mdvec status で確認できます"
        )
    return (
        f"データベース接続に失敗しました（{_without_home(str(error))}）。原因はサーバーのログか、"
        "ターミナルの mdvec status で確認できます"
    )


def is_emptied(database: Path) -> bool:
    """Whether the file is there and holds not one tool, on or off."""
    return not list_tools(database, active_only=False)


def emptied_in_english(database: Path) -> str:
    """What to say of a file without tools."""
    return (
        f"the database at {_shown(database)} holds no tools: it was emptied or replaced, or none "
        'was added yet; the user can add one in a terminal: mdvec tool add -n NAME -d "what is in '
        'it" -s FOLDER, then mdvec import -n NAME'
    )


def emptied_in_japanese(database: Path) -> str:
    """The same for the household's tools."""
    return (
        f"データベース（{_shown(database)}）にツールが一つもありません。"
        "空になったか、別のファイルに置き換わったか、まだ何も追加していません。"
        "家計簿は mdvec tool add --kind household で追加できます"
    )


def _shown(path: Path) -> str:
    return _without_home(str(path))


def _without_home(words: str) -> str:
    return words.replace(f"{Path.home()}/", "~/")
