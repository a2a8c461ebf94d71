"""Installs and removes instructions for models that analyse data, and for their notebooks.

Functions raise InstructionsUnusable for files that cannot be read or written, or are not mdvec's.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from mdvec.errors import MdvecError, not_usable
from mdvec.manage.clients.clients import Machine

_BEGIN = "<!-- mdvec rules: begin (written by `mdvec rules install`; do not edit) -->"
_END = "<!-- mdvec rules: end -->"
_NAME = "50-mdvec-output-guard.py"
_MARK = "# Written by `mdvec rules install --ipython`;"
_SCRIPT = f"""\
{_MARK} `mdvec rules uninstall --ipython` removes it.
try:
    from mdvec.analysis import output_guard as _mdvec_output_guard
    from mdvec.errors import MdvecError as _MdvecError
except ImportError:  # this Python has no mdvec
    pass
else:
    try:
        _mdvec_guard = _mdvec_output_guard()
    except _MdvecError as _mdvec_error:  # the settings file is not valid
        print("mdvec:", _mdvec_error)
        _mdvec_guard = _mdvec_output_guard(100_000)
    _mdvec_guard.start()
"""


class InstructionsUnusable(MdvecError):
    """An instruction file was not changed; the message says why and what to do."""


def install_section(file: Path) -> bool:
    """Add the rules to a file or replace old ones; returns whether the file changed."""
    if not file.parent.is_dir():
        raise InstructionsUnusable(
            f"there is no folder {file.parent}; make it, or name another place"
        )
    text = _read(file)
    before, after = _split_at_section(file, text)
    section = f"{_BEGIN}\n{rules()}{_END}\n"
    if _BEGIN not in text and before.strip():
        before = before.rstrip("\n") + "\n\n"
    return _write(file, text, before + section + after)


def uninstall_section(file: Path) -> bool:
    """Remove the rules from a file, or a file with nothing else; returns whether it had them."""
    text = _read(file)
    if _BEGIN not in text and _END not in text:
        return False
    before, after = _split_at_section(file, text)
    rest = before.rstrip("\n") + "\n\n" + after.lstrip("\n") if after.strip() else before
    if not rest.strip() and not file.is_symlink():
        file.unlink()
        return True
    return _write(file, text, rest.rstrip("\n") + "\n" if rest.strip() else "")


def rules() -> str:
    """The rules, in Markdown."""
    return (files("mdvec.manage") / "analysis_rules.md").read_text(encoding="utf-8")


def _split_at_section(file: Path, text: str) -> tuple[str, str]:
    """The text before and after the section; if there is none, the whole text and ""."""
    if (text.count(_BEGIN), text.count(_END)) == (0, 0):
        return text, ""
    before, _, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(f"{_END}\n" if f"{_END}\n" in rest else _END)
    if not end or text.count(_BEGIN) != 1 or text.count(_END) != 1:
        raise InstructionsUnusable(
            f"the marks of the rules in {file} are damaged; remove the lines between and including "
            f"{_BEGIN!r} and {_END!r}, then try again"
        )
    return before, after


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise InstructionsUnusable(f"{file} is not UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise InstructionsUnusable(not_usable(file, error)) from error


def _write(file: Path, before: str, text: str) -> bool:
    if text == before:
        return False
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8"))
    except OSError as error:
        raise InstructionsUnusable(not_usable(file, error)) from error
    return True


def startup_script(machine: Machine) -> Path:
    """The path of the script, for IPython and all notebooks of its default profile."""
    return machine.folder("IPYTHONDIR", ".ipython") / "profile_default" / "startup" / _NAME


def install_script(file: Path) -> bool:
    """Write the script; returns whether that changed anything."""
    return _write(file, _own_script(file) or "", _SCRIPT)


def uninstall_script(file: Path) -> bool:
    """Remove the script; returns whether it was there."""
    if _own_script(file) is None:
        return False
    file.unlink()
    return True


def _own_script(file: Path) -> str | None:
    """The text of the script; None if there is no file."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InstructionsUnusable(not_usable(file, error)) from error
    if not text.startswith(_MARK):
        raise InstructionsUnusable(f"{file} was not written by mdvec; move it away first")
    return text
