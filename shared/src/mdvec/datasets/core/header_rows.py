"""Headers of several rows: which rows belong to one, and the names that they give to columns.

Upper rows name groups of columns; merged cells may hold rows together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mdvec.datasets.core.columns import is_no_year, is_value
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


def joined_rows(
    rows: Sequence[Sequence[str]], at: int, merged: Mapping[int, Sequence[int]] | None
) -> tuple[int, int] | None:
    """The first and last row of a header that merged cells hold together; None if they hold none.

    The header includes the row ``at``, or ends right above it. Its cells are names, each lower row
    has some under gaps of a row above it, and its first column has at most one name.
    """
    for top in sorted(merged or {}):
        end = _end_of_merged(rows, top, merged or {})
        block = rows[top : end + 1]
        is_there = top <= at <= end or (at == end + 1 and any(map(is_value, rows[at])))
        if (
            top < end < len(rows) - 1
            and is_there
            and filled_count(block[0]) >= MIN_GROUPS
            and not any(is_no_year(cell) for row in block for cell in row)
            and sum(bool("".join(row[:1]).strip()) for row in block) <= 1
            and all(
                any(_has_name_under_gap(above, row) for above in block[:level])
                for level, row in enumerate(block[1:], 1)
            )
            and any(is_value(cell) for row in rows[end + 1 :] for cell in row)
        ):
            return top, end
    return None


def _end_of_merged(
    rows: Sequence[Sequence[str]], top: int, merged: Mapping[int, Sequence[int]]
) -> int:
    """The last row that merged cells from row ``top`` on hold together, above the first value."""
    below = (at for at in range(top, len(rows)) if any(map(is_no_year, rows[at])))
    first_value = next(below, len(rows))
    at = end = top
    while at <= end:
        end = max([end, *(last for last in merged.get(at, ()) if last < first_value)])
        at += 1
    return end


def with_groups(
    rows: Sequence[Sequence[str]],
    merged: Mapping[int, Sequence[int]],
    group_ends: Sequence[Mapping[int, int]],
) -> Mapping[int, Sequence[int]]:
    """``merged``, where merged cells that name groups of columns also hold the row below them.

    With the rows of such groups below them, they must give the columns different names.
    """
    ends = {at: [*lasts] for at, lasts in merged.items()}
    top = last = 0
    for at in range(len(group_ends)):
        if at < len(rows) - 1 and _cover_names(rows, at, group_ends[at]):
            top, last = (top if last == at else at), at + 1
        elif at == last > top:
            names = list(filter(None, combined_names(rows[top : at + 1], group_ends[top : at + 1])))
            if len(set(names)) == len(names):
                for row in range(top, at):
                    ends.setdefault(row, []).append(row + 1)
    return ends


def _cover_names(rows: Sequence[Sequence[str]], at: int, ends: Mapping[int, int]) -> bool:
    """Whether merged cells of a row stand over all names of the row below, which repeat.

    Columns before the first group may have a name below only.
    """
    top, lower = rows[at], rows[at + 1]
    names = {column: name for column, name in enumerate(lower) if name.strip()}
    groups = {column for column, name in enumerate(top) if name.strip()}
    covered = groups.union(*(range(*group) for group in ends.items()))
    return (
        len(groups) < len(covered)
        and len(set(names.values())) < len(names)
        and all(column in covered or column < min(groups) for column in names)
        and names_groups(top, lower, rows[at + 2 :])
    )


def names_groups(top: Sequence[str], lower: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row names groups of columns, and the row under it the columns in them.

    The upper row has gaps over names, where merged cells continue. Only the rows below both hold
    values. The names repeat from group to group, or only the upper row names the first column.
    """
    groups = [cell for cell in top if cell.strip()]
    names = [cell for cell in lower if cell.strip()]
    return (
        len(groups) >= MIN_GROUPS
        and _has_name_under_gap(top, lower)
        and not any(map(is_value, names))
        and any(is_value(cell) for row in below for cell in row if cell.strip())
        and (len(set(names)) < len(names) or (not lower[0].strip() and bool(top[0].strip())))
    )


def _has_name_under_gap(top: Sequence[str], lower: Sequence[str]) -> bool:
    padded = [*top, *[""] * (len(lower) - len(top))]
    return any(name.strip() and not cell.strip() for name, cell in zip(lower, padded, strict=False))
