"""The context of the household's tools: database, ledgers, freshness, and replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mdvec import household
from mdvec.database import DatabaseError, OpenMode, open_database
from mdvec.dates import today
from mdvec.errors import MdvecError
from mdvec.household import (
    Embed,
    Hierarchy,
    Ledger,
    TrendCache,
    category_hierarchy,
    review,
    safe_line,
    shops,
    trend_cache,
)
from mdvec.japanese import in_japanese
from mdvec.text import shortened
from mdvec.tools import Tool
from pydantic import TypeAdapter

from mdvec_mcp.arguments import answer_language
from mdvec_mcp.calls import ToolReply, in_thread, refuse_empty_database, trouble_in_japanese
from mdvec_mcp.freshness import FreshnessWatch, SourceCheck, freshness_in_japanese

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from mdvec.sync import Freshness

T = TypeVar("T")

NO_HOUSEHOLD = (
    "有効な家計簿のツールがありません。無効にしてあるものは mdvec tool enable で有効にし、"
    "まだないときは mdvec tool add --kind household で追加してください"
)


@dataclass(frozen=True, slots=True)
class HouseholdContext:
    """The database and cache of the household's tools, and their calls on a ledger.

    ``embed`` embeds words for a household, if that takes only milliseconds. ``language`` is the
    language of the resources; each call of a tool has its own. ``trend`` computes trends, and
    caches them until the ledger changes.
    """

    database: Path
    active_households: Callable[[], list[Tool]]
    freshness: FreshnessWatch
    month_starts_on: int = 1
    embed: Embed | None = None
    language: str = "ja"
    trend: TrendCache = field(default_factory=trend_cache)

    async def answer(
        self, name: str | None, work: Callable[[Ledger], T], mode: OpenMode = "read"
    ) -> tuple[T, list[str]]:
        """Run ``work`` as ``run`` does; returns its result, and lines about newer files."""

        def looking(ledger: Ledger) -> tuple[T, list[str]]:
            check = self.freshness.check(
                f"household {ledger.tool_id}", lambda tool: tool.id == ledger.tool_id
            )
            try:
                answer = work(ledger)
            except DatabaseError:
                raise
            except MdvecError as error:  # perhaps the requested month is in a newer file
                lines = [safe_line(str(error)), *_newer_files(check)]
                raise ToolError("\n".join(lines)) from error
            return answer, _newer_files(check)

        return await self.run(name, mode, looking)

    async def news(self, name: str | None) -> list[str]:
        """What imports found since the last answer that mentioned it, in at most one line."""
        if not any(await self.run(name, "read", review.count_news)):
            return []
        try:
            news = await self.run(name, "write", review.take_news)
        except ToolError:  # an import is writing; the next answer will report it
            return []
        return [news] if news else []

    async def run(self, name: str | None, mode: OpenMode, work: Callable[[Ledger], T]) -> T:
        """Run ``work`` in a thread on the named household's ledger, in a new connection.

        Without a name it is the only household. A write is committed or rolled back as a whole,
        even if the client is already gone.

        Raises:
            ToolError: there is no such household, or the work raised an MdvecError.
        """

        def call() -> T:
            tool_id = self._household(name).id
            with open_database(self.database, mode) as connection:
                return work(Ledger(connection, tool_id, today(), self.month_starts_on))

        return await _in_thread(call)

    async def in_folder(self, name: str | None, work: Callable[[Path], T]) -> T:
        """Run ``work`` in a thread on the folder of the named household, as ``run`` does.

        Refusals of files are in English, as commands show them; here they are translated to the
        language of answers.
        """
        try:
            return await _in_thread(lambda: work(self._household(name).source))
        except ToolError as error:
            if answer_language.get() == "en":
                raise
            raise ToolError(in_japanese(str(error))) from error

    async def run_over_all(self, mode: OpenMode, work: Callable[[dict[str, Ledger]], T]) -> T:
        """Run ``work`` in a thread, as ``run`` does, on the ledgers of all households by name."""

        def call() -> T:
            tools, day, starts_on = self.households(), today(), self.month_starts_on
            with open_database(self.database, mode) as connection:
                ledgers = {tool.name: Ledger(connection, tool.id, day, starts_on) for tool in tools}
                return work(ledgers)

        return await _in_thread(call)

    async def with_categories(
        self, name: str | None, work: Callable[[Ledger], T], *, wanted: bool
    ) -> tuple[T, Hierarchy, list[str]]:
        """As ``answer``, with the ledger's categories, if wanted, for the colours of a picture."""

        def both(ledger: Ledger) -> tuple[T, Hierarchy]:
            names = category_hierarchy(ledger) if wanted else {}
            return work(ledger), names

        (answer, names), newer = await self.answer(name, both)
        return answer, names, newer

    def households(self) -> list[Tool]:
        """The active households; raises a ToolError if there is none."""
        households = self.active_households()
        if not households:
            refuse_empty_database(self.database)
            raise ToolError(NO_HOUSEHOLD)
        return households

    def _household(self, name: str | None) -> Tool:
        """The active household of that name, or the only one."""
        households = {tool.name: tool for tool in self.households()}
        names = "、".join(households)
        if name is None and len(households) > 1:
            raise ToolError(f"家計簿が複数あります。tool に次のいずれかを指定してください: {names}")
        if name is not None and name not in households:
            raise ToolError(
                f"家計簿「{shortened(name, 80)}」が見つかりません。指定できる名前: {names}"
            )
        return next(iter(households.values())) if name is None else households[name]


