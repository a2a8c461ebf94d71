"""The command `mdvec` from its first moment: Ctrl-C while it loads is one line, too."""

from __future__ import annotations

import sys

from mdvec.quick_start import load_quickly, loaded

_STOPPED = 130


def main() -> None:
    """Load and run `mdvec`."""
    load_quickly()
    try:
        import mdvec_cli.main
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.exit(_STOPPED)
    loaded()
    mdvec_cli.main.main()
