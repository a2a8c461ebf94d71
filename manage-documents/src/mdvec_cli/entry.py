"""The command `mdvec` from its first moment: Ctrl-C while it loads is one line, too."""

from __future__ import annotations

import sys

_STOPPED = 130


def main() -> None:
    """Load and run `mdvec`."""
    try:
        from mdvec_cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.exit(_STOPPED)
    run()