async def _in_thread(work: Callable[[], T]) -> T:
    """Run ``work`` in a thread; refusals become one line, which no name in them can break."""

    def call() -> T:
        try:
            return work()
        except DatabaseError:
            raise
        except MdvecError as error:
            raise ToolError(safe_line(str(error))) from error

    return await in_thread(call, trouble_in_japanese)


def _newer_files(check: SourceCheck) -> list[str]:
    """Lines about files newer than the ledger; answers themselves name files that were left out."""

    def wording(state: Freshness, is_importing: bool) -> str:  # noqa: FBT001 - a Wording
        return freshness_in_japanese(replace(state, missing=()), is_importing)

    return [safe_line(note) for note in check.notes(wording)]


_DAYS = frozenset({"since", "until", "period"})


def refuse_others(
    choice: str,
    takes: tuple[str, ...],
    arguments: Mapping[str, object],
    needs: tuple[str, ...] = (),
    instead: str = "",
) -> None:
    """Raise a ToolError for arguments that ``choice`` does not take, or needs but did not get.

    Arguments that are None count as omitted. ``instead`` says what answers if days were given.
    """
    named = {name for name, value in arguments.items() if value is not None}
    others = [name for name in arguments if name in named and name not in takes]
    if others:
        hint = f"。{instead}" if instead and not _DAYS.isdisjoint(others) else ""
        raise ToolError(
            f"{choice} は {'、'.join(others)} を使いません。使える引数: {'、'.join(takes)}{hint}"
        )
    missing = [name for name in needs if name not in named]
    if missing:
        raise ToolError(
            f"{choice} には {'、'.join(missing)} が必要です。使える引数: {'、'.join(takes)}"
        )


@dataclass(frozen=True, slots=True)
class ChartEntry:
    """The chart of an answer: ``type`` is "image", or "text" if it could not be drawn.

    The ``url`` opens on this machine only.
    """

    type: str
    url: str | None
    alt_text: str
    message: str


DRAWN: dict[type[DataclassInstance], Any] = {
    kind: make_dataclass(
        f"Drawn{kind.__name__}", [("chart", ChartEntry | None, field(default=None))],
        bases=(kind,), namespace={"__doc__": kind.__doc__}, frozen=True, slots=True,
    )
    for kind in (
        household.HouseholdAnswer, household.TrendAnswer, household.BudgetAnswer,
        household.ComparisonAnswer, household.NetWorthAnswer,
    )
}  # fmt: skip
"""Answers that can be drawn, as JSON with their chart, which is null unless requested."""
ReportAnswer: Any = (
    DRAWN[household.ComparisonAnswer] | DRAWN[household.BudgetAnswer] | household.CostsAnswer
    | household.ExpenseList | household.RecurringAnswer | household.ForecastAnswer
    | household.AnomaliesAnswer | household.CombinedAnswer | DRAWN[household.NetWorthAnswer]
    | household.RuleList | household.NotesAnswer | household.MappingAnswer
    | household.AccountsAnswer
)  # fmt: skip
"""The answers of ``household_report``."""
EditAnswer = (
    household.BudgetAnswer | household.BudgetSet | household.RuleTrial | household.RuleChange
    | household.RuleList | household.NotesAnswer | household.MappingAnswer
    | shops.AliasTrial | shops.AliasList
)  # fmt: skip
"""The answers of ``edit_household``."""


def reply(
    answer: Any,  # noqa: ANN401 - any answer
    newer: Sequence[str] = (),
    text: str = "",
) -> ToolReply:
    """The reply with an answer's text or message, and lines about newer files (``newer``)."""
    text = text or (answer.message if hasattr(answer, "message") else answer.text)
    return ToolReply("\n".join([text, *newer]), partial(json_of, answer, newer))


def json_of(
    answer: DataclassInstance, newer: Sequence[str] = (), chart: ChartEntry | None = None
) -> dict[str, Any]:
    """An answer as JSON with its chart; lines about newer files (``newer``) join its notes."""
    if type(answer) in DRAWN:
        own = {each.name: getattr(answer, each.name) for each in fields(answer)}
        answer = DRAWN[type(answer)](**own, chart=chart)
    data: dict[str, Any] = _adapter(type(answer)).dump_python(answer, mode="json")
    if newer:
        data["notes"] += newer
    return data


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
