"""Shows a model how a household reads a file, and what is undecided."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec.household.core.answers import AnswerText, answer_text
from mdvec.household.core.cells import records_of
from mdvec.household.core.mapping import one_spelling
from mdvec.household.core.moneyforward import decode
from mdvec.japanese import in_japanese
from mdvec.platform import followed
from mdvec.text import shown_name

if TYPE_CHECKING:
    from mdvec.household.statement_preview import StatementPreview

_RECORDS_SHOWN = 11
_LETTERS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class MappingAnswer:
    """A file's first lines, with long texts shortened, and how they are read.

    ``toml`` is the mapping; ``undecided`` questions must be answered before it can be saved;
    ``saved`` is the name of its file, "" if it was not saved.
    """

    file: str
    kind: str
    origin: str
    toml: str
    lines: tuple[str, ...]
    rows_read: int
    undecided: tuple[str, ...]
    checks: tuple[str, ...]
    saved: str
    text: AnswerText


def mapping_answer(
    source: Path, file: str, *, stated: Sequence[str] = (), save: bool = False
) -> MappingAnswer:
    """Shows how a file in the folder ``source`` is read, and saves the mapping if ``save``.

    ``stated`` are lines of TOML that override the proposal.

    Raises:
        MappingRefused: the file is elsewhere or unreadable, or something is undecided.
        NotMappable: nothing tells how to save it. NotTransactions: it is no statement.
        InvalidMapping: ``stated`` makes no valid mapping.
    """
    # Imported here so that a server starts faster.
    from mdvec.household.statement_preview import (
        MappingRefused,
        NotMappable,
        Remedies,
        StatementPreview,
        preview_statement,
    )

    path = source / file
    if not followed(path).is_relative_to(followed(source)):
        raise MappingRefused("name a file in the household's folder, by its path within it")
    how = Remedies("toml='KEY = VALUE'", """toml='name = "NAME"'""")
    try:
        shown = preview_statement(path, source, save=save, stated=stated, language="ja", how=how)
    except NotMappable as error:
        if save:
            raise
        asked = (in_japanese(str(error)),)  # the lines let a model state the columns
        shown = StatementPreview(file, "", "proposed", "", (), 0, (), undecided=asked)
    lines = _lines(path, shown)
    return MappingAnswer(
        file=file,
        kind=shown.kind,
        origin=shown.origin,
        toml=shown.toml,
        lines=lines,
        rows_read=shown.rows_read,
        undecided=shown.undecided,
        checks=shown.checks,
        saved=Path(shown.saved).name,
        text=_text(file, shown, lines),
    )


def _lines(path: Path, shown: StatementPreview) -> tuple[str, ...]:
    """The first records, with texts shortened; digits and column names stay whole."""
    records = itertools.islice(records_of(decode(path.read_bytes())), _RECORDS_SHOWN)
    headers = [line for line in shown.toml.splitlines() if "header" in line]
    named = {one_spelling(part) for line in headers for part in line.split('"')[1::2]}
    lines = []
    for line, cells in records:
        if isinstance(cells, str):
            continue
        is_header = bool(named & {one_spelling(cell) for cell in cells}) or (
            not shown.kind and not any(map(str.isdigit, "".join(cells)))
        )
        texts = [cell.strip() if is_header else _shorten(cell.strip()) for cell in cells]
        lines.append(f"{line}: {' | '.join(shown_name(text) if text else '' for text in texts)}")
    return tuple(lines)


def _shorten(text: str) -> str:
    is_long = len(text) > _LETTERS_SHOWN and not any(map(str.isdigit, text))
    return f"{text[:_LETTERS_SHOWN]}…" if is_long else text


def _text(file: str, shown: StatementPreview, lines: Sequence[str]) -> AnswerText:
    toml = [line for line in shown.toml.splitlines() if line and not line.startswith("#")]
    open_ = [f"決めること: {question}" for question in shown.undecided]
    if shown.saved:
        open_ = [f"保存しました: {Path(shown.saved).name}。次の取り込み（update）から使います"]
        if shown.origin == "own":
            open_.append("書いていない値は残しました（空の [] で消えます）")
    elif not open_ and shown.origin == "proposed":
        open_ = ["決めることは残っていません。edit_household の what=mapping で保存できます"]
    if shown.bad:
        line, reason = shown.bad[0]
        why = f"最初は {line}行目: {in_japanese(reason)}"
        open_.append(f"読めない行: {len(shown.bad):,}行（{why}）")
    how = f"{shown_name(shown.kind)}（{shown.origin}）として {shown.rows_read}行読めます"
    return answer_text(
        [
            f"{shown_name(file)} は {how}"
            if shown.kind
            else f"{shown_name(file)} の読み方は分かりません"
        ],
        [*open_, *(f"確認: {check}" for check in shown.checks)],
        ["ファイルの先頭:", *lines, *(["読み方（TOML）:", *toml] if shown.kind else ())],
    )
