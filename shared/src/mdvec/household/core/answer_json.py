"""The types of answers' fields that JSON has otherwise than Python; pydantic reads them.

Yen stay integers, percentages become numbers, and days and months texts: 2025-06-30, 2025-06.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, NamedTuple, get_type_hints

from pydantic import Field, GetCoreSchemaHandler, PlainSerializer
from pydantic_core import core_schema

from mdvec.dates import Days, Month, MonthRange
from mdvec.household.core.categories import Category
from mdvec.household.core.subjects import Total
from mdvec.household.core.transaction import CountedRow


def _ends(months: MonthRange) -> list[str]:
    return [str(months.first), str(months.last)]


def _end_days(days: Days) -> list[str]:
    return [days.first.isoformat(), days.last.isoformat()]


class _AsObject:
    """Marks a named tuple, which JSON has as an object with its fields."""

    def __get_pydantic_core_schema__(
        self, source: type[NamedTuple], handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        fields = {
            name: core_schema.typed_dict_field(handler.generate_schema(kind))
            for name, kind in get_type_hints(source).items()
        }
        shape = core_schema.typed_dict_schema(fields)
        as_object = core_schema.plain_serializer_function_ser_schema(_fields, return_schema=shape)
        return core_schema.is_instance_schema(source, serialization=as_object)


def _fields(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a named tuple of any class
    fields: dict[str, Any] = row._asdict()
    return fields


MonthText = Annotated[Month, PlainSerializer(str)]
MonthEnds = Annotated[MonthRange, PlainSerializer(_ends)]
"""The first and the last month."""
DayEnds = Annotated[Days, PlainSerializer(_end_days)]
"""The first and the last day."""
Percentage = Annotated[Decimal, PlainSerializer(float)]
CategoryText = Annotated[Category, PlainSerializer(str)]
SubjectText = Annotated[Category | Total, PlainSerializer(str)]
RowObject = Annotated[CountedRow, _AsObject()]
AnswerText = Annotated[str, Field(exclude=True)]
"""The text of an answer, which is sent beside its JSON."""
