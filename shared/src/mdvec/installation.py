"""How this mdvec was installed, and so the commands that extend or start it."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

_Kind = Literal["checkout", "pipx", "pipx run", "uv tool", "uvx", "uv", "pip"]
_LIBRARY = "mdvec-shared"


@dataclass(frozen=True, slots=True)
class InstalledAs:
    """The kind of an installation, and the folder of its environment."""

    kind: _Kind
    prefix: Path

    @classmethod
    def at(cls, prefix: Path, package: Path, *, has_pip: bool) -> InstalledAs:
        """The installation of an environment, recognised by files that installers leave in it."""
        return cls(_kind(prefix, package, has_pip=has_pip), prefix)

    @property
    def is_kept(self) -> bool:
        """Whether it is permanent; uvx and pipx run delete theirs."""
        return self.kind not in {"uvx", "pipx run"}

    @property
    def program(self) -> str:
        """The command that starts `mdvec` again."""
        return "mdvec" if self.is_kept else f"{self.kind} mdvec"

    @property
    def to_keep(self) -> str:
        """The command that installs mdvec permanently after a trial with uvx or pipx run."""
        return "pipx install mdvec" if self.kind == "pipx run" else "uv tool install mdvec"

    def adding_extra(self, extra: str) -> str:
        """The command that adds an extra of the library, such as ``plamo``."""
        if self.kind == "checkout":
            return f"pip install -c constraints.txt -e './shared[{extra}]' (in mdvec's own folder)"
        return self.adding(f"{_LIBRARY}[{extra}]")

    @property
    def adding_server(self) -> str:
        """The command that adds the server to an installation without it."""
        if self.kind == "checkout":
            return "pip install -c constraints.txt -e ./mcp-server (in mdvec's own folder)"
        return self.adding("mdvec-mcp")

    def adding(self, requirement: str) -> str:
        """The command that adds a package."""
        wanted = f'"{requirement}"' if "[" in requirement else requirement
        match self.kind:
            case "checkout":
                return f"pip install {wanted}"
            case "pipx":
                return f"pipx inject {self.prefix.name} {wanted}"
            case "pipx run":
                return f"pipx install mdvec, then: pipx inject mdvec {wanted}"
            case "uv tool":
                tool, *others = _uv_request(self.prefix) or [self.prefix.name]
                more = "".join(f" --with {each}" for each in others)
                return f"uv tool install {tool}{more} --with {wanted}"
            case "uvx":
                return f"uv tool install mdvec --with {wanted}"
            case "uv":
                return f"uv pip install --python {_python(self.prefix)} {wanted}"
            case "pip":
                return f"{_python(self.prefix)} -m pip install {wanted}"

    def repairing(self, package: str) -> str:
        """The command that reinstalls a broken package."""
        match self.kind:
            case "pipx":
                return f"pipx runpip {self.prefix.name} install --force-reinstall {package}"
            case "uv tool":
                return f"uv tool upgrade {self.prefix.name} --reinstall-package {package}"
            case "pipx run":
                return "pipx run --no-cache mdvec"
            case "uvx":
                return f"uvx --reinstall-package {package} mdvec"
            case "uv":
                return f"{self.adding(package)} --reinstall"
            case "pip" | "checkout":
                return f"{self.adding(package)} --force-reinstall"


def _kind(prefix: Path, package: Path, *, has_pip: bool) -> _Kind:
    if (package.parents[2] / "constraints.txt").is_file():
        return "checkout"
    if (prefix / "uv-receipt.toml").is_file():
        return "uv tool"
    if "archive-v0" in prefix.parts or "environments-v2" in prefix.parts:
        return "uvx"  # it is in uv's cache
    if prefix.parent.name == "pipx" or prefix.parts[-3:-1] == ("pipx", ".cache"):
        return "pipx run"
    if (prefix / "pipx_metadata.json").is_file():
        return "pipx"
    return "pip" if has_pip else "uv"


def _uv_request(prefix: Path) -> list[str]:
    """What uv was told to install there, the tool first; uv removes what is not named again."""
    import tomllib  # slow to load and rarely needed

    try:
        receipt = tomllib.loads((prefix / "uv-receipt.toml").read_text(encoding="utf-8"))
        requirements = receipt["tool"]["requirements"]
        names = [(each["name"], ",".join(each.get("extras", ()))) for each in requirements]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [f'"{name}[{extras}]"' if extras else name for name, extras in names]


def _python(prefix: Path) -> str:
    """The environment's Python, quoted where its path has spaces."""
    parts = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    program = str(prefix.joinpath(*parts))
    return f'"{program}"' if " " in program else program


@functools.cache
def this_installation() -> InstalledAs:
    """The running installation."""
    package = Path(__file__).parent
    return InstalledAs.at(Path(sys.prefix), package, has_pip=find_spec("pip") is not None)
