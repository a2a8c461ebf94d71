"""Answers with their warnings: about the query, and about sources newer than their index."""

from __future__ import annotations

from collections.abc import Callable

from mdvec.database.connection import DatabaseError
from mdvec.errors import MdvecError

from mdvec_mcp.analytics.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec_mcp.analytics.requested_data import RequestedData
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.analytics.source_look import SourceLook
from mdvec_mcp.freshness import Wording, freshness_in_english

MAX_ERROR_BYTES = 900


class NotAnswered(MdvecError):
    """Work failed; the message has its error and other possible reasons."""


def guarded(
    analytics: Analytics,
    work: Callable[[], JsonAnswer],
    asked: RequestedData,
    guard: AnswerGuard | None = None,
    of_source: Wording = freshness_in_english,
) -> JsonAnswer:
    """The answer of ``work``, its warnings within ``guard``, by default that of the settings.

    The warnings about sources, worded by ``of_source``, name only those that are asked for; with
    an error they name all.

    Raises:
        MdvecError: the work raised it, or a NotAnswered with its message.
    """
    fit_warnings = (guard or analytics.guard).fit_warnings
    if analytics.freshness is None:
        return fit_warnings(work())
    look = SourceLook.begin(analytics.freshness, asked, analytics.queries.expiries(), of_source)
    try:
        answer = work()
    except DatabaseError:
        raise
    except MdvecError as error:  # perhaps the table asked for is gone, or in a newer file
        warnings, notes = analytics.queries.take_warnings(), look.all_notes()
        for more in ([*warnings, *notes], warnings):
            told = "; ".join([str(error), *more])
            if more and len(told.encode()) <= MAX_ERROR_BYTES:
                raise NotAnswered(told) from error
        raise
    return fit_warnings(with_warnings(answer, [*answer.get("warnings", ()), *look.notes()]))
