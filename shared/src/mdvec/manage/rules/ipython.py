"""An IPython start-up script that turns on the guard for notebook output."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mdvec.manage.rules.section import InstructionsUnusable

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


def startup_script(home: Path, environment: Mapping[str, str]) -> Path:
    """The path of the script, for IPython and all notebooks of its default profile."""
    folder = environment.get("IPYTHONDIR")
    base = Path(folder) if folder else home / ".ipython"
    return base / "profile_default" / "startup" / _NAME


def install_script(file: Path) -> bool:
    """Write the script; returns whether that changed anything.

    Raises:
        InstructionsUnusable: it cannot be written, or the file there is someone else's.
    """
    if (text := _own(file)) == _SCRIPT:
        return False
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_SCRIPT, encoding="utf-8")
    except OSError as error:
        raise InstructionsUnusable(f"{file} cannot be written ({error.strerror})") from error
    return text != _SCRIPT


def uninstall_script(file: Path) -> bool:
    """Remove the script; returns whether it was there.

    Raises:
        InstructionsUnusable: the file there is someone else's.
    """
    if _own(file) is None:
        return False
    file.unlink()
    return True


def _own(file: Path) -> str | None:
    """The text of the script; None if there is no file."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InstructionsUnusable(f"{file} cannot be read ({error.strerror})") from error
    if not text.startswith(_MARK):
        raise InstructionsUnusable(f"{file} was not written by mdvec; move it away first")
    return text
