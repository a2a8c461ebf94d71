"""Other names of shops: those that came with the program, and those that the user confirmed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mdvec.household.core.spelling import kana_forms

_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class ShopAlias:
    """A shop's name, and the spellings that statements have for it.

    ``asked`` are names that people ask by, but which in a row could mean something else, so that
    rows are not searched for them.
    """

    name: str
    spellings: tuple[str, ...]
    asked: tuple[str, ...] = ()


class Aliases:
    """Which spellings to look for beside the words of a question."""

    def __init__(self, aliases: Iterable[ShopAlias]) -> None:
        self._of: dict[str, dict[str, str]] = {}
        for alias in aliases:
            spellings = {spelling_key(spelling): spelling for spelling in alias.spellings}
            for name in (alias.name, *alias.spellings, *alias.asked):
                self._of.setdefault(spelling_key(name), {}).update(spellings)

    def of(self, words: str) -> Sequence[str]:
        """The other spellings of the shop that the words name; none if they name none."""
        key = spelling_key(words)
        return [spelling for other, spelling in self._of.get(key, {}).items() if other != key]


NO_ALIASES = Aliases(())


def with_own(given: Iterable[ShopAlias], own: Iterable[tuple[str, str]]) -> Aliases:
    """The aliases given, and the user's pairs of a name and another spelling.

    A pair holds for questions for its name, and for the other names of the shop of that name.
    """
    given = tuple(given)
    aliases = list(given)
    for name, spelling in own:
        key = spelling_key(name)
        names = [
            each
            for alias in given
            if key in map(spelling_key, (alias.name, *alias.spellings, *alias.asked))
            for each in (alias.name, *alias.spellings, *alias.asked)
        ]
        aliases.append(ShopAlias(name, (spelling,), tuple(names)))
    return Aliases(aliases)


def spelling_key(words: str) -> str:
    """What is equal for two spellings that differ only in width, case, kana and signs."""
    return _NO_WORD.sub("", kana_forms(words)[-1][0])
