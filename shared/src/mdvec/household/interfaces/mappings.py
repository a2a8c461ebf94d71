"""The mappings of statement files: the ready-made ones, and those in a household's folder."""

from __future__ import annotations

import hashlib
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from mdvec import __version__
from mdvec.files import Problem
from mdvec.household.core.mapping import InvalidMapping, Mapping, mapping_of, toml_of
from mdvec.household.core.statement_kinds import Mappings

ENDING = ".mapping.toml"
"""The ending of the files that hold a household's own mappings."""

_DIGEST_LENGTH = 12


@dataclass(frozen=True, slots=True)
class OwnMappings:
    """The mappings of one household, and the files of mappings that cannot be used.

    ``digest`` is that of all mapping files in the folder; "" if there are none.
    """

    mappings: tuple[Mapping, ...] = ()
    problems: tuple[Problem, ...] = ()
    digest: str = ""

    def all(self) -> Mappings:
        """These mappings with the ready-made ones."""
        return Mappings(self.mappings, ready_made())

    @property
    def reader(self) -> str:
        """Identifies what reads files now: this version of mdvec, with these mappings."""
        return f"{__version__} {self.digest}".strip()


@cache
def ready_made() -> tuple[Mapping, ...]:
    """The mappings that come with mdvec."""
    folder = resources.files("mdvec.household") / "ready_made"
    texts = [file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".toml")]
    mappings = [mapping_of(tomllib.loads(text)) for text in texts]
    return tuple(sorted(mappings, key=lambda mapping: mapping.name))


def only_ready_made() -> Mappings:
    """The ready-made mappings, for a household without its own."""
    return Mappings((), ready_made())


def own_mappings(source: Path) -> OwnMappings:
    """The mappings in a household's folder; files that cannot be used become problems."""
    mappings: list[Mapping] = []
    problems: list[Problem] = []
    for file in _mapping_files(source):
        try:
            mappings.append(parsed_mapping(file.read_bytes()))
        except OSError as error:
            problems.append(Problem(file.name, f"it cannot be read ({error.strerror})"))
        except InvalidMapping as error:
            problems.append(Problem(file.name, f"{error}; correct or delete it"))
    return OwnMappings(tuple(mappings), tuple(problems), mappings_digest(source))


def mappings_digest(source: Path) -> str:
    """A digest of all mappings in a household's folder; "" if there are none."""
    digest = hashlib.sha256()
    files = _mapping_files(source)
    for file in files:
        digest.update(file.name.encode("utf-8", "surrogateescape"))
        with suppress(OSError):  # the import reports it
            digest.update(file.read_bytes())
    return digest.hexdigest()[:_DIGEST_LENGTH] if files else ""


def _mapping_files(source: Path) -> list[Path]:
    return sorted(source.glob(f"*{ENDING}")) if source.is_dir() else []


def parsed_mapping(data: bytes) -> Mapping:
    """The mapping in the bytes of a TOML file.

    Raises:
        InvalidMapping: it is not valid TOML, or no valid mapping.
    """
    try:
        values = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidMapping("it is not UTF-8; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidMapping(f"it is not valid TOML ({error})") from error
    return mapping_of(values)


def rewrite_mapping(source: Path, before: Mapping, after: Mapping) -> Path:
    """Write the keys that changed into the file of a household's own mapping; leave the rest.

    Raises:
        InvalidMapping: no file holds the mapping any more, or it cannot be written.
    """
    # Imported here so that a server starts faster: only writing a mapping needs it.
    import tomlkit

    old, new = (tomllib.loads(toml_of(mapping)) for mapping in (before, after))
    for file in _mapping_files(source):
        with suppress(InvalidMapping, OSError):
            data = file.read_bytes()
            if parsed_mapping(data) != before:
                continue
            document = tomlkit.parse(data.decode("utf-8-sig"))
            for key in old.keys() - new.keys():
                del document[key]
            for key in [key for key in new if new[key] != old.get(key)]:
                document[key] = new[key]
            file.write_text(tomlkit.dumps(document), "utf-8")
            return file
    raise InvalidMapping(f"the mapping {before.name!r} could not be changed; change its file")
