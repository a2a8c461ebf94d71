"""A contract for import-linter: a room is entered by the names in its ``__init__.pyi``."""

from __future__ import annotations

import importlib.util
from functools import cache

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from mdvec.faces import offered_names


class FacesContract(Contract):
    """Modules outside a room import only what its face names.

    A room is a package directly within a container; its own modules import each other freely.
    """

    type_name = "faces"
    containers = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002, FBT001
        """Compare each import of a room's module with the room's face."""
        rooms = [
            room
            for container in self.containers
            for room in graph.find_children(container)
            if graph.find_children(room)
        ]
        past = sorted(
            f"{detail['importer']}:{detail['line_number']}: {detail['line_contents']}"
            for room in rooms
            for module in graph.find_descendants(room)
            for importer in graph.find_modules_that_directly_import(module)
            if importer != room and not importer.startswith(f"{room}.")
            for detail in graph.get_import_details(importer=importer, imported=module)
            if not _is_offered(room, module, detail["line_contents"])
        )
        return ContractCheck(kept=not past, metadata={"past": past})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the imports past a face."""
        for line in check.metadata["past"]:
            output.print_error(line)
        output.print("Import it from the room, and name it in the room's __init__.pyi.")


def _is_offered(room: str, module: str, line: str) -> bool:
    """Whether an import of a module, or of a function of that name, is one from the face."""
    return line.startswith(f"from {room} import ") and module.rpartition(".")[2] in _face(room)


@cache
def _face(room: str) -> frozenset[str]:
    spec = importlib.util.find_spec(room)
    return frozenset(offered_names(str(spec.origin))) if spec else frozenset()
