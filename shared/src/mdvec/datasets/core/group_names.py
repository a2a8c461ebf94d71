"""Column names from a header of several rows, where upper rows name groups of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mdvec.datasets.core.first_row import filled_count

MIN_GROUPS = 2


def combined_names(
    rows: Sequence[Sequence[str]], group_ends: Sequence[Mapping[int, int]] = ()
) -> tuple[str, ...]:
    """The names of columns, joined from all rows of a header.

    The name of a group stands for each of its columns. ``group_ends`` says for each row where
    merged cells end, by the column where they begin. Without merged cells a group ends before the
    next name in its row or a row above. The last group ends after as many columns as the one before
    it if it repeats all of that group's names.
    """
    filled = [at for at, row in enumerate(rows) if filled_count(row)] or [0]
    group_ends = [group_ends[at] if group_ends else {} for at in filled]
    rows = [rows[at] for at in filled]
    width = max(map(len, rows))
    guessed_end = _end_of_last_group(*rows[-2:]) if len(rows) > 1 else width
    names: list[str] = []
    groups = [""] * (len(rows) - 1)
    until = [0] * len(groups)  # 0 for a group without merged cells
    for column in range(width):
        *above, name = (row[column].strip() if column < len(row) else "" for row in rows)
        own = [level for level, cell in enumerate(above) if cell]
        if column in until:
            ended = until.index(column)
            groups[ended:] = [""] * (len(groups) - ended)
        if own:
            groups[own[0] :] = above[own[0] :]
            until[own[0] :] = [ends.get(column, 0) for ends in group_ends[own[0] : -1]]
        elif column == guessed_end and not until[-1]:
            groups[-1] = ""
        names.append(" ".join(filter(None, dict.fromkeys([*groups, name]))) if name or own else "")
        if own and not name and until[own[0]] <= column + 1:
            groups[own[0] :] = [""] * (len(groups) - own[0])  # a merged cell covers all rows below
    return tuple(names)


def _end_of_last_group(top: Sequence[str], lower: Sequence[str]) -> int:
    """The column after the last group, if its names repeat the previous group's; else the width."""
    starts = [column for column, cell in enumerate(top) if cell.strip()]
    if len(starts) < MIN_GROUPS:
        return len(lower)
    start, last = starts[-2:]
    names, end = lower[start:last], last + (last - start)
    is_repeated = len(names) > 1 and all(names) and lower[last:end] == names
    return end if is_repeated else len(lower)
